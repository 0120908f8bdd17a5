// Package alarm notifies the owner of reminders when they are due: each time
// once, also after a crash, a restart, a sleep of the computer or a change of
// its clock, and with several hubs on one store.
//
// A [Clock] is also the connector that carries out reminder.create: doing the
// action creates an alarm, undoing it removes the alarm's next time.
//
// Before it notifies, the clock claims the time in the store, where only one
// hub can win, and records it in the audit. A claim that is found at the next
// start was interrupted: nobody knows whether the owner was notified. The clock
// says so and does not retry, since a reminder that comes twice is worth less
// than one whose outcome is known.
package alarm

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// Config configures a [Clock]. Store and Audit are required.
type Config struct {
	Store interface {
		Action(ctx context.Context, id string) (*hearken.Action, error)
		SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error)
		Alarms(ctx context.Context, before time.Time) ([]hearken.Alarm, error)
	}
	Audit     hearken.Audit
	Notifiers []Notifier // all are used
	Log       *slog.Logger
	Now       func() time.Time
	// Failpoint is called at points where a test may end the process.
	Failpoint func(name string)
}

// A Clock fires reminders. Its methods may be called concurrently.
type Clock struct {
	cfg     Config
	closing context.Context // once it is done, nothing more is claimed
	close   context.CancelFunc
	ctx     context.Context
	cancel  context.CancelFunc // also ends running notifications
	wake    chan struct{}
	work    sync.WaitGroup

	claimSlots, endSlots chan struct{}   // limit concurrent writes to the store
	notifierSlots        []chan struct{} // limit concurrent calls of each notifier

	mu            sync.Mutex
	alarms        map[string]*trackedAlarm
	unclaimed     int        // alarms that are due and not claimed yet
	noneUnclaimed *sync.Cond // unclaimed has become 0
}

// A trackedAlarm is an alarm as this clock knows it.
type trackedAlarm struct {
	alarm hearken.Alarm
	busy  bool      // it is firing
	held  bool      // something failed: not before the next reload
	since time.Time // when another hub's claim of this version was first seen
}

// How many run at once. The store and the audit take one writer at a time, but
// may write several changes together.
const (
	maxClaims   = 32
	maxEndings  = 4
	perNotifier = 8
)

// Open starts a clock: it loads all alarms, ends what a crash interrupted, and
// fires what was missed.
func Open(ctx context.Context, cfg Config) (*Clock, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Failpoint == nil {
		cfg.Failpoint = func(string) {}
	}
	c := &Clock{
		cfg: cfg, wake: make(chan struct{}, 1),
		claimSlots: make(chan struct{}, maxClaims), endSlots: make(chan struct{}, maxEndings),
		alarms: map[string]*trackedAlarm{},
	}
	c.noneUnclaimed = sync.NewCond(&c.mu)
	for range cfg.Notifiers {
		c.notifierSlots = append(c.notifierSlots, make(chan struct{}, perNotifier))
	}
	all, err := cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	for _, a := range all {
		if a.Firing != nil {
			if err := c.endAbandoned(ctx, &a); err != nil {
				return nil, err
			}
		}
		c.remember(a)
	}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.closing, c.close = context.WithCancel(c.ctx)
	c.work.Go(c.run)
	return c, nil
}

// Close stops the clock. Running notifications may end until ctx does. Times
// that surely were not notified are kept for the next start.
func (c *Clock) Close(ctx context.Context) error {
	c.close()
	defer context.AfterFunc(ctx, c.cancel)()
	c.work.Wait()
	c.cancel()
	return nil
}

// Next returns the earliest time that will fire, in the past if it is firing
// now. False means that there is none.
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

// endAbandoned ends a claim whose hub is gone. The claim has already set the
// alarm's next time.
func (c *Clock) endAbandoned(ctx context.Context, alarm *hearken.Alarm) error {
	at := *alarm.Firing
	failure := hearken.Errorf(hearken.OutcomeUnknown, "The hub ended while it notified you of %s; nobody knows whether that arrived.", at.UTC().Format(time.RFC3339))
	ended, err := c.update(ctx, alarm, func(a *hearken.Alarm) bool {
		if !isFiring(a, at) {
			return false
		}
		a.Firing = nil
		a.SetFailure(failure)
		return true
	})
	if !ended {
		return err
	}
	c.cfg.Log.Warn("reminder interrupted", "id", alarm.Action)
	unknown := hearken.AuditRecord{Type: hearken.AuditFired, Action: alarm.Action, State: string(hearken.ActionUnknown), Error: alarm.Error, When: &at}
	if err := c.cfg.Audit.Append(ctx, unknown); err != nil {
		c.cfg.Log.Error("interrupted reminder is not in the audit", "id", alarm.Action, "error", err)
	}
	return nil
}

// update changes an alarm in the store, and sets *alarm to the stored state. If
// somebody else was first, change is called again with the new state; it
// returns false to leave the alarm as it is.
func (c *Clock) update(ctx context.Context, alarm *hearken.Alarm, change func(a *hearken.Alarm) bool) (bool, error) {
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

// find returns a stored alarm, nil if there is none.
func (c *Clock) find(ctx context.Context, id string) (*hearken.Alarm, error) {
	all, err := c.cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	if i := slices.IndexFunc(all, func(a hearken.Alarm) bool { return a.Action == id }); i >= 0 {
		return &all[i], nil
	}
	return nil, nil
}

// remember takes over the stored state of an alarm.
func (c *Clock) remember(a hearken.Alarm) {
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
		e = &trackedAlarm{}
		c.alarms[a.Action] = e
	}
	if e.alarm.Version != a.Version {
		e.since = time.Time{}
	}
	e.alarm = a
}

// acquire takes a slot. It returns false if the clock is closed first.
func (c *Clock) acquire(slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-c.closing.Done():
		return false
	}
}
