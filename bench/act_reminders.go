package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/act"
)

// measureActReminders sets many reminders for the same minute, as agents and
// their owner do it, and looks when the owner is told.
func measureActReminders(ctx context.Context, b *bench) error {
	n := 1000
	if b.quick {
		n = 100
	}
	for _, spread := range []time.Duration{time.Minute, 0} {
		if err := b.remind(ctx, n, spread); err != nil {
			return err
		}
	}
	return nil
}

// A reminded keeps when the owner was told of each reminder.
type reminded struct {
	mu   sync.Mutex
	told map[string][]time.Time // by mark
	all  chan struct{}
	want int
}

func (r *reminded) take(_, text string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	mark := act.Mark(text)
	r.told[mark] = append(r.told[mark], now)
	if len(r.told) == r.want && len(r.told[mark]) == 1 {
		close(r.all)
	}
}

// remind sets n reminders within so much time, or all for the same moment, and
// waits until they have been told of.
func (b *bench) remind(ctx context.Context, n int, within time.Duration) error {
	r := &reminded{told: map[string][]time.Time{}, all: make(chan struct{}), want: n}
	hook, err := act.OpenHook(r.take)
	if err != nil {
		return err
	}
	defer hook.Close()
	h, err := b.startActing(ctx, fmt.Sprintf("act-reminders-%.0f", within.Seconds()), 10, append(hook.Env(), "RATE_LIMIT=100000")...)
	if err != nil {
		return err
	}
	defer h.stop()
	begun := time.Now()
	// So long setting them may take; the first is due no earlier.
	from := begun.Add(time.Duration(n)*40*time.Millisecond + 15*time.Second).Truncate(time.Second)
	rng := rand.New(rand.NewPCG(11, 12))
	due := map[string]time.Time{}
	var marks []string
	for i := range n {
		mark := fmt.Sprintf("wish-%04d", i)
		marks = append(marks, mark)
		due[mark] = from
		if within > 0 {
			due[mark] = from.Add(time.Duration(rng.IntN(int(within/time.Second))) * time.Second)
		}
	}
	if err := h.setReminders(ctx, marks, due); err != nil {
		return fmt.Errorf("%w %s", err, h.logs)
	}
	setting := time.Since(begun)
	if late := time.Since(from); late > 0 {
		return fmt.Errorf("setting %d reminders took %s, so the first were due before", n, setting.Round(time.Second))
	}
	wait(ctx, time.Until(from.Add(within)))
	late, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	select {
	case <-r.all:
	case <-late.Done():
	}
	wait(ctx, 3*time.Second) // one that comes twice would come about now
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.report(b, n, within, due, setting)
	return nil
}

func (r *reminded) report(b *bench, n int, within time.Duration, due map[string]time.Time, setting time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lateness sample
	missing, twice, early := 0, 0, 0
	for mark, at := range due {
		switch times := r.told[mark]; {
		case len(times) == 0:
			missing++
		default:
			twice += len(times) - 1
			lateness = append(lateness, times[0].Sub(at))
			if times[0].Before(at) {
				early++
			}
		}
	}
	name := fmt.Sprintf("%d reminders due within the same minute: ", n)
	if within == 0 {
		name = fmt.Sprintf("%d reminders due at the same moment: ", n)
	}
	b.rows.add(name+"lateness, p99", "max", 1000, ms(lateness.at(0.99)), "ms",
		fmt.Sprintf("median %.0f ms, the latest %.0f ms; setting and approving them took %.0f s", ms(lateness.at(0.5)), ms(lateness.at(1)), setting.Seconds()))
	b.rows.add(name+"told twice, early or not at all", "max", 0, float64(twice+early+missing), "", "")
}

// setReminders has agents ask for reminders while their owner allows them at
// the page.
func (h *actingHub) setReminders(ctx context.Context, marks []string, due map[string]time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	wishes := make(chan string, len(marks))
	for _, mark := range marks {
		wishes <- mark
	}
	close(wishes)
	var agents, owners sync.WaitGroup
	for i := range 4 * len(h.keys) {
		agents.Go(func() {
			agent := &act.Agent{URL: h.url, Key: h.keys[i%len(h.keys)]}
			for mark := range wishes {
				got, err := agent.Call(ctx, hearken.ReminderCreate, map[string]any{"time": due[mark].Format(time.RFC3339), "note": "Call Bob, " + mark})
				if err == nil && got.Status != "ok" {
					err = errors.New(got.Error)
				}
				if err != nil {
					cancel(fmt.Errorf("%s: %w", mark, err))
					return
				}
			}
		})
	}
	deciding, enough := context.WithCancel(ctx)
	page, err := act.SignIn(ctx, h.url, actPIN)
	if err != nil {
		cancel(err)
	}
	owners.Go(func() {
		for deciding.Err() == nil {
			waiting, err := h.owner.Actions(deciding, hearken.ActionPending)
			var all sync.WaitGroup
			for i := range waiting {
				all.Go(func() {
					if _, err := page.Decide(deciding, &waiting[i], true); err != nil && deciding.Err() == nil {
						cancel(err)
					}
				})
			}
			all.Wait()
			if err != nil && deciding.Err() == nil {
				cancel(err)
			}
			wait(deciding, 2*time.Millisecond)
		}
	})
	agents.Wait()
	enough()
	owners.Wait()
	return context.Cause(ctx)
}
