package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// approveCmd approves pending actions.
type approveCmd struct {
	IDs    []string      `arg:"" optional:"" name:"id" help:"IDs of actions. Without any, pending actions are listed, and on a terminal you decide one by one."`
	All    bool          `help:"Approve all actions that are pending now, but none that arrive meanwhile."`
	For    time.Duration `help:"Also allow similar actions without asking, for this long, such as 24h. Messages to people always ask."`
	PerDay int           `help:"With --for: at most this many a day."`
}

func (c *approveCmd) Run(ctx context.Context, p *program) error {
	v := act.DecisionRequest{Allow: true}
	if c.For > 0 {
		v.Grant = &act.GrantBounds{For: c.For, PerDay: c.PerDay}
	}
	if len(c.IDs) == 0 && !c.All && isTerminal(p.stdin) {
		return p.decideEach(ctx, v)
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

// decide shows pending actions and sends the same decision about each of them.
func (p *program) decide(ctx context.Context, ids []string, all bool, v act.DecisionRequest) error {
	shown, err := p.pendingActions(ctx, ids)
	if err != nil {
		return err
	}
	if shown, err = p.showPending(ctx, shown); err != nil || len(shown) == 0 {
		return err
	}
	if len(ids) == 0 && !all {
		try := fmt.Sprintf("hearken approve %s, or hearken deny %s", shown[0].ID, shown[0].ID)
		if i := slices.IndexFunc(shown, func(a hearken.Action) bool { return a.Grantable }); i >= 0 {
			try += fmt.Sprintf(", or hearken approve %s --for 24h to allow such actions for a day", shown[i].ID)
		}
		fmt.Fprintln(p.stderr, "Try: "+try)
		return nil
	}
	pin, err := p.pin()
	if err != nil {
		return err
	}
	d := p.newDecider(pin)
	for i := range shown {
		v := v
		if all {
			d.limitGrant(&shown[i], &v)
		}
		if err := d.decide(ctx, &shown[i], v); err != nil {
			return errors.Join(err, d.report(context.WithoutCancel(ctx)))
		}
	}
	return d.report(ctx)
}

// A decider sends decisions, each with the digest of what the owner saw. It
// waits for no result before all are sent: a slow one must not let the others
// expire.
type decider struct {
	p       *program
	pin     string
	from    string
	granted map[[3]string]bool // key, tool and target that have got a grant
	results []decisionResult
	errs    []error
}

func (p *program) newDecider(pin string) *decider {
	d := &decider{p: p, pin: pin, from: "terminal", granted: map[[3]string]bool{}}
	if p.cfg.OwnerPINFile != "" {
		d.from = "file"
	}
	return d
}

// alikeOf is the same for actions that one grant covers.
func alikeOf(a *hearken.Action) [3]string { return [3]string{a.Principal, a.Tool, a.Target} }

// limitGrant makes a decision about one of several actions: those that cannot be
// granted are approved once, and one grant is enough for those alike.
func (d *decider) limitGrant(a *hearken.Action, v *act.DecisionRequest) {
	if !a.Grantable || d.granted[alikeOf(a)] {
		v.Grant = nil
	}
}

// decide sends a decision about an action. It fails if the other decisions would
// fail too, as with a wrong PIN.
func (d *decider) decide(ctx context.Context, a *hearken.Action, v act.DecisionRequest) error {
	v.ID, v.Digest, v.From = a.ID, a.Digest, d.from
	got, err := control[decisionResult](ctx, d.p, controlRequest{Op: "actions.decide", PIN: d.pin, Verdict: &v})
	if code := hearken.CodeOf(err); code == hearken.Unauthorized || code == hearken.RateLimited {
		return err
	}
	if err != nil {
		d.errs = append(d.errs, fmt.Errorf("%s: %w", v.ID, err))
		return nil
	}
	if v.Grant != nil {
		d.granted[alikeOf(a)] = true
	}
	d.results = append(d.results, got)
	return nil
}

// report prints what has become of the actions.
func (d *decider) report(ctx context.Context) error {
	for _, got := range d.results {
		if got.Decided && !got.Action.State.Final() {
			a, err := control[hearken.Action](ctx, d.p, controlRequest{Op: "actions.await", ID: got.Action.ID})
			if err != nil {
				d.errs = append(d.errs, fmt.Errorf("%s: %w", got.Action.ID, err))
				continue
			}
			got.Action = a
		}
		verb := ": "
		if !got.Decided {
			verb = " had already been decided: "
		}
		fmt.Fprintln(d.p.stdout, got.Action.ID+verb+act.StateText(&got.Action))
	}
	return errors.Join(d.errs...)
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
