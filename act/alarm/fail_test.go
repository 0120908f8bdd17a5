package alarm

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
)

// TestClock_CutOff finds the claim of a hub that did not end it.
func TestClock_CutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		a := d.reminder(time.Hour, "FREQ=DAILY")
		firing := d.zero.Add(time.Hour)
		alarm := hearken.Alarm{Action: a.ID, Next: d.zero.Add(25 * time.Hour), Firing: &firing}
		if _, err := d.SaveAlarm(t.Context(), &alarm); err != nil {
			t.Fatal(err)
		}
		wait(2 * time.Hour)
		d.open(s)
		if a := d.alarm(a); a.Firing != nil || !strings.HasPrefix(a.Error, "outcome_unknown: ") || !a.Next.Equal(alarm.Next) {
			t.Errorf("%+v", a)
		}
		wait(24 * time.Hour)
		s.want(t, "25h0m0s of 25h0m0s")
		if got := strings.Join(d.states(), " "); got != "unknown firing done" {
			t.Error(got)
		}
		if a := d.alarm(a); a.Error != "" {
			t.Errorf("%+v", a)
		}
	})
}

// TestClock_Neighbour has another hub on the same store add an alarm, and end
// in the middle of telling.
func TestClock_Neighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		d.open(s)
		mine, lost := d.reminder(time.Hour, ""), d.reminder(time.Hour, "")
		firing := d.zero.Add(time.Hour)
		for _, al := range []hearken.Alarm{{Action: mine.ID, Next: firing}, {Action: lost.ID, Firing: &firing}} {
			if _, err := d.SaveAlarm(t.Context(), &al); err != nil {
				t.Fatal(err)
			}
		}
		wait(90 * time.Minute)
		s.want(t, "1h0m0s of 1h0m0s")
		if a := d.alarm(lost); a.Firing != nil || !strings.HasPrefix(a.Error, "outcome_unknown: ") {
			t.Errorf("%+v", a)
		}
	})
}

func TestClock_Notifiers(t *testing.T) {
	for _, tt := range []struct {
		name       string
		one, other []hearken.Outcome
		tries      int // of the one
		error      string
	}{
		{"OK", nil, nil, 1, ""},
		{"OneForNow", []hearken.Outcome{forNow, forNow}, nil, 3, ""},
		{"OneForEver", []hearken.Outcome{forEver}, nil, 1, ""},
		{"BothForEver", []hearken.Outcome{forEver}, []hearken.Outcome{forEver}, 1, "provider_rejected: one: No screen. screen: No screen."},
		{"ForNowForLong", []hearken.Outcome{forNow, forNow, forNow, forNow, forNow}, []hearken.Outcome{forEver}, 4, "provider_temporary: one: Busy. screen: No screen."},
		{"Unknown", []hearken.Outcome{unknown}, []hearken.Outcome{forEver}, 1, "outcome_unknown: one: No answer. screen: No screen."},
		{"NoResult", []hearken.Outcome{{}}, []hearken.Outcome{forEver}, 1, "outcome_unknown: one:  screen: No screen."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t)
				one, other := d.notifier(tt.one...), d.notifier(tt.other...)
				one.name = "one"
				c := d.open(one, other)
				a := d.do(c, time.Hour, "")
				wait(2 * time.Hour)
				one.want(t, []string{"1h0m0s of 1h0m0s", "1h0m2s of 1h0m0s", "1h0m10s of 1h0m0s", "1h0m40s of 1h0m0s"}[:tt.tries]...)
				other.want(t, "1h0m0s of 1h0m0s")
				al := d.alarm(a)
				state := map[string]string{"": "done", "outcome_unknown": "unknown"}[strings.SplitN(tt.error, ":", 2)[0]]
				if got := d.states(); got[len(got)-1] != cmp.Or(state, "failed") {
					t.Error(got)
				}
				if al.Error != tt.error || al.Firing != nil || (al.Fired != nil) != (tt.error == "") {
					t.Errorf("%+v", al)
				}
			})
		})
	}
}

func TestClock_NoNotifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		c := d.open()
		a := d.do(c, time.Hour, "")
		wait(2 * time.Hour)
		if e := d.alarm(a).Error; !strings.HasPrefix(e, "connector_not_configured: ") {
			t.Error(e)
		}
	})
}

// TestClock_Hangs has a notifier that never returns by itself keep nobody else
// from being told in time.
func TestClock_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		stuck, fine := d.notifier(), d.notifier()
		stuck.hang = true
		c := d.open(stuck, fine)
		for range 3 * perNotifier {
			d.do(c, time.Hour, "")
		}
		wait(time.Hour)
		fine.want(t, slices.Repeat([]string{"1h0m0s of 1h0m0s"}, 3*perNotifier)...)
		wait(time.Hour)
		if got := len(stuck.told); got != 3*perNotifier {
			t.Errorf("the stuck one was asked %d times", got)
		}
	})
}

// TestClock_NoAudit tells nothing that is not written down, and loses nothing.
func TestClock_NoAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		a := d.do(c, time.Hour, "")
		d.set(true, false)
		wait(70 * time.Minute)
		s.want(t)
		if al := d.alarm(a); !strings.HasPrefix(al.Error, "audit_unavailable: ") || al.Firing != nil || al.Next.IsZero() {
			t.Errorf("%+v", al)
		}
		d.set(false, false)
		wait(pollInterval)
		s.want(t, "1h10m30s of 1h0m0s late")
		if al := d.alarm(a); al.Error != "" {
			t.Errorf("%+v", al)
		}
	})
}

func TestClock_NoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		d.do(c, time.Hour, "")
		d.set(false, true)
		if out := c.Do(t.Context(), d.reminder(time.Hour, "")); out.Result != hearken.ResultTemporary {
			t.Error(out)
		}
		wait(70 * time.Minute)
		s.want(t)
		d.set(false, false)
		wait(pollInterval)
		s.want(t, "1h10m30s of 1h0m0s late")
	})
}

func TestClock_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier(forNow)
		c := d.open(s)
		a := d.do(c, time.Hour, "")
		wait(time.Hour + time.Second)
		c.Close(t.Context()) // between two attempts: surely nobody was told
		if al := d.alarm(a); al.Firing != nil || !al.Next.Equal(d.zero.Add(time.Hour)) {
			t.Errorf("%+v", al)
		}
		wait(time.Hour)
		d.open(s)
		s.want(t, "1h0m0s of 1h0m0s", "2h0m1s of 1h0m0s late")
	})
}

// TestClock_CloseWhileTelling waits for who is being told, as long as it may.
func TestClock_CloseWhileTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		s.hang = true
		c := d.open(s)
		a := d.do(c, time.Hour, "")
		wait(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c.Close(ctx)
		if took := time.Since(d.zero) - time.Hour; took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if al := d.alarm(a); al.Firing != nil || !strings.HasPrefix(al.Error, "outcome_unknown: ") || !al.Next.IsZero() {
			t.Errorf("%+v", al)
		}
	})
}

// TestClock_Deaf has a notifier not even heed the end of its time.
func TestClock_Deaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		release := make(chan struct{})
		defer close(release)
		c := d.open(NotifyFunc("auditFails", func(context.Context, Notice) hearken.Outcome {
			<-release
			return hearken.Outcome{Result: hearken.ResultOK}
		}))
		a := d.do(c, time.Hour, "")
		wait(time.Hour + attemptTimeout + cancelGrace)
		if al := d.alarm(a); al.Firing != nil || al.Error != "outcome_unknown: auditFails: It did not answer in time." {
			t.Errorf("%+v", al)
		}
	})
}
