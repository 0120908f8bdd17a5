package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/act"
)

const (
	approvers = 20 // decide about one action at the same time
	terminals = 2  // of them
)

// measureActRace has many owners decide about the same actions at the same
// time, half of them yes and half of them no: at the page, over the local
// socket and with the commands.
func measureActRace(ctx context.Context, b *bench) error {
	n := 200
	if b.quick {
		n = 20
	}
	h, err := b.startActing(ctx, "act-race", 10, "RATE_LIMIT=100000")
	if err != nil {
		return err
	}
	defer h.stop()
	r, err := newRace(ctx, h)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	wishes := make(chan int, n)
	for i := range n {
		wishes <- i
	}
	close(wishes)
	var agents sync.WaitGroup
	for _, key := range h.keys {
		agents.Go(func() {
			agent := &act.Agent{URL: h.url, Key: key}
			for i := range wishes {
				if err := wish(ctx, agent, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	begun := time.Now()
	for raced := 0; raced < n && ctx.Err() == nil; {
		waiting, err := h.owner.Actions(ctx, hearken.ActionPending)
		if err != nil {
			cancel(err)
			break
		}
		for i := range waiting {
			if err := r.decide(ctx, &waiting[i]); err != nil {
				cancel(err)
				break
			}
			raced++
		}
		wait(ctx, 5*time.Millisecond)
	}
	agents.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w %s", err, h.logs)
	}
	return r.report(ctx, b, n, time.Since(begun))
}

// wish asks for one appointment and waits until something was decided.
func wish(ctx context.Context, agent *act.Agent, i int) error {
	start := time.Now().AddDate(0, 0, 1).Truncate(time.Hour).Add(time.Duration(i) * time.Hour)
	got, err := agent.Call(ctx, hearken.CalendarCreate, map[string]any{
		"title": fmt.Sprintf("Walk wish-%04d", i), "start": start.Format(time.RFC3339), "duration_min": 30,
	})
	if err != nil {
		return err
	}
	if got.Status != "ok" && got.Code() != hearken.ActionWasDenied {
		return fmt.Errorf("wish %d: %s", i, got.Error)
	}
	return nil
}

// A race is one owner in twenty places.
type race struct {
	h       *actingHub
	pages   []*act.Page
	script  *script
	typing  time.Duration          // how long one check of the PIN takes
	running time.Duration          // and how long a command, besides
	done    map[string][]act.Racer // by action, who was told to have decided
}

func newRace(ctx context.Context, h *actingHub) (*race, error) {
	r := &race{h: h, done: map[string][]act.Racer{}, script: &script{h, filepath.Join(h.b.dir, "pin")}}
	if err := os.WriteFile(r.script.pinFile, []byte(actPIN+"\n"), 0o600); err != nil {
		return nil, err
	}
	begun := time.Now()
	for range approvers - terminals {
		page, err := act.SignIn(ctx, h.url, actPIN)
		if err != nil {
			return nil, err
		}
		r.pages = append(r.pages, page)
	}
	r.typing = time.Since(begun) / time.Duration(len(r.pages))
	begun = time.Now()
	_, err := h.command(ctx, nil, "actions", "list")
	r.running = time.Since(begun)
	return r, err
}

// decide lets all of them loose upon one action. At a terminal the PIN has to
// be checked first, which takes long; those at the page come all together about
// when that is over, so that now the one wins and now the other.
func (r *race) decide(ctx context.Context, a *hearken.Action) error {
	before, commands := r.typing, len(r.done)%5 == 0
	if commands {
		before += r.running
	}
	before = time.Duration((0.5 + rand.Float64()) * float64(before))
	var racers []act.Racer
	for i := range approvers {
		x := act.Racer{Allow: (i+len(r.done))%2 == 0}
		switch {
		case i < len(r.pages):
			x.From, x.By = "page", r.pages[i]
			x.Wait = func() { wait(ctx, before+time.Duration(rand.Int64N(int64(3*time.Millisecond)))) }
		case commands:
			x.From, x.By = "file", r.script
		default:
			x.From, x.By = "terminal", r.h.owner
		}
		racers = append(racers, x)
	}
	won, err := act.Race(ctx, a, racers)
	r.done[a.ID] = won
	return err
}

// A script decides with the program's commands.
type script struct {
	h       *actingHub
	pinFile string
}

func (s *script) Decide(ctx context.Context, a *hearken.Action, allow bool) (bool, error) {
	verb := map[bool]string{true: "approve", false: "deny"}[allow]
	out, err := s.h.command(ctx, []string{"OWNER_PIN_FILE=" + s.pinFile}, verb, a.ID)
	return err == nil && !strings.Contains(out, "was decided before"), err
}

// report holds what the owners were told against what the hub and its audit
// say.
func (r *race) report(ctx context.Context, b *bench, n int, took time.Duration) error {
	actions, err := r.h.owner.Actions(ctx)
	if err != nil {
		return err
	}
	records, err := r.h.records(ctx)
	if err != nil {
		return err
	}
	decided := map[string]int{}
	for _, rec := range records {
		if rec.Type == hearken.AuditDecided {
			decided[rec.Action]++
		}
	}
	single, wrong := 0, 0
	places := map[string]int{}
	for _, a := range actions {
		won := r.done[a.ID]
		if len(won) != 1 || decided[a.ID] != 1 {
			continue
		}
		single++
		places[won[0].From]++
		state := map[bool]hearken.ActionState{true: hearken.ActionDone, false: hearken.ActionDenied}[won[0].Allow]
		if a.Decision == nil || a.Decision.Allow != won[0].Allow || a.Decision.From != won[0].From || a.State != state {
			wrong++
		}
	}
	b.rows.add(fmt.Sprintf("actions with one decision, of %d about which %d owners decided at once", n, approvers), "min", float64(n), float64(single), "",
		fmt.Sprintf("won at the page %d, at the socket %d, by commands %d; %.0f s", places["page"], places["terminal"], places["file"], took.Seconds()))
	b.rows.add("actions that did not go as the one who decided was told", "max", 0, float64(wrong), "", "half said yes, half no")
	return nil
}
