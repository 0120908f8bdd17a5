// Package clock tells the owner of reminders when they are due: each time once,
// also after a crash, a restart, a sleep of the computer or a change of its
// clock, and with several hubs on one store.
//
// A [Clock] is also the connector that carries out reminder.create: doing the
// action keeps an alarm, undoing it takes the alarm's next time away.
//
// Before anybody is told of a time, the clock claims it in the store, where
// only one can win, and puts it into the audit. A claim that is found at the
// next start was cut off in the middle: whether the owner was told is unknown,
// which is said and not tried again, since a reminder that comes twice is worth
// less than one whose fate is known.
package clock

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// Config is what a [Clock] is made of. Store and Audit are required.
type Config struct {
	Store interface {
		Action(ctx context.Context, id string) (*hearken.Action, error)
		SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error)
		Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error)
	}
	Audit     hearken.Audit
	Notifiers []Notifier // all are told
	Log       *slog.Logger
	Now       func() time.Time
	// Fault is called at places where a test may end the process.
	Fault func(place string)
}

// A Clock fires reminders. Its methods may be called concurrently.
type Clock struct {
	cfg    Config
	stop   chan struct{} // closed: claim nothing more
	ctx    context.Context
	cancel context.CancelFunc // ends also what is being told
	wake   chan struct{}
	work   sync.WaitGroup

	claims, endings chan struct{}   // how many write to the store at a time
	slots           []chan struct{} // how many use a notifier at a time

	mu        sync.Mutex
	alarms    map[string]*entry
	unclaimed int        // are due and not claimed yet
	calm      *sync.Cond // there is none of these
	closed    bool
}

// An entry is an alarm as this clock knows it.
type entry struct {
	alarm hearken.Alarm
	busy  bool      // it is being told of
	held  bool      // something failed: not before the next look at the store
	since time.Time // when somebody else's claim of this version was first seen
}

// How many may go on at once. The store and the audit take one writer at a
// time, but may write what several want in one go.
const (
	manyClaims  = 32
	manyEndings = 4
	perNotifier = 8
)

// Open starts a clock: it looks up what is to come, settles what a crash left
// open, and tells of what was missed.
func Open(ctx context.Context, cfg Config) (*Clock, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Fault == nil {
		cfg.Fault = func(string) {}
	}
	c := &Clock{
		cfg: cfg, stop: make(chan struct{}), wake: make(chan struct{}, 1),
		claims: make(chan struct{}, manyClaims), endings: make(chan struct{}, manyEndings),
		alarms: map[string]*entry{},
	}
	c.calm = sync.NewCond(&c.mu)
	for range cfg.Notifiers {
		c.slots = append(c.slots, make(chan struct{}, perNotifier))
	}
	all, err := cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	for _, a := range all {
		if a.Firing != nil {
			if err := c.settle(ctx, &a); err != nil {
				return nil, err
			}
		}
		c.take(a)
	}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.work.Go(c.run)
	return c, nil
}

// Close stops telling. What is being told may end until ctx does; what surely
// was not told yet is kept for the next start.
func (c *Clock) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
	}
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		c.cancel()
		<-done
	}
	c.cancel()
	return nil
}

// Next is the earliest time that is to be told of, in the past if it is being
// told just now. False says that there is none.
func (c *Clock) Next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var earliest time.Time
	for _, e := range c.alarms {
		if next := e.alarm.Next; !next.IsZero() && (earliest.IsZero() || next.Before(earliest)) {
			earliest = next
		}
	}
	return earliest, !earliest.IsZero()
}

// settle ends a claim that nobody ends any more. The alarm's next time was set
// with the claim already.
func (c *Clock) settle(ctx context.Context, alarm *hearken.Alarm) error {
	was := *alarm.Firing
	problem := string(hearken.OutcomeUnknown) + ": The hub ended while it told of " + was.UTC().Format(time.RFC3339) + "; whether that arrived is not known."
	settled, err := c.amend(ctx, alarm, func(a *hearken.Alarm) bool {
		if !isFiring(a, was) {
			return false
		}
		a.Firing, a.Error = nil, problem
		return true
	})
	if !settled {
		return err
	}
	c.cfg.Log.Warn("reminder cut off", "id", alarm.Action)
	unknown := hearken.AuditRecord{Type: hearken.AuditFired, Action: alarm.Action, State: string(hearken.ActionUnknown), Error: problem, When: &was}
	if err := c.cfg.Audit.Append(ctx, unknown); err != nil {
		c.cfg.Log.Error("cut off reminder is not in the audit", "id", alarm.Action, "error", err)
	}
	return nil
}

// amend changes an alarm in the store, and the given one to what is there then.
// Where somebody else was first, change is asked again about what that one
// wrote; it returns false to leave it at that.
func (c *Clock) amend(ctx context.Context, alarm *hearken.Alarm, change func(a *hearken.Alarm) bool) (bool, error) {
	for {
		changed := *alarm
		if !change(&changed) {
			return false, nil
		}
		saved, err := c.cfg.Store.SaveAlarm(ctx, &changed)
		if err != nil {
			return false, fmt.Errorf("save alarm: %w", err)
		}
		if saved {
			*alarm = changed
			return true, nil
		}
		found, err := c.find(ctx, alarm.Action)
		if err != nil {
			return false, err
		}
		if found == nil {
			*alarm = hearken.Alarm{Action: alarm.Action, Version: alarm.Version + 1}
			return false, nil
		}
		*alarm = *found
	}
}

func isFiring(a *hearken.Alarm, at time.Time) bool { return a.Firing != nil && a.Firing.Equal(at) }

// find looks an alarm up; nil if there is none.
func (c *Clock) find(ctx context.Context, id string) (*hearken.Alarm, error) {
	all, err := c.cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	for _, a := range all {
		if a.Action == id {
			return &a, nil
		}
	}
	return nil, nil
}

// take remembers an alarm as it stands in the store.
func (c *Clock) take(a hearken.Alarm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.alarms[a.Action]
	switch {
	case e != nil && (e.busy || e.alarm.Version > a.Version):
		return
	case a.Next.IsZero() && a.Firing == nil:
		delete(c.alarms, a.Action)
		return
	case e == nil:
		e = &entry{}
		c.alarms[a.Action] = e
	}
	if e.alarm.Version != a.Version {
		e.since = time.Time{}
	}
	e.alarm = a
}

// stopped reports whether the clock is being closed.
func (c *Clock) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// enter takes one of the places, unless the clock is closed before there is
// one.
func (c *Clock) enter(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-c.stop:
		return false
	}
}
