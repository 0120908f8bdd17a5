package alarm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A life is one run of a hub: it ends after a while, or at some place in the
// middle of firing if that comes first, and then is off for a while.
type life struct {
	lasts, off time.Duration
	place      int // which call of Failpoint ends it; 0 for none
	clocks     int // that run on the store at once
	gently     bool
}

type plan struct {
	reminders []hearken.Reminder
	lives     []life
}

// stride is what all times of a plan are multiples of, so that several things
// happen at the same moment often.
const stride = 30 * time.Minute

func anyPlan(t *rapid.T, crashes bool) (p plan) {
	steps := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(1, most).Draw(t, name)) * stride
	}
	for range rapid.IntRange(1, 5).Draw(t, "reminders") {
		p.reminders = append(p.reminders, hearken.Reminder{
			Zone: "UTC", Note: "n", At: time.Time{}.Add(steps("at", 100)),
			Repeat: rapid.SampledFrom([]string{"", "FREQ=DAILY", "FREQ=DAILY;BYHOUR=1,2,3,14;BYMINUTE=0,30", "FREQ=DAILY;INTERVAL=2;COUNT=3"}).Draw(t, "repeat"),
		})
	}
	for range rapid.IntRange(1, 4).Draw(t, "lives") {
		l := life{lasts: steps("lasts", 40), off: steps("off", 60), clocks: rapid.IntRange(1, 2).Draw(t, "clocks"), gently: true}
		if crashes {
			l.gently = rapid.Bool().Draw(t, "gently")
			l.place = rapid.IntRange(0, 12).Draw(t, "place")
		}
		p.lives = append(p.lives, l)
	}
	return p
}

// A process is what a clock runs in: when it is dead, nothing that the clock
// does has an effect any more.
type process struct {
	*world
	dead   atomic.Bool
	faults atomic.Int32
	place  int32
	died   chan struct{}
}

var errDead = errors.New("the process is dead")

func (p *process) fault(string) {
	if p.faults.Add(1) == p.place {
		p.dead.Store(true)
		close(p.died)
	}
}

func (p *process) Action(ctx context.Context, id string) (*hearken.Action, error) {
	if p.dead.Load() {
		return nil, errDead
	}
	return p.Memory.Action(ctx, id)
}

func (p *process) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	if p.dead.Load() {
		return false, errDead
	}
	return p.Memory.SaveAlarm(ctx, a)
}

func (p *process) Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error) {
	if p.dead.Load() {
		return nil, errDead
	}
	return p.Memory.Alarms(ctx, before)
}

func (p *process) Append(context.Context, hearken.AuditRecord) error {
	if p.dead.Load() {
		return errDead
	}
	return nil
}

func (p *process) Name() string { return "owner" }

func (p *process) Notify(_ context.Context, n Notice) hearken.Outcome {
	if p.dead.Load() {
		return hearken.Outcome{Result: hearken.ResultUnknown}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told[occurrence{n.ID, n.Due.UnixNano()}]++
	return hearken.Outcome{Result: hearken.ResultOK}
}

type occurrence struct {
	id string
	at int64
}

// A world is what lives longer than a process.
type world struct {
	*storetest.Memory
	mu   sync.Mutex
	told map[occurrence]int
}

// A span is when a hub was up.
type span struct{ from, to time.Time }

// live runs a plan and returns what is wrong with what the owner was told.
func live(ctx context.Context, p plan) error {
	w := &world{Memory: storetest.NewMemory(), told: map[occurrence]int{}}
	zero := time.Now()
	reminders := map[string]*hearken.Reminder{}
	var actions []*hearken.Action
	for _, r := range p.reminders {
		r.At = zero.Add(r.At.Sub(time.Time{}))
		a := &hearken.Action{ID: hearken.NewActionID(hearken.ReminderCreate), Tool: hearken.ReminderCreate, Reminder: &r, CreatedAt: zero}
		if _, err := w.SaveAction(ctx, a); err != nil {
			return err
		}
		reminders[a.ID], actions = &r, append(actions, a)
	}
	var spans []span
	for i, l := range p.lives {
		s, err := w.run(ctx, l, actions, i == 0)
		if err != nil {
			return err
		}
		spans = append(spans, s)
		<-time.After(l.off)
	}
	for id, r := range reminders {
		if err := w.check(id, r, zero, spans); err != nil {
			return err
		}
	}
	return nil
}

// run is one life of a hub.
func (w *world) run(ctx context.Context, l life, actions []*hearken.Action, first bool) (span, error) {
	s := span{from: time.Now()}
	p := &process{world: w, place: int32(l.place), died: make(chan struct{})}
	var clocks []*Clock
	for range l.clocks {
		c, err := Open(ctx, Config{Store: p, Audit: p, Notifiers: []Notifier{p}, Failpoint: p.fault})
		if err != nil && !p.dead.Load() {
			return s, err
		}
		if err == nil {
			clocks = append(clocks, c)
		}
	}
	if first {
		for _, a := range actions {
			if out := clocks[0].Do(ctx, a); out.Result != hearken.ResultOK && !p.dead.Load() {
				return s, fmt.Errorf("do: %+v", out)
			}
		}
	}
	select {
	case <-time.After(l.lasts):
	case <-p.died:
	}
	if !l.gently {
		p.dead.Store(true)
	}
	s.to = time.Now()
	for _, c := range clocks {
		c.Close(ctx)
	}
	return s, nil
}

// check holds what was told of one reminder against what had to be.
func (w *world) check(id string, r *hearken.Reminder, zero time.Time, spans []span) error {
	end := spans[len(spans)-1].to
	for at, ok := schedule.Next(r.Repeat, r.At, time.UTC, r.At.Add(-1)); ok && !at.After(end); at, ok = schedule.Next(r.Repeat, r.At, time.UTC, at) {
		next, more := schedule.Next(r.Repeat, r.At, time.UTC, at)
		told := w.told[occurrence{id, at.UnixNano()}]
		if told > 1 {
			return fmt.Errorf("%q at %v was told %d times", r.Repeat, at.Sub(zero), told)
		}
		if must, may := promised(at, next, more, spans); told == 0 && must || told > 0 && !may {
			return fmt.Errorf("%q at %v was told %d times; the hub was up %v", r.Repeat, at.Sub(zero), told, spans)
		}
	}
	return nil
}

// promised says whether a time must and whether it may be told of: it must if
// the hub was up, or came up within a day and there was no newer time by then,
// in which case it may not. In the very moment in which a hub crashes or ends
// all is allowed.
func promised(at, next time.Time, more bool, spans []span) (must, may bool) {
	for _, s := range spans {
		switch {
		case at.Before(s.from):
			if more && !next.After(s.from) || s.from.Sub(at) > maxLateness {
				return false, false
			}
			return s.from.Before(s.to), true
		case at.Equal(s.to):
			return false, true
		case at.Before(s.to):
			return true, true
		}
	}
	return false, false
}

// TestClock_Crashes lives through random lives, in the bubble's time.
func TestClock_Crashes(t *testing.T) {
	for _, crashes := range []bool{false, true} {
		t.Run(fmt.Sprint(crashes), func(t *testing.T) {
			told := 0
			rapid.Check(t, func(rt *rapid.T) {
				p := anyPlan(rt, crashes)
				var err error
				synctest.Test(t, func(t *testing.T) { err = live(t.Context(), p) })
				if err != nil {
					rt.Fatal(err)
				}
				told++
			})
			if told < 10 {
				t.Errorf("only %d lives were lived", told)
			}
		})
	}
}
