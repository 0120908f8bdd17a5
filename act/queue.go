package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
	"github.com/hearken-dev/hearken/act/people"
)

const (
	defaultApproval = 10 * time.Minute
	// duplicateWindow is how long equal calls mean the same action: a model
	// that got no answer repeats its call.
	duplicateWindow = 10 * time.Minute
	// maxPendingPerKey is how many actions of one key may wait for the owner.
	maxPendingPerKey = 20
	// pausedName is the file that exists while all actions are paused.
	pausedName = "paused"
)

// A Queue holds actions from the request to the result. Its methods may be
// called concurrently.
type Queue struct {
	cfg    Config
	log    *slog.Logger
	book   *people.Book
	finder *evidence.Finder
	audit  auditWriter

	// proposing is held by whoever reads transcripts and stores an action, so
	// that equal calls at the same time are one action.
	proposing chan struct{}
	// gate is held for reading from the last check of whether an action may be
	// carried out until it is claimed, and for writing by whatever forbids it.
	gate sync.RWMutex

	mu           sync.Mutex
	changes      chan struct{} // closed at the next change
	paused       bool
	reserved     map[string]int  // how many attempts and decisions hold an action; see [Queue.reserve]
	backOffUntil time.Time       // nothing starts before
	auditPending atomic.Bool     // an action's audit record may be missing
	announced    map[string]bool // calls whose end the owner was told of; only the worker uses it
	urged        map[string]bool // actions that the owner was told of during their call; only the worker uses it
	refusals     RefusalThrottle

	wakeup  chan struct{} // something may be due
	closing <-chan struct{}
	stop    context.CancelFunc
	working sync.WaitGroup
}

// Open continues what an earlier queue left, and carries out approved actions
// until Close.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	if cfg.Store == nil || cfg.Audit == nil || cfg.Exposure == nil || cfg.Zone == nil || cfg.Dir == "" {
		return nil, errors.New("act: Dir, Store, Audit, Exposure and Zone are required")
	}
	cfg.Approval = cmp.Or(cfg.Approval, defaultApproval)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.NoNotifier == nil {
		cfg.NoNotifier = func() string { return "" }
	}
	if cfg.OnNotice == nil {
		cfg.OnNotice = func(Notice) {}
	}
	if cfg.Failpoint == nil {
		cfg.Failpoint = func(string) {}
	}
	q := &Queue{
		cfg: cfg, log: cfg.Log, book: people.New(cfg.Store),
		audit:   auditWriter{audit: cfg.Audit, log: cfg.Log, now: cfg.Now},
		changes: make(chan struct{}), reserved: map[string]int{}, announced: map[string]bool{}, urged: map[string]bool{},
		wakeup: make(chan struct{}, 1), proposing: make(chan struct{}, 1),
	}
	q.book.CallingCode, q.book.FixedTargets = cfg.CallingCode, map[string]people.FixedTarget{}
	for _, m := range cfg.Messengers {
		if p, ok := m.(hearken.SingleTarget); ok {
			q.book.FixedTargets[m.Name()] = people.FixedTarget{Address: p.Target(), Own: p.Own()}
		}
	}
	if cfg.Transcripts != nil {
		q.finder = evidence.New(cfg.Transcripts)
	}
	switch _, err := os.Stat(q.pausedPath()); {
	case err == nil:
		q.paused = true
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("check whether actions are paused: %w", err)
	}
	if err := q.recover(ctx); err != nil {
		return nil, err
	}
	if cfg.NewOwner {
		if err := q.revokePreviousOwner(ctx); err != nil {
			return nil, err
		}
	}
	if err := q.revokeMessageGrants(ctx); err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	q.stop, q.closing = stop, background.Done()
	q.working.Go(func() { q.run(background) })
	q.wake()
	return q, nil
}

// Close stops the queue. It waits until running actions have ended or ctx has.
// Pending actions stay in the store.
func (q *Queue) Close(ctx context.Context) error {
	q.stop()
	ended := make(chan struct{})
	go func() {
		q.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close actions: %w", ctx.Err())
	}
}

// Changes returns a channel that is closed at the next change of any action,
// grant or of the queue itself.
func (q *Queue) Changes() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changes
}

// changed wakes all who wait for a change, and the worker.
func (q *Queue) changed() {
	q.mu.Lock()
	close(q.changes)
	q.changes = make(chan struct{})
	q.mu.Unlock()
	q.wake()
}

func (q *Queue) wake() {
	select {
	case q.wakeup <- struct{}{}:
	default:
	}
}

func (q *Queue) pausedPath() string { return filepath.Join(q.cfg.Dir, pausedName) }

// Pause stops all actions, approved ones included, or resumes them. It holds
// until it is revoked, also after a restart.
func (q *Queue) Pause(ctx context.Context, paused bool, from string) error {
	var err error
	if paused {
		err = os.WriteFile(q.pausedPath(), nil, 0o600)
	} else if err = os.Remove(q.pausedPath()); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	q.gate.Lock()
	q.mu.Lock()
	q.paused = paused || err != nil // if in doubt, nothing is done
	q.mu.Unlock()
	q.gate.Unlock()
	q.changed()
	if err != nil {
		return hearken.Errorf(hearken.RepositoryError, "The pause could not be saved: %w.", err)
	}
	state := "resumed"
	if paused {
		state = "paused"
	}
	q.audit.writeOrQueue(ctx, hearken.AuditRecord{Type: hearken.AuditPaused, State: state, By: "owner", From: from})
	return nil
}

// Paused reports whether the owner has paused all actions.
func (q *Queue) Paused() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.paused
}

// Problem says why no action can be carried out; nil if there is no problem.
func (q *Queue) Problem() error {
	if q.Paused() {
		return hearken.Errorf(hearken.ActionsPaused, "The owner has paused all actions.").WithTry("hearken resume")
	}
	return q.audit.problem()
}

// Action returns one action.
func (q *Queue) Action(ctx context.Context, id string) (*hearken.Action, error) {
	if !hearken.ValidActionID(id) {
		return nil, hearken.Errorf(hearken.NotFound, "%.60q is not the id of an action.", id).WithTry("hearken actions list")
	}
	return q.cfg.Store.Action(ctx, id)
}

// Actions lists actions, newest first. A reminder whose last notification
// failed carries that error.
func (q *Queue) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	found, err := q.cfg.Store.Actions(ctx, f)
	if err != nil || !slices.ContainsFunc(found, isSetReminder) {
		return found, err
	}
	alarms, err := q.cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	failed := map[string]hearken.Alarm{}
	for i := range alarms {
		failed[alarms[i].Action] = alarms[i]
	}
	for i := range found {
		if isSetReminder(found[i]) {
			found[i].Code, found[i].Error = failed[found[i].ID].Code, failed[found[i].ID].Error
		}
	}
	return found, nil
}

// isSetReminder reports whether an action is a reminder that was set.
func isSetReminder(a hearken.Action) bool {
	return a.Reminder != nil && a.State == hearken.ActionDone
}

// Await returns an action when it has ended, or in its current state after
// wait.
func (q *Queue) Await(ctx context.Context, id string, wait time.Duration) (*hearken.Action, error) {
	over := time.After(wait)
	for {
		changes := q.Changes() // before reading, so that no change is missed
		a, err := q.Action(ctx, id)
		if err != nil || a.State.Final() {
			return a, err
		}
		select {
		case <-changes:
		case <-over:
			return a, nil
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// changeAndRecord is [Queue.update] for a change that sets PendingAudit. It
// also writes that record.
func (q *Queue) changeAndRecord(ctx context.Context, id string, change func(a *hearken.Action) bool) (*hearken.Action, bool, error) {
	a, changed, err := q.update(ctx, id, change)
	if changed {
		q.recordChange(ctx, a)
	}
	return a, changed, err
}

// update changes a stored action. If somebody else changes it at the same time,
// change is called again with the new state; it returns false to leave the
// action as it is. update reports whether it saved a change.
func (q *Queue) update(ctx context.Context, id string, change func(a *hearken.Action) bool) (*hearken.Action, bool, error) {
	for {
		a, err := q.cfg.Store.Action(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if !change(a) {
			return a, false, nil
		}
		switch saved, err := q.cfg.Store.SaveAction(ctx, a); {
		case err != nil:
			return nil, false, err
		case saved:
			q.changed()
			return a, true, nil
		}
	}
}
