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
	"github.com/hearken-dev/hearken/test/hubtest"
)

// benchReminders sets many reminders, for the same minute and for the same
// moment, and measures when the owner is reminded.
func benchReminders(b *bench) {
	n := pick(b, 1000, 100)
	benchRemindersWithin(b, fmt.Sprintf("%d reminders due within the same minute: ", n), n, time.Minute)
	benchRemindersWithin(b, fmt.Sprintf("%d reminders due at the same moment: ", n), n, 0)
}

func benchRemindersWithin(b *bench, name string, n int, within time.Duration) {
	var mu sync.Mutex
	arrived := map[string][]time.Time{} // by mark
	hook, err := act.OpenWebhook(func(_, text string) {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		arrived[act.Mark(text)] = append(arrived[act.Mark(text)], now)
	})
	b.check(err)
	defer hook.Close()
	h := b.hub(b.dataDir(), append(hook.Env(), "RATE_LIMIT=100000")...)
	defer h.Stop()
	began := time.Now()
	// Setting them may take so long; the first is due no earlier.
	first := began.Add(time.Duration(n)*40*time.Millisecond + 15*time.Second).Truncate(time.Second)
	rng := rand.New(rand.NewPCG(11, 12))
	due := map[string]time.Time{}
	for i := range n {
		at := first
		if within > 0 {
			at = first.Add(time.Duration(rng.IntN(int(within/time.Second))) * time.Second)
		}
		due[fmt.Sprintf("mark-%04d", i)] = at
	}
	setReminders(b, h, due)
	setting := time.Since(began)
	if time.Now().After(first) {
		b.Fatalf("setting %d reminders took %s, so the first were due before", n, setting.Round(time.Second))
	}
	b.sleep(time.Until(first.Add(within)))
	_ = hubtest.Poll(b.ctx, 30*time.Second, 100*time.Millisecond, func() (bool, error) { // what is missing is counted
		mu.Lock()
		defer mu.Unlock()
		return len(arrived) == n, nil
	})
	b.sleep(3 * time.Second) // a second copy would come about now
	b.check(b.ctx.Err())
	mu.Lock()
	defer mu.Unlock()
	var lateness durations
	wrong := 0
	for mark, at := range due {
		times := arrived[mark]
		if len(times) != 1 || times[0].Before(at) {
			wrong++
		}
		if len(times) > 0 {
			lateness = append(lateness, times[0].Sub(at))
		}
	}
	b.report(name+"lateness, p99", atMost(1000), lateness.ms(0.99), "ms",
		fmt.Sprintf("median %.0f ms, the latest %.0f ms; setting and approving them took %.0f s", lateness.ms(0.5), lateness.ms(1), setting.Seconds()))
	b.report(name+"sent twice, early or not at all", atMost(0), float64(wrong), "", "")
}

// setReminders has agents ask for reminders while their owner approves them at
// the page.
func setReminders(b *bench, h *hubtest.Hub, due map[string]time.Time) {
	const pin, keys = "correct horse 7", 10
	owner := &act.Owner{Dir: h.Dir, PIN: pin}
	secrets, err := owner.SetUp(b.ctx, keys)
	b.check(err)
	page, err := act.SignIn(b.ctx, h.URL, pin)
	b.check(err)
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	marks := make(chan string, len(due))
	for mark := range due {
		marks <- mark
	}
	close(marks)
	var agents sync.WaitGroup
	for i := range 4 * keys {
		agents.Go(func() {
			agent := &act.Agent{URL: h.URL, Key: secrets[i%keys]}
			for mark := range marks {
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
	deciding, stop := context.WithCancel(ctx)
	var decider sync.WaitGroup
	decider.Go(func() {
		for hubtest.Sleep(deciding, 2*time.Millisecond) {
			pending, err := owner.Actions(deciding, hearken.ActionPending)
			var all sync.WaitGroup
			for i := range pending {
				all.Go(func() {
					if _, err := page.Decide(deciding, &pending[i], true); err != nil && deciding.Err() == nil {
						cancel(err)
					}
				})
			}
			all.Wait()
			if err != nil && deciding.Err() == nil {
				cancel(err)
			}
		}
	})
	agents.Wait()
	stop()
	decider.Wait()
	b.check(context.Cause(ctx))
}
