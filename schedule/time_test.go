package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestParseTime(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	now := moment(t, "2026-11-15T09:00:00Z")
	for _, tt := range []struct{ text, want string }{
		{"2026-11-20T15:00:00+02:00", "2026-11-20T14:00:00+01:00"},
		{"2026-11-20T15:00:00Z", "2026-11-20T16:00:00+01:00"},
		{"2026-11-20t15:00:00z", "2026-11-20T16:00:00+01:00"},
		{"2026-11-20T15:00:00.999Z", "2026-11-20T16:00:00+01:00"},
		{"2026-11-20T15:00:00,5Z", "2026-11-20T16:00:00+01:00"},
		{"2026-11-20T15:00+02:00", "2026-11-20T14:00:00+01:00"},
		{"2026-11-20T15:00:00+0200", "2026-11-20T14:00:00+01:00"},
		{"2026-11-20T15:00:00-00:00", "2026-11-20T16:00:00+01:00"},
		{"2026-11-20T15:00:00+05:45", "2026-11-20T10:15:00+01:00"},
		{"2026-11-20T15:00:00", "2026-11-20T15:00:00+01:00"},
		{"2026-11-20T15:00", "2026-11-20T15:00:00+01:00"},
		{"  2026-11-20T15:00\n", "2026-11-20T15:00:00+01:00"},
		{"2027-07-20T15:00", "2027-07-20T15:00:00+02:00"},
		{"2028-02-29T15:00", "2028-02-29T15:00:00+01:00"},
		{"2027-03-28T01:59:59", "2027-03-28T01:59:59+01:00"},
		{"2027-03-28T03:00", "2027-03-28T03:00:00+02:00"},
		{"2027-10-31T01:59:59", "2027-10-31T01:59:59+02:00"},
		{"2027-10-31T03:00", "2027-10-31T03:00:00+01:00"},
		{"2027-10-31T02:30:00+01:00", "2027-10-31T02:30:00+01:00"}, // doubled, but the offset says which
		{"2026-11-15T09:59:01", "2026-11-15T09:59:01+01:00"},       // a little late is not too late
		{"2031-11-15T10:00:00", "2031-11-15T10:00:00+01:00"},
	} {
		got, err := ParseTime(tt.text, berlin, now)
		if err != nil || got.Format(time.RFC3339) != tt.want || got.Location() != berlin {
			t.Errorf("%q: %v, %v; want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestParseTime_Refused(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	now := moment(t, "2026-11-15T09:00:00Z")
	for _, tt := range []struct {
		text string
		code hearken.Code
		says string
	}{
		{"", hearken.InvalidTime, "missing"},
		{"2026-11-20", hearken.InvalidTime, "without a time of day"},
		{"20261120", hearken.InvalidTime, "without a time of day"},
		{"2026-11-20 15:00:00", hearken.InvalidTime, "needs a T"},
		{"2026-11-20T15:00:00+02", hearken.InvalidTime, "+hh:mm"},
		{"2026-11-20T15:00:00-25:00", hearken.InvalidTime, "no place on earth"},
		{"2026-11-20T15:00:00+14:30", hearken.InvalidTime, "no place on earth"},
		{"2026-11-20T15:00:00+01:75", hearken.InvalidTime, "no place on earth"},
		{"2026-02-30T10:00:00Z", hearken.InvalidTime, "exists"},
		{"2027-02-29T10:00:00Z", hearken.InvalidTime, "exists"},
		{"2026-13-01T10:00:00Z", hearken.InvalidTime, "exists"},
		{"2026-11-20T24:00:00Z", hearken.InvalidTime, "exists"},
		{"2026-11-20T10:60:00Z", hearken.InvalidTime, "exists"},
		{"2026-11-20T10:00:60Z", hearken.InvalidTime, "exists"},
		{"20261120T150000Z", hearken.InvalidTime, "2026-11-16T10:00:00+01:00"},
		{"tomorrow at 3", hearken.InvalidTime, "now 2026-11-15T10:00:00+01:00"},
		{"明日15時", hearken.InvalidTime, "not an ISO 8601 time"},
		{"2026-11-20T15:00\r\nATTENDEE:x", hearken.InvalidTime, `\r\n`},
		{strings.Repeat("9", 1<<20), hearken.InvalidTime, `..."`},
		{"2027-03-28T02:30", hearken.InvalidTime, "2027-03-28T01:30:00+01:00 or 2027-03-28T03:30:00+02:00"},
		{"2027-10-31T02:30", hearken.InvalidTime, "2027-10-31T02:30:00+02:00 or 2027-10-31T02:30:00+01:00"},
		{"2031-11-15T10:00:01", hearken.InvalidTime, "5 years ahead"},
		{"9999-12-31T23:59:59Z", hearken.InvalidTime, "5 years ahead"},
		{"2026-11-15T09:58:59", hearken.TimeInPast, "now 2026-11-15T10:00:00+01:00"},
		{"0000-01-01T00:00:00Z", hearken.TimeInPast, "now 2026"},
	} {
		got, err := ParseTime(tt.text, berlin, now)
		if hearken.CodeOf(err) != tt.code || !got.IsZero() {
			t.Errorf("%.40q: %v, %v", tt.text, got, err)
		} else if !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 300 {
			t.Errorf("%.40q says %s", tt.text, err)
		}
	}
}

func TestParseTime_NoZone(t *testing.T) {
	now := moment(t, "2026-11-15T09:00:00Z")
	if _, err := ParseTime("2026-11-20T15:00", nil, now); hearken.CodeOf(err) != hearken.InvalidTime || !strings.Contains(err.Error(), "TIMEZONE") {
		t.Error(err)
	}
	got, err := ParseTime("2026-11-20T15:00+09:00", nil, now)
	if err != nil || got.Format(time.RFC3339) != "2026-11-20T06:00:00Z" {
		t.Error(got, err)
	}
}

// TestInstants checks every kind of transition that zones have.
func TestInstants(t *testing.T) {
	for _, tt := range []struct {
		zone, wall    string
		first, second string
	}{
		{"Europe/Berlin", "2027-03-28T02:00:00Z", "2027-03-28T03:00:00+02:00", "2027-03-28T01:00:00+01:00"},
		{"Europe/Berlin", "2027-03-28T02:59:59Z", "2027-03-28T03:59:59+02:00", "2027-03-28T01:59:59+01:00"},
		{"Europe/Berlin", "2027-10-31T02:00:00Z", "2027-10-31T02:00:00+02:00", "2027-10-31T02:00:00+01:00"},
		{"America/New_York", "2027-03-14T02:30:00Z", "2027-03-14T03:30:00-04:00", "2027-03-14T01:30:00-05:00"},
		{"America/New_York", "2027-11-07T01:30:00Z", "2027-11-07T01:30:00-04:00", "2027-11-07T01:30:00-05:00"},
		{"America/New_York", "2027-11-07T00:59:59Z", "2027-11-07T00:59:59-04:00", "2027-11-07T00:59:59-04:00"},
		{"America/New_York", "2027-11-07T02:00:00Z", "2027-11-07T02:00:00-05:00", "2027-11-07T02:00:00-05:00"},
		// Half an hour.
		{"Australia/Lord_Howe", "2027-10-03T02:15:00Z", "2027-10-03T02:45:00+11:00", "2027-10-03T01:45:00+10:30"},
		{"Australia/Lord_Howe", "2027-04-04T01:45:00Z", "2027-04-04T01:45:00+11:00", "2027-04-04T01:45:00+10:30"},
		{"Australia/Lord_Howe", "2027-04-04T01:15:00Z", "2027-04-04T01:15:00+11:00", "2027-04-04T01:15:00+11:00"},
		// Back for Ramadan, and forward again after it.
		{"Africa/Casablanca", "2027-02-07T02:30:00Z", "2027-02-07T02:30:00+01:00", "2027-02-07T02:30:00Z"},
		{"Africa/Casablanca", "2027-03-14T02:30:00Z", "2027-03-14T03:30:00+01:00", "2027-03-14T01:30:00Z"},
		// A whole day.
		{"Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-31T09:00:00+14:00", "2011-12-29T09:00:00-10:00"},
		{"Asia/Tokyo", "2027-03-28T02:30:00Z", "2027-03-28T02:30:00+09:00", "2027-03-28T02:30:00+09:00"},
		{"UTC", "2027-03-28T02:30:00Z", "2027-03-28T02:30:00Z", "2027-03-28T02:30:00Z"},
	} {
		first, second := instants(moment(t, tt.wall).Unix(), zone(t, tt.zone))
		if first.Format(time.RFC3339) != tt.first || second.Format(time.RFC3339) != tt.second {
			t.Errorf("%s %s: %v, %v", tt.zone, tt.wall, first, second)
		}
	}
}

// FuzzParseTime checks that the result is the time that was written, and that a
// refusal has a code.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-11-20T15:00:00+02:00", "2026-11-20T15:00", "2027-03-28T02:30", "2026-11-20 15:00", "2026-02-30T10:00:00Z", "2026-11-20T15:00:00.5Z", "x"} {
		f.Add(text, "Europe/Berlin")
		f.Add(text, "Australia/Lord_Howe")
	}
	now := moment(f, "2026-11-15T09:00:00Z")
	f.Fuzz(func(t *testing.T, text, name string) {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Skip()
		}
		at, err := ParseTime(text, z, now)
		if err != nil {
			if e, ok := errors.AsType[*hearken.Error](err); !ok || e.Code != hearken.InvalidTime && e.Code != hearken.TimeInPast || e.Message == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := ParseTime(at.Format(time.RFC3339), z, now); err != nil && !oddOffset(at) || err == nil && !again.Equal(at) {
			t.Errorf("%q is %v, which is %v, %v", text, at, again, err)
		}
	})
}

// oddOffset reports an offset with seconds, which RFC 3339 cannot write.
func oddOffset(t time.Time) bool {
	_, offset := t.Zone()
	return offset%60 != 0
}
