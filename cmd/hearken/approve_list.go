package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/safetext"
)

// A callInfo is what the owner is told about the call in which an action was
// requested.
type callInfo struct {
	Title    string    `json:"title,omitempty"`
	Start    time.Time `json:"start,omitzero"`    // zero if the session was deleted
	End      time.Time `json:"end,omitzero"`      // zero while the call goes on
	DecideBy time.Time `json:"decideBy,omitzero"` // zero while the call goes on
}

// call describes the call with a session's id.
func (a *App) call(ctx context.Context, req controlRequest) (any, error) {
	info := callInfo{End: a.queue.CallEnd(ctx, req.ID)}
	if !info.End.IsZero() {
		info.DecideBy = info.End.Add(act.AfterCall)
	}
	status, err := a.hub.Status(ctx, req.ID)
	switch {
	case hearken.CodeOf(err) == hearken.SessionNotFound:
		return info, nil
	case err != nil:
		return nil, err
	}
	info.Title, info.Start = status.Session.Title, status.Session.StartedAt
	return info, nil
}

// A callGroup is what was requested during one call, or during none.
type callGroup struct {
	call    *callInfo // nil for none
	actions []hearken.Action
}

// isOn reports whether the call goes on.
func (g *callGroup) isOn() bool { return g.call != nil && g.call.End.IsZero() }

// showPending prints pending actions, those of each call together and the most
// urgent first, and returns them in that order.
func (p *program) showPending(ctx context.Context, pending []hearken.Action) ([]hearken.Action, error) {
	if len(pending) == 0 {
		fmt.Fprintln(p.stderr, "Nothing waits for your approval.")
		return nil, nil
	}
	groups, err := p.groupByCall(ctx, pending)
	if err != nil {
		return nil, err
	}
	problem, err := control[string](ctx, p, controlRequest{Op: "actions.problem"})
	if err != nil {
		return nil, err
	}
	if problem != "" {
		fmt.Fprintf(p.stderr, "Nothing is carried out at the moment, also if you approve it. %s\n\n", problem)
	}
	var shown []hearken.Action
	now := time.Now()
	for _, g := range groups {
		heading, by := g.heading(now)
		if g.call != nil || len(groups) > 1 {
			fmt.Fprintln(p.stdout, heading)
		}
		for i := range g.actions {
			a := &g.actions[i]
			fmt.Fprint(p.stdout, act.Describe(a))
			if text := clockTime(g.decideBy(a), now); a.State == hearken.ActionPending && text != by && (!g.isOn() || act.Urgent(a, now)) {
				fmt.Fprintf(p.stdout, "  %-9s %s\n", "decide by", text)
			}
			fmt.Fprintln(p.stdout)
		}
		shown = append(shown, g.actions...)
	}
	return shown, nil
}

// groupByCall sorts actions by the time until which they must be decided, and
// puts those of a call together.
func (p *program) groupByCall(ctx context.Context, actions []hearken.Action) ([]callGroup, error) {
	slices.SortStableFunc(actions, func(a, b hearken.Action) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), a.CreatedAt.Compare(b.CreatedAt))
	})
	var groups []callGroup
	byCall := map[string]int{}
	for _, a := range actions {
		i, known := byCall[a.Call]
		if !known {
			i = len(groups)
			byCall[a.Call], groups = i, append(groups, callGroup{})
			if a.Call != "" {
				call, err := control[callInfo](ctx, p, controlRequest{Op: "actions.call", ID: a.Call})
				if err != nil {
					return nil, err
				}
				groups[i].call = &call
			}
		}
		groups[i].actions = append(groups[i].actions, a)
	}
	return groups, nil
}

// heading says during which call the actions of a group were requested and until
// when they can be decided. It also returns that time, if it is in the heading.
func (g *callGroup) heading(now time.Time) (text, by string) {
	if g.call == nil {
		return "Not during a call:", ""
	}
	c, text := g.call, "During a call"
	var details []string
	switch {
	case c.Start.IsZero():
		text += " that was deleted"
	case c.Title != "":
		text = fmt.Sprintf("During the call '%s'", safetext.Line(c.Title))
		fallthrough
	default:
		details = append(details, clockTime(c.Start, now))
	}
	switch {
	case g.isOn():
		details = append(details, "not over yet")
	case !c.Start.IsZero():
		details = append(details, "ended "+clockTime(c.End, now))
	}
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	if g.isOn() {
		return text + "; decide until half an hour after it:", ""
	}
	by = clockTime(g.decideBy(&g.actions[len(g.actions)-1]), now) // the latest
	return fmt.Sprintf("%s; decide by %s:", text, by), by
}

// decideBy returns until when an action can be decided. The hub notices the end of
// a call only after a while.
func (g *callGroup) decideBy(a *hearken.Action) time.Time {
	if c := g.call; c != nil && !c.DecideBy.IsZero() && c.DecideBy.Before(a.ExpiresAt) {
		return c.DecideBy
	}
	return a.ExpiresAt
}

// clockTime writes a time in this computer's zone, without the date if that is
// today's.
func clockTime(t, now time.Time) string {
	if t, now := t.Local(), now.Local(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return localTime(t)
}
