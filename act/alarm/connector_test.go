package alarm

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestClock_Do(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		a := d.do(c, time.Hour, "")
		if out := c.Do(t.Context(), a); out.Result != hearken.ResultOK {
			t.Error(out)
		}
		wait(2 * time.Hour)
		if out := c.Do(t.Context(), a); out.Result != hearken.ResultOK {
			t.Error(out)
		}
		wait(time.Hour)
		s.want(t, "1h0m0s of 1h0m0s")

		// Approved after its time.
		d.do(c, 2*time.Hour, "")
		s.want(t, "1h0m0s of 1h0m0s", "3h0m0s of 2h0m0s late")
		// A rule that leaves out its beginning, which is on a weekend.
		weekday := d.do(c, 4*time.Hour, "FREQ=WEEKLY;BYDAY=MO")
		if next := d.alarm(weekday).Next; next.Weekday() != time.Monday {
			t.Error(next)
		}
		for _, wrong := range []*hearken.Action{
			{ID: "msg_aaaaaaaaaaaaaaaa", Message: &hearken.Message{}},
			{ID: "rem_aaaaaaaaaaaaaaaa", Reminder: &hearken.Reminder{At: d.zero, Zone: "UTC", Repeat: "FREQ=NEVER"}},
		} {
			if out := c.Do(t.Context(), wrong); out.Result != hearken.ResultPermanent {
				t.Error(out)
			}
		}
	})
}

func TestClock_Undo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		told, untold, daily := d.do(c, time.Hour, ""), d.do(c, 3*time.Hour, ""), d.do(c, time.Hour, "FREQ=DAILY")
		wait(2 * time.Hour)
		if out := c.Undo(t.Context(), told); out.Result != hearken.ResultPermanent {
			t.Error(out)
		}
		for _, a := range []*hearken.Action{untold, daily, daily, d.reminder(time.Hour, "")} {
			if out := c.Undo(t.Context(), a); out.Result != hearken.ResultOK {
				t.Error(out)
			}
		}
		if next, ok := c.Next(); ok {
			t.Error(next)
		}
		wait(50 * time.Hour)
		s.want(t, "1h0m0s of 1h0m0s", "1h0m0s of 1h0m0s")
	})
}

// TestClock_UndoWhileTelling takes a reminder back that is being told.
func TestClock_UndoWhileTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier(forNow)
		c := d.open(s)
		a := d.do(c, time.Hour, "FREQ=DAILY")
		wait(time.Hour + time.Second)
		if next, ok := c.Next(); !ok || !next.Equal(d.zero.Add(time.Hour)) {
			t.Error("while it is told, the next time is", next, ok)
		}
		if out := c.Undo(t.Context(), a); out.Result != hearken.ResultOK {
			t.Error(out)
		}
		wait(50 * time.Hour)
		s.want(t, "1h0m0s of 1h0m0s", "1h0m2s of 1h0m0s")
		if al := d.alarm(a); !al.Next.IsZero() || al.Firing != nil {
			t.Errorf("%+v", al)
		}
	})
}
