package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestParseRepeat(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	friday, last, leap := "2026-11-20T09:00:00+01:00", "2027-01-31T09:00:00+01:00", "2028-02-29T09:00:00+01:00"
	for _, tt := range []struct{ at, text, want, warn string }{
		{friday, "", "", ""},
		{friday, "none", "", ""},
		{friday, "NONE", "", ""},
		{friday, "once", "", ""},
		{friday, "なし", "", ""},
		{friday, "daily", "FREQ=DAILY", ""},
		{friday, "Every  Day", "FREQ=DAILY", ""},
		{friday, "毎日", "FREQ=DAILY", ""},
		{friday, "毎朝", "FREQ=DAILY", ""},
		{friday, "every other day", "FREQ=DAILY;INTERVAL=2", ""},
		{friday, "Weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", ""},
		{friday, "every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", ""},
		{friday, "平日", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", ""},
		{friday, "weekends", "FREQ=WEEKLY;BYDAY=SA,SU", "first time is Sat 21 Nov 2026 09:00"},
		{friday, "weekly", "FREQ=WEEKLY", ""},
		{friday, "毎週", "FREQ=WEEKLY", ""},
		{friday, "隔週", "FREQ=WEEKLY;INTERVAL=2", ""},
		{friday, "every 2 weeks", "FREQ=WEEKLY;INTERVAL=2", ""},
		{friday, "2週間ごと", "FREQ=WEEKLY;INTERVAL=2", ""},
		{friday, "every Friday", "FREQ=WEEKLY;BYDAY=FR", ""},
		{friday, "fridays", "FREQ=WEEKLY;BYDAY=FR", ""},
		{friday, "every other Friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", ""},
		{friday, "Every Monday", "FREQ=WEEKLY;BYDAY=MO", "first time is Mon 23 Nov 2026 09:00"},
		{friday, "every Fri, Mon and Wednesday", "FREQ=WEEKLY;BYDAY=MO,WE,FR", ""},
		{friday, "weekly on Tuesdays & Fridays", "FREQ=WEEKLY;BYDAY=TU,FR", ""},
		{friday, "毎週金曜日", "FREQ=WEEKLY;BYDAY=FR", ""},
		{friday, "毎週月・水・金曜日", "FREQ=WEEKLY;BYDAY=MO,WE,FR", ""},
		{friday, "毎週日曜", "FREQ=WEEKLY;BYDAY=SU", "Sun 22 Nov 2026"},
		{friday, "monthly", "FREQ=MONTHLY", ""},
		{friday, "毎月", "FREQ=MONTHLY", ""},
		{friday, "毎月20日", "FREQ=MONTHLY;BYMONTHDAY=20", ""},
		{friday, "quarterly", "FREQ=MONTHLY;INTERVAL=3", ""},
		{friday, "yearly", "FREQ=YEARLY", ""},
		{friday, "annually", "FREQ=YEARLY", ""},
		{friday, "毎年", "FREQ=YEARLY", ""},
		{last, "monthly", "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", "without a day 31"},
		{"2027-01-29T09:00:00+01:00", "every month", "FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1", "without a day 29"},
		{last, "every 3 months", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", "without a day 31"},
		{last, "end of month", "FREQ=MONTHLY;BYMONTHDAY=-1", ""},
		{last, "FREQ=MONTHLY", "FREQ=MONTHLY", "skipped; BYMONTHDAY=-1"},
		{leap, "yearly", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1", "on the 28th"},
		{leap, "FREQ=YEARLY", "FREQ=YEARLY", "skipped"},
		{friday, "FREQ=DAILY", "FREQ=DAILY", ""},
		{friday, "rrule:freq=weekly;byday=fr,mo", "FREQ=WEEKLY;BYDAY=MO,FR", ""},
		{friday, " RRULE:FREQ=WEEKLY; BYDAY=FR, MO; ", "FREQ=WEEKLY;BYDAY=MO,FR", ""},
		{friday, "BYDAY=FR,FR;WKST=MO;INTERVAL=1;FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=FR", ""},
		{friday, "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,SU;WKST=SU", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,SU;WKST=SU", ""},
		{friday, "FREQ=MONTHLY;BYDAY=+3FR", "FREQ=MONTHLY;BYDAY=3FR", ""},
		{friday, "FREQ=MONTHLY;BYDAY=-1MO", "FREQ=MONTHLY;BYDAY=-1MO", "Mon 30 Nov 2026"},
		{friday, "FREQ=DAILY;COUNT=10", "FREQ=DAILY;COUNT=10", ""},
		{friday, "FREQ=DAILY;UNTIL=20261220T080000Z", "FREQ=DAILY;UNTIL=20261220T080000Z", ""},
		{friday, "FREQ=DAILY;UNTIL=20261220T090000", "FREQ=DAILY;UNTIL=20261220T080000Z", ""},
		{friday, "FREQ=DAILY;UNTIL=20261220", "FREQ=DAILY;UNTIL=20261220T225959Z", ""},
		{friday, "FREQ=DAILY;BYHOUR=9,18", "FREQ=DAILY;BYHOUR=9,18", ""},
		{friday, "FREQ=YEARLY;BYYEARDAY=-1", "FREQ=YEARLY;BYYEARDAY=-1", "Thu 31 Dec 2026"},
	} {
		rule, warn, err := ParseRepeat(tt.text, moment(t, tt.at), berlin)
		if err != nil || rule != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.text, rule, err, tt.want)
		}
		if (tt.warn == "") != (warn == "") || !strings.Contains(warn, tt.warn) {
			t.Errorf("%q warns %q", tt.text, warn)
		}
	}
}

func TestParseRepeat_Refused(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	at := moment(t, "2026-11-20T09:00:00+01:00")
	for _, tt := range []struct{ text, says string }{
		{"sometimes", "Try: none, daily"},
		{"biweekly", "Try: none, daily"}, // twice a week, or every second?
		{"hourly", "Try: none, daily"},
		{"every", "Try: none, daily"},
		{"毎週x曜日", "Try: none, daily"},
		{"every 0 days", "1 to 366"},
		{"every 999 days", "1 to 366"},
		{"FREQ=", "not NAME=VALUE"},
		{"FREQ=DAILY;;COUNT=2", "not NAME=VALUE"},
		{"INTERVAL=2", "FREQ is missing"},
		{"FREQ=HOURLY", "BYHOUR=9,12,15"},
		{"FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "too often"},
		{"FREQ=FORTNIGHTLY", "not one of DAILY"},
		{"FREQ=DAILY;FREQ=WEEKLY", "twice"},
		{"FREQ=DAILY;FOO=1", "not known"},
		{"FREQ=DAILY;BYSECOND=1", "not known"},
		{"FREQ=DAILY;INTERVAL=0", "1 to 366"},
		{"FREQ=DAILY;INTERVAL=-1", "1 to 366"},
		{"FREQ=DAILY;INTERVAL=367", "1 to 366"},
		{"FREQ=DAILY;INTERVAL=99999999999999999999", "1 to 366"},
		{"FREQ=DAILY;COUNT=0", "1 to 1000"},
		{"FREQ=DAILY;COUNT=-1", "1 to 1000"},
		{"FREQ=DAILY;COUNT=1001", "1 to 1000"},
		{"FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z", "exclude"},
		{"FREQ=DAILY;UNTIL=tomorrow", "neither like"},
		{"FREQ=DAILY;UNTIL=20261119T000000Z", "never occurs"},
		{"FREQ=WEEKLY;BYDAY=XX", "not one of MO"},
		{"FREQ=WEEKLY;BYDAY=2MO", "only with"},
		{"FREQ=MONTHLY;BYDAY=0MO", "counts"},
		{"FREQ=MONTHLY;BYMONTHDAY=0", "from 1"},
		{"FREQ=MONTHLY;BYMONTHDAY=32", "-31 to 31"},
		{"FREQ=WEEKLY;BYMONTHDAY=3", "not allowed with"},
		{"FREQ=DAILY;BYYEARDAY=3", "allowed only"},
		{"FREQ=DAILY;BYSETPOS=1", "choose from"},
		{"FREQ=DAILY;BYHOUR=24", "0 to 23"},
		{"FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=0,10,20,30,40", "times a day"},
		{"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never occurs"},
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never occurs"},
		{"FREQ=YEARLY;BYMONTH=1;BYYEARDAY=200", "never occurs"},
		{"FREQ=MONTHLY;BYMONTHDAY=1;BYSETPOS=2", "never occurs"},
		{"FREQ=YEARLY;INTERVAL=6", "not within 5 years"},
		{"FREQ=YEARLY;INTERVAL=366", "not within 5 years"},
		{"FREQ=YEARLY;INTERVAL=30;COUNT=2", "not within 5 years"},
		{"FREQ=YEARLY;INTERVAL=30;UNTIL=20990101", "not within 5 years"},
		{"FREQ=DAILY\nX-EVIL:1", "one line"},
		{"DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=2", "one line"},
		{"DTSTART:20200101T000000Z;FREQ=DAILY", "not NAME=VALUE"},
		{"FREQ=DAILY;BYHOUR=9" + strings.Repeat(",9", 100), "at most 200 bytes"},
		{strings.Repeat("x", 1<<20), "at most 200 bytes"},
	} {
		rule, _, err := ParseRepeat(tt.text, at, berlin)
		if hearken.CodeOf(err) != hearken.InvalidRepeat || rule != "" {
			t.Errorf("%.60q: %q, %v", tt.text, rule, err)
		} else if !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%.60q says %s", tt.text, err)
		}
	}
}

// TestParseRepeat_Offset has a time with another offset recur on the owner's
// clock.
func TestParseRepeat_Offset(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	at := moment(t, "2026-10-30T23:30:00-07:00") // Saturday morning in Berlin
	rule, warn, err := ParseRepeat("every Saturday", at, berlin)
	if err != nil || rule != "FREQ=WEEKLY;BYDAY=SA" || warn != "" {
		t.Error(rule, warn, err)
	}
	rule, _, err = ParseRepeat("monthly", at, berlin)
	if err != nil || rule != "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1" {
		t.Error(rule, err)
	}
}

// FuzzParseRepeat checks that what is accepted is canonical, occurs, and
// that its next time is found even from far away.
func FuzzParseRepeat(f *testing.F) {
	for _, text := range []string{
		"daily", "every Monday", "毎週月曜日", "FREQ=MONTHLY;BYDAY=-1MO", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=1000",
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYDAY=53MO,-53SU;BYSETPOS=-1;WKST=SU", "FREQ=WEEKLY;UNTIL=20270101", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45",
	} {
		f.Add(text, int64(1795161600), "Europe/Berlin")
		f.Add(text, int64(1835402400), "Australia/Lord_Howe")
	}
	f.Fuzz(func(t *testing.T, text string, unix int64, name string) {
		z, err := time.LoadLocation(name)
		if err != nil || unix < 1e9 || unix > 5e9 {
			t.Skip()
		}
		at := time.Unix(unix, 0).In(z)
		rule, _, err := ParseRepeat(text, at, z)
		if err != nil {
			if hearken.CodeOf(err) != hearken.InvalidRepeat {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, _, err := ParseRepeat(rule, at, z); err != nil || again != rule {
			t.Fatalf("%q is %q, which is %q, %v", text, rule, again, err)
		}
		first, ok := Next(rule, at, z, at.Add(-1))
		if !ok || first.Before(at) {
			t.Fatalf("%q first is %v, %t", rule, first, ok)
		}
		if second, ok := Next(rule, at, z, first); ok && !second.After(first) {
			t.Fatalf("%q goes from %v to %v", rule, first, second)
		}
		Next(rule, at, z, at.AddDate(60, 0, 0))
		if Describe(at, z, rule, 3) == "" {
			t.Fatal("no words")
		}
	})
}
