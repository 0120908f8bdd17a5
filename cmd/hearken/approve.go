package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// approveCmd allows what waits for its owner.
type approveCmd struct {
	IDs    []string      `arg:"" optional:"" name:"id" help:"Ids of actions. Without any, list what is waiting."`
	All    bool          `help:"Decide on everything listed now, but on nothing that arrives meanwhile."`
	For    time.Duration `help:"Also allow actions like this one without asking, for this long, such as 24h."`
	PerDay int           `help:"With --for: how many per day."`
}

func (c *approveCmd) Run(ctx context.Context, p *program) error {
	v := act.Verdict{Allow: true}
	if c.For > 0 {
		v.Grant = &act.GrantBounds{For: c.For, PerDay: c.PerDay}
	}
	return p.decide(ctx, c.IDs, c.All, v)
}

// denyCmd refuses what waits for its owner.
type denyCmd struct {
	IDs    []string `arg:"" optional:"" name:"id" help:"Ids of actions. Without any, list what is waiting."`
	All    bool     `help:"Decide on everything listed now."`
	Reason string   `help:"Why. It is stored with the decision."`
}

func (c *denyCmd) Run(ctx context.Context, p *program) error {
	return p.decide(ctx, c.IDs, c.All, act.Verdict{Reason: c.Reason})
}

// decide shows what waits, and sends the owner's word about it. What was shown
// is what is decided: each verdict names the digest of what the owner saw.
func (p *program) decide(ctx context.Context, ids []string, all bool, v act.Verdict) error {
	shown, err := p.waiting(ctx, ids)
	if err != nil {
		return err
	}
	if len(shown) == 0 {
		fmt.Fprintln(p.stderr, "Nothing waits for you.")
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
	// All are decided before any is waited for: one that takes its time must not
	// let the others expire.
	var results []decided
	var errs []error
	for i := range shown {
		v.ID, v.Digest = shown[i].ID, shown[i].Digest
		got, err := control[decided](ctx, p, controlRequest{Op: "actions.decide", PIN: pin, Verdict: &v})
		if code := hearken.CodeOf(err); code == hearken.Unauthorized || code == hearken.RateLimited {
			return err // the PIN; it would be wrong again
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
		fmt.Fprintln(p.stdout, got.words())
	}
	return errors.Join(errs...)
}

// waiting are the named actions, or all that wait.
func (p *program) waiting(ctx context.Context, ids []string) ([]hearken.Action, error) {
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

// decided is what became of a verdict.
type decided struct {
	Action  hearken.Action `json:"action"`
	Decided bool           `json:"decided"` // by this verdict
}

func (d *decided) words() string {
	if !d.Decided {
		return d.Action.ID + " was decided before: " + stateWords(&d.Action)
	}
	return d.Action.ID + ": " + stateWords(&d.Action)
}

// stateWords says where an action is.
func stateWords(a *hearken.Action) string {
	words := string(a.State)
	if a.Error != "" {
		_, sentence, _ := strings.Cut(a.Error, ": ")
		words += " (" + sentence + ")"
	}
	return words
}

// pauseCmd stops everything. It asks for nothing: stopping is always allowed.
type pauseCmd struct{}

func (c *pauseCmd) Run(ctx context.Context, p *program) error {
	if _, err := control[struct{}](ctx, p, controlRequest{Op: "actions.pause"}); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "All actions are paused. Try: hearken resume")
	return nil
}

// resumeCmd lets actions go on.
type resumeCmd struct{}

func (c *resumeCmd) Run(ctx context.Context, p *program) error {
	req, err := p.asOwner(ctx, controlRequest{Op: "actions.resume"})
	if err != nil {
		return err
	}
	if _, err := control[struct{}](ctx, p, req); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Actions go on.")
	return nil
}
