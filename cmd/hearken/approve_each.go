package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/safetext"
)

// dayGrant is what a person can add to a yes.
const dayGrant = 24 * time.Hour

// decideEach shows the pending actions, asks for the PIN once and lets the owner
// decide one by one.
func (p *program) decideEach(ctx context.Context, v act.DecisionRequest) error {
	pending, err := p.pendingActions(ctx, nil)
	if err != nil {
		return err
	}
	shown, err := p.showPending(ctx, pending)
	if err != nil || len(shown) == 0 {
		return err
	}
	pin, err := p.checkedPIN(ctx)
	if err != nil {
		return err
	}
	d := p.newDecider(pin)
	// What was decided is reported, however the questions ended.
	if err := errors.Join(p.askEach(ctx, d, shown, v), d.report(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	return p.countLater(ctx, shown)
}

// checkedPIN asks for the PIN and checks it: nobody should answer many questions
// in vain.
func (p *program) checkedPIN(ctx context.Context) (pin string, err error) {
	set, err := control[bool](ctx, p, controlRequest{Op: "owner.set"})
	if err == nil && set {
		pin, err = p.pin()
	}
	if err == nil {
		_, err = control[bool](ctx, p, controlRequest{Op: "owner.check", PIN: pin})
	}
	return pin, err
}

// askEach asks about each action until the owner quits.
func (p *program) askEach(ctx context.Context, d *decider, shown []hearken.Action, v act.DecisionRequest) error {
	lines := readLines(ctx, bufio.NewReader(p.stdin))
	all := false
	for i := range shown {
		a, verdict := &shown[i], v
		if !all {
			fmt.Fprintf(p.stderr, "%d of %d: %s (%s)\n", i+1, len(shown), safetext.Marked(act.Summary(a)), a.ID)
			answer, err := p.ask(ctx, lines, choices(a, len(shown)-i, v.Grant == nil))
			if err != nil {
				return err
			}
			switch answer {
			case "s":
				continue
			case "q":
				return nil
			case "n":
				verdict = act.DecisionRequest{}
			case "g":
				verdict.Grant = &act.GrantBounds{For: dayGrant}
			case "a":
				all = true
			}
		}
		d.limitGrant(a, &verdict)
		if err := d.decide(ctx, a, verdict); err != nil {
			return err
		}
	}
	return nil
}

// A choice is an answer to a question: its letter is in brackets.
type choice string

// letter returns what a person types.
func (c choice) letter() string {
	_, rest, _ := strings.Cut(string(c), "[")
	letter, _, _ := strings.Cut(rest, "]")
	return letter
}

// choices returns the possible answers about an action. A grant is offered only
// where one is possible.
func choices(a *hearken.Action, left int, offerGrant bool) []choice {
	out := []choice{"[y]es"}
	if a.Grantable && offerGrant {
		out = append(out, "yes and [g]rant such actions for a day")
	}
	out = append(out, "[n]o", "[s]kip")
	if left > 1 {
		out = append(out, choice(fmt.Sprintf("approve [a]ll %d shown", left)))
	}
	return append(out, "[q]uit")
}

// ask asks until the answer is one of the choices, by its letter or its word. The
// end of the input is a q.
func (p *program) ask(ctx context.Context, lines <-chan string, offered []choice) (string, error) {
	var texts []string
	for _, c := range offered {
		texts = append(texts, string(c))
	}
	for {
		fmt.Fprint(p.stderr, strings.Join(texts, ", ")+": ")
		select {
		case line, ok := <-lines:
			if !ok {
				fmt.Fprintln(p.stderr)
				return "q", nil
			}
			answer := strings.ToLower(strings.TrimSpace(line))
			for _, c := range offered {
				if answer == c.letter() || answer == strings.NewReplacer("[", "", "]", "").Replace(string(c)) {
					return c.letter(), nil
				}
			}
		case <-ctx.Done():
			fmt.Fprintln(p.stderr)
			return "", ctx.Err()
		}
	}
}

// readLines sends the lines of a reader until it or ctx ends. Reading from a
// terminal cannot be interrupted, so one read may outlive ctx.
func readLines(ctx context.Context, r *bufio.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// countLater says how many actions have arrived since the list was shown.
func (p *program) countLater(ctx context.Context, shown []hearken.Action) error {
	pending, err := p.pendingActions(ctx, nil)
	if err != nil {
		return err
	}
	later := slices.DeleteFunc(pending, func(a hearken.Action) bool {
		return slices.ContainsFunc(shown, func(s hearken.Action) bool { return s.ID == a.ID })
	})
	if len(later) > 0 {
		fmt.Fprintf(p.stderr, "%d more arrived meanwhile. Try: hearken approve\n", len(later))
	}
	return nil
}
