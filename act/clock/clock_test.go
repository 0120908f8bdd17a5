package clock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A desk is what a clock stands on in a test, and outlives it.
type desk struct {
	*storetest.Memory
	t    *testing.T
	zero time.Time

	mu      sync.Mutex
	records []hearken.AuditRecord
	deaf    bool // the audit cannot be written
	failing bool // the store neither
}

func newDesk(t *testing.T) *desk {
	return &desk{Memory: storetest.NewMemory(), t: t, zero: time.Now()}
}

func (d *desk) Append(_ context.Context, r hearken.AuditRecord) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf {
		return errors.New("no space left on device")
	}
	d.records = append(d.records, r)
	return nil
}

func (d *desk) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	d.mu.Lock()
	failing := d.failing
	d.mu.Unlock()
	if failing {
		return false, errors.New("disk I/O error")
	}
	return d.Memory.SaveAlarm(ctx, a)
}

func (d *desk) set(deaf, failing bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaf, d.failing = deaf, failing
}

// states are what the audit says of firing.
func (d *desk) states() (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		list = append(list, r.State)
	}
	return list
}

// reminder stores an action that is approved.
func (d *desk) reminder(in time.Duration, repeat string) *hearken.Action {
	d.t.Helper()
	a := &hearken.Action{
		ID: hearken.NewActionID(hearken.ReminderCreate), Tool: hearken.ReminderCreate, Principal: "local", State: hearken.ActionExecuting, CreatedAt: d.zero,
		Reminder: &hearken.Reminder{At: d.zero.Add(in), Zone: "UTC", Note: "water the plants", Repeat: repeat},
	}
	if saved, err := d.SaveAction(d.t.Context(), a); err != nil || !saved {
		d.t.Fatal(saved, err)
	}
	return a
}

// alarm is the stored one.
func (d *desk) alarm(a *hearken.Action) hearken.Alarm {
	d.t.Helper()
	all, err := d.Alarms(d.t.Context(), time.Time{})
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(al hearken.Alarm) bool { return al.Action == a.ID })
	if i < 0 {
		d.t.Fatalf("%s has no alarm", a.ID)
	}
	return all[i]
}

func (d *desk) open(notifiers ...Notifier) *Clock {
	d.t.Helper()
	return d.openWith(Config{Notifiers: notifiers})
}

func (d *desk) openWith(cfg Config) *Clock {
	d.t.Helper()
	cfg.Store, cfg.Audit = d, d
	c, err := Open(d.t.Context(), cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func (d *desk) do(c *Clock, in time.Duration, repeat string) *hearken.Action {
	d.t.Helper()
	a := d.reminder(in, repeat)
	if out := c.Do(d.t.Context(), a); out.Result != hearken.ResultOK || out.Receipt != a.ID {
		d.t.Fatal(out)
	}
	return a
}

// A screen remembers what it was told. It answers as it is bid, and with ok
// after that.
type screen struct {
	name    string
	zero    time.Time
	mu      sync.Mutex
	answers []hearken.Outcome
	told    []string // when it was told, and of when
	hang    bool
}

func (s *screen) Name() string { return s.name }

func (s *screen) Notify(ctx context.Context, n Notice) hearken.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := ""
	if n.Late {
		mark = " late"
	}
	s.told = append(s.told, fmt.Sprintf("%v of %v%s", time.Since(s.zero), n.Due.Sub(s.zero), mark))
	if s.hang {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return hearken.Outcome{Result: hearken.ResultUnknown, Message: "No answer."}
	}
	if len(s.answers) == 0 {
		return hearken.Outcome{Result: hearken.ResultOK}
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer
}

func (d *desk) screen(answers ...hearken.Outcome) *screen {
	return &screen{name: "screen", zero: d.zero, answers: answers}
}

func (s *screen) want(t *testing.T, told ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(told, s.told); diff != "" {
		t.Errorf("%s (-want +got)\n%s", s.name, diff)
	}
}

func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var (
	forNow  = hearken.Outcome{Result: hearken.ResultTemporary, Message: "Busy."}
	forEver = hearken.Outcome{Result: hearken.ResultPermanent, Message: "No screen."}
	unknown = hearken.Outcome{Result: hearken.ResultUnknown, Message: "No answer."}
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
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
		d := newDesk(t)
		s := d.screen()
		c := d.open(s)
		old, recent := d.do(c, time.Hour, ""), d.do(c, 40*time.Hour, "")
		daily, weekly := d.do(c, 2*time.Hour, "FREQ=DAILY"), d.do(c, 3*time.Hour, "FREQ=WEEKLY")
		d.do(c, 4*time.Hour, "FREQ=DAILY;BYHOUR=4,5,6")
		c.Close(t.Context())
		wait(60 * time.Hour)
		c = d.open(s)
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

// TestClock_CutOff finds the claim of a hub that did not end it.
func TestClock_CutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
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
		if a := d.alarm(a); a.Error != "" {
			t.Errorf("%+v", a)
		}
	})
}

// TestClock_Neighbour has another hub on the same store add an alarm, and end
// in the middle of telling.
func TestClock_Neighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
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
				d := newDesk(t)
				one, other := d.screen(tt.one...), d.screen(tt.other...)
				one.name = "one"
				c := d.open(one, other)
				a := d.do(c, time.Hour, "")
				wait(2 * time.Hour)
				one.want(t, []string{"1h0m0s of 1h0m0s", "1h0m2s of 1h0m0s", "1h0m10s of 1h0m0s", "1h0m40s of 1h0m0s"}[:tt.tries]...)
				other.want(t, "1h0m0s of 1h0m0s")
				al := d.alarm(a)
				if al.Error != tt.error || al.Firing != nil || (al.Fired != nil) != (tt.error == "") {
					t.Errorf("%+v", al)
				}
			})
		})
	}
}

func TestClock_NoNotifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
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
		d := newDesk(t)
		stuck, fine := d.screen(), d.screen()
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
		d := newDesk(t)
		s := d.screen()
		c := d.open(s)
		a := d.do(c, time.Hour, "")
		d.set(true, false)
		wait(70 * time.Minute)
		s.want(t)
		if al := d.alarm(a); !strings.HasPrefix(al.Error, "audit_unavailable: ") || al.Firing != nil || al.Next.IsZero() {
			t.Errorf("%+v", al)
		}
		d.set(false, false)
		wait(recheck)
		s.want(t, "1h10m30s of 1h0m0s late")
		if al := d.alarm(a); al.Error != "" {
			t.Errorf("%+v", al)
		}
	})
}

func TestClock_NoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
		c := d.open(s)
		d.do(c, time.Hour, "")
		d.set(false, true)
		if out := c.Do(t.Context(), d.reminder(time.Hour, "")); out.Result != hearken.ResultTemporary {
			t.Error(out)
		}
		wait(70 * time.Minute)
		s.want(t)
		d.set(false, false)
		wait(recheck)
		s.want(t, "1h10m30s of 1h0m0s late")
	})
}

// TestClock_Set has somebody set the computer's clock, or shut its lid.
func TestClock_Set(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
		var shift atomic.Int64
		c := d.openWith(Config{Notifiers: []Notifier{s}, Now: func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }})
		a := d.do(c, 5*time.Hour, "FREQ=DAILY")
		wait(time.Hour)
		shift.Store(int64(6 * time.Hour)) // it is 7 o'clock
		wait(recheck)
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

func TestClock_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen(forNow)
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
		d := newDesk(t)
		s := d.screen()
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

func TestClock_Do(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s := d.screen()
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
		d := newDesk(t)
		s := d.screen()
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
		d := newDesk(t)
		s := d.screen(forNow)
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

func TestNotice(t *testing.T) {
	n := Notice{ID: "rem_x", Text: "tea", Due: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), Zone: "Europe/Berlin"}
	if n.Title() != "Reminder" || n.When() != "Fri 20 Nov 2026 15:00 Europe/Berlin (14:00 UTC)" {
		t.Error(n.Title(), n.When())
	}
	n.Late, n.Zone = true, "Nowhere/At_All"
	if n.Title() != "Late reminder" || n.When() != "Fri 20 Nov 2026 14:00 UTC" {
		t.Error(n.Title(), n.When())
	}
	by := Via("paper", func(_ context.Context, n Notice) hearken.Outcome {
		return hearken.Outcome{Result: hearken.ResultOK, Receipt: n.ID}
	})
	if out := by.Notify(t.Context(), n); by.Name() != "paper" || out.Receipt != "rem_x" {
		t.Error(by.Name(), out)
	}
}
