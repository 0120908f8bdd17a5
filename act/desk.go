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
	// sameWithin is how long equal calls are one action: a model that did not
	// get its answer asks again.
	sameWithin = 10 * time.Minute
	// maxWaiting bounds how many actions of one key may wait for the owner.
	maxWaiting = 20
	// pausedName is the file that is there while all actions are paused.
	pausedName = "paused"
)

// Queue is where actions are dealt with. Its methods may be called
// concurrently.
type Queue struct {
	cfg    Config
	log    *slog.Logger
	book   *people.Book
	finder *evidence.Finder
	ledger ledger

	proposing sync.Mutex // equal calls at the same time are one action
	// gate is held for reading from the last look at whether an action may be
	// carried out to its claim, and for writing by what forbids it.
	gate sync.RWMutex

	mu      sync.Mutex
	changes chan struct{} // closed at the next change
	paused  bool
	running map[string]bool // actions that are being carried out here
	resting time.Time       // nothing is begun before

	unsettled atomic.Bool // something is owed to the audit
	refusals  RefusalThrottle

	nudge   chan struct{} // something may be due
	closing <-chan struct{}
	stop    context.CancelFunc
	working sync.WaitGroup
}

// Open takes up what an earlier desk left, and carries out what is approved
// until Close.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	if cfg.Store == nil || cfg.Audit == nil || cfg.Zone == nil || cfg.Dir == "" {
		return nil, errors.New("act: Dir, Store, Audit and Zone are required")
	}
	cfg.Approval = cmp.Or(cfg.Approval, defaultApproval)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Fault == nil {
		cfg.Fault = func(string) {}
	}
	d := &Queue{
		cfg: cfg, log: cfg.Log, book: people.New(cfg.Store),
		ledger:  ledger{audit: cfg.Audit, log: cfg.Log},
		changes: make(chan struct{}), running: map[string]bool{}, nudge: make(chan struct{}, 1),
	}
	d.book.CallingCode = cfg.CallingCode
	for _, m := range cfg.Messengers {
		if p, ok := m.(hearken.SingleTarget); ok {
			if d.book.FixedTargets == nil {
				d.book.FixedTargets = map[string]string{}
			}
			d.book.FixedTargets[m.Name()] = p.Target()
		}
	}
	if cfg.Transcripts != nil {
		d.finder = evidence.New(cfg.Transcripts)
	}
	switch _, err := os.Stat(d.pausedPath()); {
	case err == nil:
		d.paused = true
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("look whether actions are paused: %w", err)
	}
	if err := d.recover(ctx); err != nil {
		return nil, err
	}
	if cfg.NewOwner {
		if err := d.disown(ctx); err != nil {
			return nil, err
		}
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop, d.closing = stop, background.Done()
	d.working.Go(func() { d.work(background) })
	d.wake()
	return d, nil
}

// Close ends the desk when what is being carried out has ended, or ctx has.
// What waits goes on waiting in the store.
func (d *Queue) Close(ctx context.Context) error {
	d.stop()
	ended := make(chan struct{})
	go func() {
		d.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close actions: %w", ctx.Err())
	}
}

// Changes is closed at the next change of any action, grant or of the desk
// itself.
func (d *Queue) Changes() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// changed tells everybody who waits, and the worker.
func (d *Queue) changed() {
	d.mu.Lock()
	close(d.changes)
	d.changes = make(chan struct{})
	d.mu.Unlock()
	d.wake()
}

func (d *Queue) wake() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

func (d *Queue) pausedPath() string { return filepath.Join(d.cfg.Dir, pausedName) }

// Pause stops all actions, also those that are approved, or lets them go on.
// It holds until it is taken back, also after a restart.
func (d *Queue) Pause(ctx context.Context, paused bool, from string) error {
	var err error
	if paused {
		err = os.WriteFile(d.pausedPath(), nil, 0o600)
	} else if err = os.Remove(d.pausedPath()); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	d.gate.Lock()
	d.mu.Lock()
	d.paused = paused || err != nil // in doubt nothing happens
	d.mu.Unlock()
	d.gate.Unlock()
	d.changed()
	if err != nil {
		return hearken.Errorf(hearken.RepositoryError, "Whether actions are paused could not be kept: %w.", err)
	}
	state := "resumed"
	if paused {
		state = "paused"
	}
	d.ledger.note(ctx, hearken.AuditRecord{Type: hearken.AuditPaused, State: state, By: "owner", From: from})
	return nil
}

// Paused reports whether nothing is carried out until the owner wants it.
func (d *Queue) Paused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paused
}

// Problem says why nothing can be done now; nil if all is well.
func (d *Queue) Problem() error {
	if d.Paused() {
		return hearken.Errorf(hearken.ActionsPaused, "The owner has paused all actions.").WithTry("hearken resume")
	}
	return d.ledger.problem()
}

// Action finds one action.
func (d *Queue) Action(ctx context.Context, id string) (*hearken.Action, error) {
	if !hearken.ValidActionID(id) {
		return nil, hearken.Errorf(hearken.NotFound, "%.60q is not the id of an action.", id).WithTry("hearken actions list")
	}
	return d.cfg.Store.Action(ctx, id)
}

// Actions lists actions, newest first. Reminders of which the owner could not
// be told say so.
func (d *Queue) Actions(ctx context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	found, err := d.cfg.Store.Actions(ctx, f)
	if err != nil || !slices.ContainsFunc(found, isSet) {
		return found, err
	}
	alarms, err := d.cfg.Store.Alarms(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	untold := map[string]string{}
	for i := range alarms {
		untold[alarms[i].Action] = alarms[i].Error
	}
	for i := range found {
		if isSet(found[i]) {
			found[i].Error = untold[found[i].ID]
		}
	}
	return found, nil
}

// isSet reports whether an action is a reminder that was set.
func isSet(a hearken.Action) bool {
	return a.Reminder != nil && a.State == hearken.ActionDone
}

// Await returns an action when nothing more will happen to it by itself, or
// as it is when the wait is over.
func (d *Queue) Await(ctx context.Context, id string, wait time.Duration) (*hearken.Action, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		changes := d.Changes() // asked for before looking, so that none is missed
		a, err := d.Action(ctx, id)
		if err != nil || a.State.Final() {
			return a, err
		}
		select {
		case <-changes:
		case <-over.C:
			return a, nil
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// update changes an action as it is stored, as long as change wants it:
// somebody else's change in between makes it look again. It reports whether
// the change was made.
func (d *Queue) update(ctx context.Context, id string, change func(a *hearken.Action) bool) (*hearken.Action, bool, error) {
	for {
		a, err := d.cfg.Store.Action(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if !change(a) {
			return a, false, nil
		}
		switch saved, err := d.cfg.Store.SaveAction(ctx, a); {
		case err != nil:
			return nil, false, err
		case saved:
			d.changed()
			return a, true, nil
		}
	}
}
