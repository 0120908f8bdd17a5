package calendar

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"
)

// A VTIMEZONE alone gives the same offsets as the zone, at every transition and
// in between, for as long as it describes the zone.
func TestZone(t *testing.T) {
	first := time.Date(2026, 1, 3, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		zone  string
		parts int // 0: many
	}{
		{"Europe/Berlin", 2}, {"America/New_York", 2}, {"Europe/Dublin", 2}, {"Australia/Lord_Howe", 2},
		{"Asia/Kolkata", 1}, {"America/Sao_Paulo", 1}, {"UTC", 1}, {"Africa/Casablanca", 0},
		{"America/Santiago", 0}, {"Asia/Tehran", 1}, {"Pacific/Chatham", 2}, {"America/Nuuk", 0}, {"Asia/Gaza", 0},
	} {
		t.Run(tt.zone, func(t *testing.T) {
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			for _, last := range []time.Time{first, first.AddDate(3, 0, 0)} {
				w := &icalWriter{}
				w.timezone(loc, first, last)
				written := readZone(t, w.b.String(), last.Year()+zoneYears)
				if tt.parts != 0 && strings.Count(w.b.String(), "TZOFFSETTO") != tt.parts || tt.parts == 0 && strings.Contains(w.b.String(), "RRULE") {
					t.Errorf("not %d parts:\n%s", tt.parts, w.b.String())
				}
				end := time.Date(last.Year()+zoneYears, 12, 30, 0, 0, 0, 0, time.UTC)
				for at := first.In(loc); at.Before(end); at = at.Add(31 * time.Hour) {
					compareOffset(t, written, at)
					if _, change := at.ZoneBounds(); !change.IsZero() && change.Before(end) {
						compareOffset(t, written, change.Add(-time.Second))
						compareOffset(t, written, change)
					}
					if t.Failed() {
						t.Fatal(w.b.String())
					}
				}
			}
		})
	}
}

func compareOffset(t *testing.T, written []onset, at time.Time) {
	t.Helper()
	_, want := at.Zone()
	var latest onset
	for _, o := range written {
		if !o.at.After(at) && !o.at.Before(latest.at) {
			latest = o
		}
	}
	if latest.offset != want {
		t.Errorf("at %s the offset is %d, want %d", at.Format(time.RFC3339), latest.offset, want)
	}
}

// An onset is a time from which on an offset is valid.
type onset struct {
	at     time.Time
	offset int
}

// readZone expands a VTIMEZONE with rrule-go.
func readZone(t *testing.T, data string, until int) []onset {
	t.Helper()
	var list []onset
	values := map[string]string{}
	for line := range strings.SplitSeq(data, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		values[name] = value
		if name != "END" || value == "VTIMEZONE" {
			continue
		}
		start, err := time.Parse(localLayout, values["DTSTART"])
		if err != nil {
			t.Fatal(err)
		}
		from, to := readOffset(t, values["TZOFFSETFROM"]), readOffset(t, values["TZOFFSETTO"])
		starts := []time.Time{start}
		if values["RRULE"] != "" {
			opt, err := rrule.StrToROption(values["RRULE"])
			if err != nil {
				t.Fatal(err)
			}
			opt.Dtstart = start
			opt.Until = time.Date(until, 12, 31, 23, 0, 0, 0, time.UTC)
			rule, err := rrule.NewRRule(*opt)
			if err != nil {
				t.Fatal(err)
			}
			starts = rule.All()
			if !starts[0].Equal(start) {
				t.Errorf("the rule %s does not begin at %s", values["RRULE"], start)
			}
		}
		for _, s := range starts {
			list = append(list, onset{s.Add(-time.Duration(from) * time.Second), to})
		}
		values = map[string]string{}
	}
	return list
}

func readOffset(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s[1:])
	if err != nil || len(s) != 5 {
		t.Fatalf("offset %q", s)
	}
	seconds := n/100*3600 + n%100*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds
}

func TestOffset(t *testing.T) {
	for seconds, want := range map[int]string{0: "+0000", 19800: "+0530", -12600: "-0330", -17776: "-045616"} {
		if got := formatOffset(seconds); got != want {
			t.Errorf("%d is %s, want %s", seconds, got, want)
		}
	}
}
