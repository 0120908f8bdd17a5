package schedule

import "testing"

func TestDescribe(t *testing.T) {
	for _, tt := range []struct{ zone, at, rule, want string }{
		{"Europe/Berlin", "2026-11-20T14:00:00Z", "", "Fri 20 Nov 2026 15:00 Europe/Berlin (14:00 UTC)"},
		{"Asia/Tokyo", "2026-11-19T23:30:00Z", "", "Fri 20 Nov 2026 08:30 Asia/Tokyo (Thu 19 Nov 23:30 UTC)"},
		{"UTC", "2026-11-20T14:00:30Z", "", "Fri 20 Nov 2026 14:00:30 UTC"},
		{"Europe/London", "2026-11-20T14:00:00Z", "", "Fri 20 Nov 2026 14:00 Europe/London (14:00 UTC)"},
		{"Europe/Berlin", "2026-11-20T08:00:00Z", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
			"every weekday at 09:00 Europe/Berlin; next: Fri 20 Nov 2026 09:00, Mon 23 Nov 2026 09:00, Tue 24 Nov 2026 09:00"},
		{"Europe/Berlin", "2026-11-20T08:00:00Z", "FREQ=DAILY;COUNT=2",
			"every day at 09:00 Europe/Berlin, 2 times; next: Fri 20 Nov 2026 09:00, Sat 21 Nov 2026 09:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=DAILY;INTERVAL=3;UNTIL=20261122T000000Z",
			"every 3 days at 08:00 UTC, until Sun 22 Nov 2026 00:00; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=WEEKLY", "every week on Friday at 08:00 UTC; next: Fri 20 Nov 2026 08:00, Fri 27 Nov 2026 08:00, Fri 4 Dec 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=1", "every 2 weeks on Monday, Friday at 08:00 UTC, once; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2027-01-31T08:00:00Z", "FREQ=MONTHLY;COUNT=2;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
			"every month on day 31, or the last day of shorter months, at 08:00 UTC, 2 times; next: Sun 31 Jan 2027 08:00, Sun 28 Feb 2027 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=MONTHLY;COUNT=1", "every month on day 20 at 08:00 UTC, once; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=MONTHLY;COUNT=1;BYMONTHDAY=-2,-1", "every month on the 2nd last day, the last day at 08:00 UTC, once; next: Sun 29 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=MONTHLY;COUNT=1;BYDAY=-1FR,3FR", "every month on the last Friday, the 3rd Friday at 08:00 UTC, once; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=YEARLY;COUNT=1", "every year on 20 November at 08:00 UTC, once; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=DAILY;COUNT=1;BYHOUR=8,17", "every day at 08:00, 17:00 UTC, once; next: Fri 20 Nov 2026 08:00"},
		{"UTC", "2026-11-20T08:00:00Z", "FREQ=YEARLY;COUNT=1;BYYEARDAY=-1", "by the rule FREQ=YEARLY;COUNT=1;BYYEARDAY=-1 at 08:00 UTC, once; next: Thu 31 Dec 2026 08:00"},
	} {
		if got := Describe(moment(t, tt.at), zone(t, tt.zone), tt.rule, 3); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.rule, got, tt.want)
		}
	}
}
