package alarm

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		if _, ok := c.Next(); ok {
			t.Error("there is a next time of nothing")
		}
		once, daily := d.do(c, time.Hour, ""), d.do(c, 90*time.Minute, "FREQ=DAILY;COUNT=3")
		if next, ok := c.Next(); !ok || !next.Equal(d.zero.Add(time.Hour)) {
			t.Error(next, ok)
		}
		wait(80 * time.Minute)
		s.want(t, "1h0m0s of 1h0m0s")
		if a := d.alarm(once); !a.Next.IsZero() || a.Firing != nil || a.Error != "" || !a.Fired.Equal(d.zero.Add(time.Hour)) {
			t.Errorf("%+v", a)
		}
		wait(10 * time.Minute)
		s.want(t, "1h0m0s of 1h0m0s", "1h30m0s of 1h30m0s")
		if a := d.alarm(daily); !a.Next.Equal(d.zero.Add(25*time.Hour + 30*time.Minute)) {
			t.Errorf("%+v", a)
		}
		wait(100 * time.Hour)
		s.want(t, "1h0m0s of 1h0m0s", "1h30m0s of 1h30m0s", "25h30m0s of 25h30m0s", "49h30m0s of 49h30m0s")
		if next, ok := c.Next(); ok {
			t.Error("there is still", next)
		}
		if diff := cmp.Diff(strings.Fields("firing done firing done firing done firing done"), d.states()); diff != "" {
			t.Error(diff)
		}
		r := d.records[0]
		if r.Type != hearken.AuditFired || r.Action != once.ID || !r.When.Equal(d.zero.Add(time.Hour)) || r.Texts["note"] != "water the plants" {
			t.Errorf("%+v", r)
		}
	})
}

// TestClock_Off has the hub be off when reminders are due.
func TestClock_Off(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		c := d.open(s)
		old, recent := d.do(c, time.Hour, ""), d.do(c, 40*time.Hour, "")
		daily, weekly := d.do(c, 2*time.Hour, "FREQ=DAILY"), d.do(c, 3*time.Hour, "FREQ=WEEKLY")
		d.do(c, 4*time.Hour, "FREQ=DAILY;BYHOUR=4,5,6")
		c.Close(t.Context())
		wait(60 * time.Hour)
		d.open(s)
		synctest.Wait()
		slices.Sort(s.told)
		s.want(t, "60h0m0s of 40h0m0s late", "60h0m0s of 50h0m0s late", "60h0m0s of 54h0m0s late")
		for _, a := range []*hearken.Action{old, weekly} {
			if e := d.alarm(a).Error; !strings.HasPrefix(e, "reminder_missed: ") {
				t.Errorf("%q", e)
			}
		}
		if next := d.alarm(weekly).Next; !next.Equal(d.zero.Add(171 * time.Hour)) {
			t.Error(next)
		}
		if a := d.alarm(daily); a.Error != "" || !a.Next.Equal(d.zero.Add(74*time.Hour)) {
			t.Errorf("%+v", a)
		}
		if a := d.alarm(recent); a.Error != "" || !a.Next.IsZero() {
			t.Errorf("%+v", a)
		}
	})
}

// TestClock_Set has somebody set the computer's clock, or shut its lid.
func TestClock_Set(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t)
		s := d.notifier()
		var shift atomic.Int64
		c := d.openWith(Config{Notifiers: []Notifier{s}, Now: func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }})
		a := d.do(c, 5*time.Hour, "FREQ=DAILY")
		wait(time.Hour)
		shift.Store(int64(6 * time.Hour)) // it is 7 o'clock
		wait(pollInterval)
		s.want(t, "1h0m30s of 5h0m0s late")
		shift.Store(int64(-6 * time.Hour)) // it is long before 5 again
		wait(20 * time.Hour)
		s.want(t, "1h0m30s of 5h0m0s late")
		if next := d.alarm(a).Next; !next.Equal(d.zero.Add(29 * time.Hour)) {
			t.Error(next)
		}
		shift.Store(0)
		wait(8 * time.Hour)
		s.want(t, "1h0m30s of 5h0m0s late", "29h0m0s of 29h0m0s")
	})
}

func TestNotice(t *testing.T) {
	n := Notice{ID: "rem_x", Text: "tea", Due: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), Zone: "Europe/Berlin"}
	if n.Title() != "Reminder" || n.When() != "Fri 20 Nov 2026 15:00 Europe/Berlin (14:00 UTC)" {
		t.Error(n.Title(), n.When())
	}
	n.Late, n.Zone = true, "Nowhere/At_All"
	if n.Title() != "Late reminder" || n.When() != "Fri 20 Nov 2026 14:00 UTC" {
		t.Error(n.Title(), n.When())
	}
	by := NotifyFunc("paper", func(_ context.Context, n Notice) hearken.Outcome {
		return hearken.Outcome{Result: hearken.ResultOK, Receipt: n.ID}
	})
	if out := by.Notify(t.Context(), n); by.Name() != "paper" || out.Receipt != "rem_x" {
		t.Error(by.Name(), out)
	}
}
