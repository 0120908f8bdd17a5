package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// approveCmd approves pending actions.
type approveCmd struct {
	IDs    []string      `arg:"" optional:"" name:"id" help:"IDs of actions. Without any, pending actions are listed."`
	All    bool          `help:"Approve all actions that are pending now, but none that arrive meanwhile."`
	For    time.Duration `help:"Also allow similar actions without asking, for this long, such as 24h."`
	PerDay int           `help:"With --for: at most this many a day."`
}

func (c *approveCmd) Run(ctx context.Context, p *program) error {
	v := act.DecisionRequest{Allow: true}
	if c.For > 0 {
		v.Grant = &act.GrantBounds{For: c.For, PerDay: c.PerDay}
	}
	return p.decide(ctx, c.IDs, c.All, v)
}

// denyCmd denies pending actions.
type denyCmd struct {
	IDs    []string `arg:"" optional:"" name:"id" help:"IDs of actions. Without any, pending actions are listed."`
	All    bool     `help:"Deny all actions that are pending now."`
	Reason string   `help:"A reason to keep with the decision. The agent is not told."`
}

func (c *denyCmd) Run(ctx context.Context, p *program) error {
	return p.decide(ctx, c.IDs, c.All, act.DecisionRequest{Reason: c.Reason})
}

// decide shows pending actions and sends the owner's decision. Each decision
// names the digest of what the owner saw.
func (p *program) decide(ctx context.Context, ids []string, all bool, v act.DecisionRequest) error {
	shown, err := p.pendingActions(ctx, ids)
	if err != nil {
		return err
	}
	if len(shown) == 0 {
		fmt.Fprintln(p.stderr, "Nothing waits for your approval.")
		return nil
	}
	for i := range shown {
		fmt.Fprintln(p.stdout, act.Describe(&shown[i]))
	}
	if len(ids) == 0 && !all {
		fmt.Fprintf(p.stderr, "Try: hearken approve %s, or hearken deny %s\n", shown[0].ID, shown[0].ID)
		return nil
	}
	pin, err := p.pin()
	if err != nil {
		return err
	}
	v.From = "terminal"
	if p.cfg.OwnerPINFile != "" {
		v.From = "file"
	}
	// Decide about all before waiting for any: a slow one must not let the
	// others expire.
	var results []decisionResult
	var errs []error
	for i := range shown {
		v.ID, v.Digest = shown[i].ID, shown[i].Digest
		got, err := control[decisionResult](ctx, p, controlRequest{Op: "actions.decide", PIN: pin, Verdict: &v})
		if code := hearken.CodeOf(err); code == hearken.Unauthorized || code == hearken.RateLimited {
			return err // the PIN is wrong; it would be for the others too
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v.ID, err))
			continue
		}
		results = append(results, got)
	}
	for _, got := range results {
		if got.Decided && !got.Action.State.Final() {
			a, err := control[hearken.Action](ctx, p, controlRequest{Op: "actions.await", ID: got.Action.ID})
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", got.Action.ID, err))
				continue
			}
			got.Action = a
		}
		verb := ": "
		if !got.Decided {
			verb = " had already been decided: "
		}
		fmt.Fprintln(p.stdout, got.Action.ID+verb+act.StateText(&got.Action))
	}
	return errors.Join(errs...)
}

// pendingActions returns the named actions, or all pending ones.
func (p *program) pendingActions(ctx context.Context, ids []string) ([]hearken.Action, error) {
	if len(ids) == 0 {
		return control[[]hearken.Action](ctx, p, controlRequest{
			Op: "actions.list", Actions: &hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}},
		})
	}
	var out []hearken.Action
	for _, id := range ids {
		a, err := control[hearken.Action](ctx, p, controlRequest{Op: "actions.get", ID: id})
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// A decisionResult is the result of a decision.
type decisionResult struct {
	Action  hearken.Action `json:"action"`
	Decided bool           `json:"decided"` // false if somebody else decided first
}

// pauseCmd pauses all actions. It needs no PIN: stopping is always allowed.
type pauseCmd struct{}

func (c *pauseCmd) Run(ctx context.Context, p *program) error {
	if _, err := control[struct{}](ctx, p, controlRequest{Op: "actions.pause"}); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "All actions are paused. Try: hearken resume")
	return nil
}

// resumeCmd resumes actions.
type resumeCmd struct{}

func (c *resumeCmd) Run(ctx context.Context, p *program) error {
	if _, err := ownerControl[struct{}](ctx, p, controlRequest{Op: "actions.resume"}); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Actions are resumed.")
	return nil
}
