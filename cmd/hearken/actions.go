package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
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
	if c.JSON {
		if list == nil {
			list = []hearken.Action{}
		}
		return p.writeJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "No actions found.")
		return nil
	}
	t := p.table("ID", "ASKED", "KEY", "STATE", "WHAT")
	for i := range list {
		a := &list[i]
		t.row(a.ID, when(a.CreatedAt), a.Principal, act.StateText(a), act.Summary(a))
	}
	return t.flush()
}

type actionsUndoCmd struct {
	ID string `arg:"" help:"Id of the action."`
}

func (c *actionsUndoCmd) Run(ctx context.Context, p *program) error {
	req, err := p.asOwner(ctx, controlRequest{Op: "actions.undo", ID: c.ID})
	if err != nil {
		return err
	}
	a, err := control[hearken.Action](ctx, p, req)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %s\n", a.ID, act.StateText(&a))
	return nil
}

// whyCmd shows why an action happened: words, request, decision, effect.
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
			fmt.Fprintf(p.stdout, "  %-9s %s\n", name, tame(text))
		}
	}
	line("asked", when(a.CreatedAt))
	if d := a.Decision; d != nil {
		word := "denied"
		if d.Allow {
			word = "allowed"
		}
		text := fmt.Sprintf("%s by %s (%s), %s", word, d.By, d.From, when(d.At))
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
		effect += ", " + when(*a.EndedAt)
	}
	line("effect", effect)
	for _, r := range w.Audit {
		line("audit", strings.Join(strings.Fields(fmt.Sprintf("%d %s %s %s %s", r.Seq, r.Time, r.Type, r.State, r.Error)), " "))
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
