package mcpserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/mcpserver"
)

var _ mcpserver.ActionQueue = (*fakeQueue)(nil)

// A fakeQueue decides as a real one does, and does nothing. It counts what it
// would have done.
type fakeQueue struct {
	life time.Duration // of an action that waits

	mu       sync.Mutex
	changes  chan struct{}
	actions  map[string]*hearken.Action
	requests []act.Request
	effects  map[string]int // by action
	verdicts []act.DecisionRequest
	refuse   error // what Propose says
	source   hearken.Origin
	quote    string // what was said
	call     string // the session that is a call now
	stuck    bool   // what is approved is not carried out
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{life: 10 * time.Minute, changes: make(chan struct{}), actions: map[string]*hearken.Action{}, effects: map[string]int{}, source: hearken.Microphone}
}

func (d *fakeQueue) Propose(_ context.Context, r act.Request) (*hearken.Action, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, r)
	if d.refuse != nil {
		return nil, d.refuse
	}
	args, _ := json.Marshal([]any{r.Tool, r.Calendar, r.Message, r.Reminder})
	digest := fmt.Sprintf("%x", sha256.Sum256(args))
	for _, a := range d.actions {
		if a.Digest == digest && a.Principal == r.Principal && a.State != hearken.ActionCancelled {
			return d.copy(a), nil
		}
	}
	now := time.Now()
	a := &hearken.Action{
		ID: hearken.NewActionID(r.Tool), Tool: r.Tool, Principal: r.Principal, Client: r.Client, State: hearken.ActionPending, Target: "builtin",
		Digest: digest, CreatedAt: now, ExpiresAt: now.Add(d.life), Evidence: []hearken.Evidence{{Arg: "title", Source: d.source, Quote: d.quote}}, Call: d.call,
	}
	if c := r.Calendar; c != nil {
		a.Appointment = &hearken.Appointment{Title: c.Title, Start: now, Zone: "UTC", Duration: time.Hour}
	}
	d.actions[a.ID] = a
	d.changed()
	return d.copy(a), nil
}

func (d *fakeQueue) copy(a *hearken.Action) *hearken.Action { c := *a; return &c }

func (d *fakeQueue) changed() {
	close(d.changes)
	d.changes = make(chan struct{})
}

func (d *fakeQueue) Action(_ context.Context, id string) (*hearken.Action, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.actions[id]
	if !ok {
		return nil, hearken.Errorf(hearken.NotFound, "There is no action %s.", id)
	}
	return d.copy(a), nil
}

func (d *fakeQueue) Await(ctx context.Context, id string, wait time.Duration) (*hearken.Action, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		d.mu.Lock()
		changes := d.changes
		d.mu.Unlock()
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

func (d *fakeQueue) Decide(_ context.Context, v act.DecisionRequest) (*hearken.Action, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.actions[v.ID]
	if !ok || a.Digest != v.Digest {
		return nil, false, hearken.Errorf(hearken.ApprovalMismatch, "This is not the action that was shown.")
	}
	if a.State != hearken.ActionPending {
		return d.copy(a), false, nil
	}
	d.verdicts = append(d.verdicts, v)
	switch {
	case !v.Allow:
		a.State, a.Error = hearken.ActionDenied, "denied: the owner said no."
	case d.stuck:
		a.State = hearken.ActionExecuting
	default:
		a.State = hearken.ActionDone
		d.effects[a.ID]++
	}
	d.changed()
	return d.copy(a), true, nil
}

func (d *fakeQueue) Withdraw(ctx context.Context, principal, id string) (*hearken.Action, error) {
	a, err := d.Action(ctx, id)
	if err != nil || a.State != hearken.ActionPending {
		return a, err
	}
	return d.Cancel(ctx, principal, id)
}

func (d *fakeQueue) Cancel(_ context.Context, principal, id string) (*hearken.Action, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.actions[id]
	switch {
	case !ok || principal != "" && a.Principal != principal:
		return nil, hearken.Errorf(hearken.NotFound, "There is no action %s of yours.", id)
	case a.State == hearken.ActionPending:
		a.State, a.Error = hearken.ActionCancelled, "cancelled: it was taken back before it was carried out."
	case a.State == hearken.ActionDone:
		a.State = hearken.ActionUndone
	}
	d.changed()
	return d.copy(a), nil
}

// pending waits for an action that waits for its owner.
func (d *fakeQueue) pending(t testing.TB) *hearken.Action {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		d.mu.Lock()
		changes := d.changes
		for _, a := range d.actions {
			if a.State == hearken.ActionPending {
				defer d.mu.Unlock()
				return d.copy(a)
			}
		}
		d.mu.Unlock()
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatal("no action came to wait")
		}
	}
}

// settled waits until an action has ended, and says how.
func (d *fakeQueue) settled(t testing.TB, id string) hearken.ActionState {
	t.Helper()
	a, err := d.Await(t.Context(), id, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return a.State
}

func (d *fakeQueue) owner(t testing.TB, a *hearken.Action, allow bool) {
	t.Helper()
	if _, decided, err := d.Decide(t.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: allow, By: "owner", From: "terminal"}); err != nil || !decided {
		t.Errorf("the owner decides: %t, %v", decided, err)
	}
}

func (d *fakeQueue) done() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, times := range d.effects {
		n += times
	}
	return n
}
