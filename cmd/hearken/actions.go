package main

import (
	"context"
	"fmt"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/safetext"
)

type actionsCmd struct {
	List actionsListCmd `cmd:"" default:"withargs" help:"List actions, newest first."`
	Undo actionsUndoCmd `cmd:"" help:"Cancel an action, or undo it if it already ran and can be undone."`

	Calendar actionsCalendarCmd `cmd:"" help:"Show the address at which you can subscribe to the built-in calendar."`
}

type actionsCalendarCmd struct{}

func (c *actionsCalendarCmd) Run(ctx context.Context, p *program) error {
	address, err := control[string](ctx, p, controlRequest{Op: "actions.calendar"})
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, address)
	fmt.Fprintln(p.stderr, "Subscribe to this address in a calendar program. Whoever knows it can read the calendar.")
	return nil
}

type actionsListCmd struct {
	State []string `help:"Show only actions in these states: pending, approved, executing, done, failed, unknown, denied, expired, cancelled, undone."`
	Limit int      `default:"50" help:"How many to show."`
	JSON  bool     `help:"Write JSON."`
}

func (c *actionsListCmd) Run(ctx context.Context, p *program) error {
	f := hearken.ActionFilter{Limit: c.Limit}
	for _, s := range c.State {
		f.States = append(f.States, hearken.ActionState(s))
	}
	list, err := control[[]hearken.Action](ctx, p, controlRequest{Op: "actions.list", Actions: &f})
	if err != nil {
		return err
	}
	return writeList(p, c.JSON, list, "No actions found.",
		[]string{"ID", "ASKED", "KEY", "STATE", "WHAT"}, func(a *hearken.Action) []string {
			return []string{a.ID, localTime(a.CreatedAt), a.Principal, act.StateText(a), act.Summary(a)}
		})
}

type actionsUndoCmd struct {
	ID string `arg:"" help:"Id of the action."`
}

// Run asks for the PIN only if it is needed: what a grant allowed within the last
// day can be undone without it.
func (c *actionsUndoCmd) Run(ctx context.Context, p *program) error {
	a, err := control[hearken.Action](ctx, p, controlRequest{Op: "actions.undo-granted", ID: c.ID})
	if hearken.CodeOf(err) == hearken.Forbidden {
		a, err = ownerControl[hearken.Action](ctx, p, controlRequest{Op: "actions.undo", ID: c.ID})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %s\n", a.ID, act.StateText(&a))
	return nil
}

// whyCmd explains an action: words, request, decision and effect.
type whyCmd struct {
	ID   string `arg:"" help:"Id of the action."`
	JSON bool   `help:"Write JSON."`
}

func (c *whyCmd) Run(ctx context.Context, p *program) error {
	w, err := control[why](ctx, p, controlRequest{Op: "actions.why", ID: c.ID})
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(w)
	}
	a := &w.Action
	fmt.Fprint(p.stdout, act.Describe(a))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(p.stdout, "  %-9s %s\n", name, safetext.Line(text))
		}
	}
	line("asked", localTime(a.CreatedAt))
	if d := a.Decision; d != nil {
		word := "denied"
		if d.Allow {
			word = "allowed"
		}
		text := fmt.Sprintf("%s by %s (%s), %s", word, d.By, d.From, localTime(d.At))
		if d.Grant != "" {
			text += ", under " + d.Grant
		}
		if d.Reason != "" {
			text += ": " + d.Reason
		}
		line("decision", text)
	}
	effect := act.Effect(a)
	if a.EndedAt != nil {
		effect += ", " + localTime(*a.EndedAt)
	}
	line("effect", effect)
	for _, r := range w.Audit {
		line("audit", fmt.Sprintf("%d %s %s %s %s", r.Seq, r.Time, r.Type, r.State, r.Error))
	}
	return nil
}

// why is an action with its audit records.
type why struct {
	Action hearken.Action `json:"action"`
	Audit  []auditLine    `json:"audit"`
}

// An auditLine is an audit record as why shows it.
type auditLine struct {
	Seq   int64  `json:"seq"`
	Time  string `json:"ts"`
	Type  string `json:"type"`
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
}
