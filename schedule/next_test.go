package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"
)

// times are the first n of a rule.
func times(rule string, at time.Time, z *time.Location, n int) (list []time.Time) {
	for t, ok := Next(rule, at, z, at.Add(-1)); ok && len(list) < n; t, ok = Next(rule, at, z, t) {
		list = append(list, t)
	}
	return list
}

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		name, zone, at, rule string
		want                 string
	}{
		{"Once", "Europe/Berlin", "2026-11-20T09:00:00+01:00", "", "2026-11-20T09:00:00+01:00"},
		{"WinterComes", "Europe/Berlin", "2026-10-24T09:00:00+02:00", "FREQ=DAILY;COUNT=3",
			"2026-10-24T09:00:00+02:00 2026-10-25T09:00:00+01:00 2026-10-26T09:00:00+01:00"},
		{"Gap", "Europe/Berlin", "2027-03-27T02:30:00+01:00", "FREQ=DAILY;COUNT=3",
			"2027-03-27T02:30:00+01:00 2027-03-28T03:30:00+02:00 2027-03-29T02:30:00+02:00"},
		{"Overlap", "Europe/Berlin", "2026-10-24T02:30:00+02:00", "FREQ=DAILY;COUNT=3",
			"2026-10-24T02:30:00+02:00 2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		{"FromTheSecondOfTwo", "Europe/Berlin", "2026-10-25T02:30:00+01:00", "FREQ=DAILY;COUNT=2",
			"2026-10-25T02:30:00+01:00 2026-10-26T02:30:00+01:00"},
		{"OverlapNewYork", "America/New_York", "2027-11-06T01:30:00-04:00", "FREQ=DAILY;COUNT=3",
			"2027-11-06T01:30:00-04:00 2027-11-07T01:30:00-04:00 2027-11-08T01:30:00-05:00"},
		{"GapLordHowe", "Australia/Lord_Howe", "2027-10-02T02:15:00+10:30", "FREQ=DAILY;COUNT=3",
			"2027-10-02T02:15:00+10:30 2027-10-03T02:45:00+11:00 2027-10-04T02:15:00+11:00"},
		{"Ramadan", "Africa/Casablanca", "2027-02-06T09:00:00+01:00", "FREQ=WEEKLY;COUNT=7",
			"2027-02-06T09:00:00+01:00 2027-02-13T09:00:00Z 2027-02-20T09:00:00Z 2027-02-27T09:00:00Z 2027-03-06T09:00:00Z 2027-03-13T09:00:00Z 2027-03-20T09:00:00+01:00"},
		// If skipped times are moved onto others, each occurs once and in order.
		{"GapMany", "Europe/Berlin", "2027-03-28T01:45:00+01:00", "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=15,45;COUNT=6",
			"2027-03-28T01:45:00+01:00 2027-03-28T03:15:00+02:00 2027-03-28T03:45:00+02:00 2027-03-29T01:15:00+02:00"},
		{"NoDay", "Pacific/Apia", "2011-12-29T09:00:00-10:00", "FREQ=DAILY;UNTIL=20120101T000000Z",
			"2011-12-29T09:00:00-10:00 2011-12-31T09:00:00+14:00 2012-01-01T09:00:00+14:00"},
		{"Weekdays", "Europe/Berlin", "2026-11-21T09:00:00+01:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;COUNT=2",
			"2026-11-23T09:00:00+01:00 2026-11-24T09:00:00+01:00"},
		{"MonthEnd", "Europe/Berlin", "2027-01-31T09:00:00+01:00", "FREQ=MONTHLY;COUNT=3;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
			"2027-01-31T09:00:00+01:00 2027-02-28T09:00:00+01:00 2027-03-31T09:00:00+02:00"},
		{"LeapDay", "UTC", "2096-02-29T09:00:00Z", "FREQ=YEARLY;COUNT=2", "2096-02-29T09:00:00Z 2104-02-29T09:00:00Z"},
		{"FridayThe13th", "UTC", "2026-11-20T09:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;COUNT=2", "2027-08-13T09:00:00Z 2028-10-13T09:00:00Z"},
		{"EverySecondWeekFromSunday", "UTC", "2026-11-20T09:00:00Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,FR;WKST=SU;COUNT=3",
			"2026-11-20T09:00:00Z 2026-11-29T09:00:00Z 2026-12-04T09:00:00Z"},
		{"MixedOrdinals", "UTC", "2026-11-01T09:00:00Z", "FREQ=MONTHLY;BYDAY=1MO,-1FR;COUNT=3", "2026-11-02T09:00:00Z 2026-11-27T09:00:00Z 2026-12-07T09:00:00Z"},
		// rrule-go finds no time at all for the first, and a wrong one for the second.
		{"PlainAndNumberedDays", "UTC", "2026-11-18T09:00:00Z", "FREQ=MONTHLY;BYDAY=1MO,FR;COUNT=3", "2026-11-20T09:00:00Z 2026-11-27T09:00:00Z 2026-12-04T09:00:00Z"},
		{"PositionInAStartedWeek", "UTC", "2026-11-18T09:00:00Z", "FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=1;COUNT=2", "2026-11-23T09:00:00Z 2026-11-30T09:00:00Z"},
		{"UntilIsIncluded", "Europe/Berlin", "2026-11-20T09:00:00+01:00", "FREQ=DAILY;UNTIL=20261121T080000Z",
			"2026-11-20T09:00:00+01:00 2026-11-21T09:00:00+01:00"},
		{"Millis", "UTC", "2026-11-20T09:00:00.25Z", "FREQ=DAILY;COUNT=2", "2026-11-20T09:00:00Z 2026-11-21T09:00:00Z"},
		{"Seconds", "UTC", "2026-11-20T09:00:42Z", "FREQ=DAILY;BYHOUR=9,18;COUNT=2", "2026-11-20T09:00:42Z 2026-11-20T18:00:42Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, at := range times(tt.rule, moment(t, tt.at), zone(t, tt.zone), 7) {
				got = append(got, at.Format(time.RFC3339))
			}
			if tt.name == "GapMany" {
				got = got[:min(4, len(got))]
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNext_FarAway searches decades after the start, and for what never occurs.
func TestNext_FarAway(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	at := moment(t, "2026-11-20T09:00:00+01:00")
	later := moment(t, "2076-06-01T12:00:00Z")
	for rule, want := range map[string]string{
		"":                                     "",
		"FREQ=DAILY":                           "2076-06-02T09:00:00+02:00",
		"FREQ=DAILY;COUNT=100":                 "",
		"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR":     "2076-06-02T09:00:00+02:00",
		"FREQ=MONTHLY;BYMONTHDAY=-1":           "2076-06-30T09:00:00+02:00",
		"FREQ=YEARLY;COUNT=1000":               "2076-11-20T09:00:00+01:00",
		"FREQ=DAILY;UNTIL=20300101T000000Z":    "",
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30":   "",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30":  "",
		"FREQ=DAILY;BYMONTHDAY=31;BYMONTH=4,6": "",
		"no rule":                              "",
	} {
		got, ok := Next(rule, at, berlin, later)
		if text := got.Format(time.RFC3339); ok != (want != "") || ok && text != want {
			t.Errorf("%q: %s, %t", rule, text, ok)
		}
	}
}

var someZones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tokyo", "America/Sao_Paulo", "UTC"}

// anyRule generates a rule that people could write.
func anyRule(t *rapid.T) string {
	freq := rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "freq")
	parts := []string{"FREQ=" + freq}
	add := func(name string, chance int, draw func() string) {
		if rapid.IntRange(0, chance).Draw(t, "has "+name) == 0 {
			parts = append(parts, name+"="+draw())
		}
	}
	list := func(low, high, most int) func() string {
		return func() string {
			n := rapid.SliceOfN(rapid.IntRange(low, high).Filter(func(n int) bool { return n != 0 || low == 0 }), 1, most).Draw(t, "list")
			return strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", ",")
		}
	}
	add("INTERVAL", 2, func() string { return fmt.Sprint(rapid.IntRange(1, 40).Draw(t, "interval")) })
	add("BYMONTH", 3, list(1, 12, 3))
	if freq != "WEEKLY" {
		add("BYMONTHDAY", 3, list(-31, 31, 4))
	}
	if freq == "YEARLY" {
		add("BYYEARDAY", 4, list(-366, 366, 4))
	}
	// The library requires plain and numbered days, where RFC 5545 says either.
	numbered := (freq == "MONTHLY" || freq == "YEARLY") && rapid.Bool().Draw(t, "numbered")
	add("BYDAY", 2, func() string {
		var days []string
		for range rapid.IntRange(1, 4).Draw(t, "days") {
			d := rapid.SampledFrom(dayNames).Draw(t, "day")
			if numbered {
				d = fmt.Sprint(rapid.SampledFrom([]int{-2, -1, 1, 2, 3, 4, 5}).Draw(t, "n")) + d
			}
			days = append(days, d)
		}
		return strings.Join(days, ",")
	})
	add("BYHOUR", 4, list(0, 23, 3))
	add("WKST", 4, func() string { return rapid.SampledFrom(dayNames).Draw(t, "wkst") })
	if strings.Contains(strings.Join(parts, ";"), "BY") {
		add("BYSETPOS", 4, list(-3, 3, 2))
	}
	add("COUNT", 4, func() string { return fmt.Sprint(rapid.IntRange(1, 50).Draw(t, "count")) })
	return strings.Join(parts, ";")
}

// TestNext_LikeTheLibrary compares our bounded expansion with that of rrule-go,
// on the clock of UTC, where both must agree.
func TestNext_LikeTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyRule(t)
		at := time.Unix(rapid.Int64Range(1.7e9, 2.2e9).Draw(t, "at")/60*60, 0).UTC()
		rule, _, err := ParseRepeat(text, at, time.UTC)
		if err != nil {
			t.Skip(err)
		}
		if strings.HasPrefix(rule, "FREQ=WEEKLY") && strings.Contains(rule, "BYSETPOS") {
			t.Skip("the library counts the first week from its start, not whole")
		}
		option, err := rrule.StrToROption(rule)
		if err != nil {
			t.Fatal(err)
		}
		option.Dtstart = at
		library, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatal(err)
		}
		// The library may search long for one more, so we ask only for as many as
		// there are.
		got := times(rule, at, time.UTC, 12)
		next := library.Iterator()
		for i, have := range got {
			want, ok := next()
			if !ok || !want.Equal(have) {
				t.Fatalf("%s from %v: time %d is %v; the library says %v, %t", rule, at, i, have, want, ok)
			}
		}
	})
}

// TestNext_WallClock checks that times only grow, wherever the search begins,
// and that the wall clock shows the same time unless it skips it.
func TestNext_WallClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom(someZones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1.7e9, 2.2e9).Draw(t, "at"), 0).In(z)
		rule, _, err := ParseRepeat(anyRule(t), at, z)
		if err != nil || strings.Contains(rule, "BYHOUR") {
			t.Skip(rule, err)
		}
		last := at.Add(-1)
		for range 40 {
			next, ok := Next(rule, at, z, last)
			if !ok {
				break
			}
			if !next.After(last) {
				t.Fatalf("%s: %v comes after %v", rule, next, last)
			}
			between := last.Add(time.Duration(rapid.Int64Range(0, int64(next.Sub(last))-1).Draw(t, "between")))
			if again, ok := Next(rule, at, z, between); !ok || !again.Equal(next) {
				t.Fatalf("%s: after %v comes %v, %t, and after %v comes %v", rule, last, next, ok, between, again)
			}
			if shown, want := next.Format("15:04:05"), at.Format("15:04:05"); shown != want {
				year, month, date := next.Date()
				meant := time.Date(year, month, date, at.Hour(), at.Minute(), at.Second(), 0, time.UTC).Unix()
				if first, second := instants(meant, z); kindOf(meant, first, second, z) != skipped {
					t.Fatalf("%s: %v is at %s, not %s", rule, next, shown, want)
				}
			}
			last = next
		}
	})
}

func BenchmarkNext(b *testing.B) {
	berlin := zone(b, "Europe/Berlin")
	at := moment(b, "2026-11-20T09:00:00+01:00")
	for _, rule := range []string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=YEARLY;COUNT=1000", "FREQ=DAILY;COUNT=1000", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"} {
		b.Run(rule, func(b *testing.B) {
			for b.Loop() {
				Next(rule, at, berlin, at.AddDate(20, 0, 0))
			}
		})
	}
}
