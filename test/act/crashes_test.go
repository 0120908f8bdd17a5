package act

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// A request is what an agent asks for, and how its owner will decide.
type request struct {
	Mark  string
	Tool  string
	Args  map[string]any
	Allow bool
}

// newRequests makes requests for so many actions of each kind, mixed, and for
// every ten one more that the owner denies.
func newRequests(appointments, emails, texts int, rng *rand.Rand) []request {
	var list []request
	add := func(n int, tool string, args func(mark string) map[string]any) {
		for i := range n {
			mark := fmt.Sprintf("mark-%04d", len(list))
			a := args(mark)
			a["idempotency_key"] = mark
			list = append(list, request{Mark: mark, Tool: tool, Args: a, Allow: i%11 != 10})
		}
	}
	begin := time.Now().AddDate(0, 0, 1).Truncate(time.Hour)
	add(withDenied(appointments), hearken.CalendarCreate, func(mark string) map[string]any {
		start := begin.Add(time.Duration(len(list)) * time.Hour)
		return map[string]any{"title": "Walk " + mark, "start": start.Format(time.RFC3339), "duration_min": 30}
	})
	add(withDenied(emails), hearken.MessageSend, func(mark string) map[string]any {
		return map[string]any{"to": "bob@hub.example", "platform": "email", "text": "The contract comes on Friday, " + mark + "."}
	})
	add(withDenied(texts), hearken.MessageSend, func(mark string) map[string]any {
		return map[string]any{"to": "+15005550010", "platform": "sms", "text": "I am late, " + mark + "."}
	})
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// withDenied is n and, for every ten, one more that will be denied.
func withDenied(n int) int { return n + n/10 }

// A crashTest is many agents and owners at work while the hub is killed again
// and again. It records what they were told, to compare it with the outcome.
type crashTest struct {
	requests []request
	kills    int
	restart  func() error // kills the hub and starts it again at the same address
	url      string
	keys     []string
	owner    *Owner
	rand     *rand.Rand // decides when to kill

	mu           sync.Mutex
	up           chan struct{}              // closed while a hub runs
	answers      map[string]Outcome         // by mark, the final answer to the agent
	acknowledged map[string]map[string]bool // by mark, the ids that agents were given
	decisions    map[string][]bool          // by action, the decisions that owners were told to have made
	claimed      map[string]bool            // actions that an owner works on
}

const (
	agentsPerKey = 4
	terminals    = 3 // owners at terminals
	pages        = 1 // owners at the approvals page
	timeout      = 90 * time.Second
)

// run returns when every agent has a final answer.
func (c *crashTest) run(ctx context.Context) error {
	c.up = make(chan struct{})
	close(c.up)
	c.answers, c.acknowledged, c.decisions, c.claimed = map[string]Outcome{}, map[string]map[string]bool{}, map[string][]bool{}, map[string]bool{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	requests := make(chan request, len(c.requests))
	for _, r := range c.requests {
		requests <- r
	}
	close(requests)
	var agents, deciders sync.WaitGroup
	for i := range agentsPerKey * len(c.keys) {
		agents.Go(func() {
			agent := &Agent{URL: c.url, Key: c.keys[i%len(c.keys)]}
			for r := range requests {
				if err := c.callUntilAnswered(ctx, agent, r); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	deciding, enough := context.WithCancel(ctx)
	for range terminals {
		deciders.Go(func() { c.decideBy(deciding, func(context.Context) (Decider, error) { return c.owner, nil }) })
	}
	for range pages {
		deciders.Go(func() {
			c.decideBy(deciding, func(ctx context.Context) (Decider, error) { return SignIn(ctx, c.url, c.owner.PIN) })
		})
	}
	if err := c.killHub(ctx); err != nil {
		cancel(err)
	}
	agents.Wait()
	enough()
	deciders.Wait()
	return context.Cause(ctx)
}

// killHub kills the hub at random moments, each time after some more answers.
func (c *crashTest) killHub(ctx context.Context) error {
	for i := range c.kills {
		deadline := time.Now().Add(timeout)
		for c.answered() < i*len(c.requests)/(c.kills+1) {
			if time.Now().After(deadline) {
				return fmt.Errorf("after %d kills and %d answers no more answers come", i, c.answered())
			}
			if !hubtest.Sleep(ctx, time.Millisecond) {
				return nil
			}
		}
		if !hubtest.Sleep(ctx, time.Duration(c.rand.Int64N(int64(300*time.Millisecond)))) {
			return nil
		}
		c.mu.Lock()
		c.up = make(chan struct{})
		c.mu.Unlock()
		if err := c.restart(); err != nil {
			return fmt.Errorf("after kill %d: %w", i+1, err)
		}
		c.mu.Lock()
		clear(c.claimed) // the hub may have lost those decisions
		close(c.up)
		c.mu.Unlock()
	}
	return nil
}

func (c *crashTest) answered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.answers)
}

// waitUp waits until a hub runs.
func (c *crashTest) waitUp(ctx context.Context) bool {
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// callUntilAnswered repeats a call until it has a final answer, as an agent
// does whose connection was cut.
func (c *crashTest) callUntilAnswered(ctx context.Context, agent *Agent, r request) error {
	deadline := time.Now().Add(3 * timeout)
	for c.waitUp(ctx) {
		got, err := agent.Call(ctx, r.Tool, r.Args)
		if failed, ok := errors.AsType[*hubtest.RPCError](err); ok {
			return fmt.Errorf("%s: %w", r.Mark, failed)
		}
		if err == nil && c.ack(r, got) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: no final answer: %v, %w", r.Mark, got, err)
		}
		if err != nil {
			hubtest.Sleep(ctx, 5*time.Millisecond) // it may take a moment until the kill is noted
		}
	}
	return context.Cause(ctx)
}

// ack records an answer and reports whether it is final.
func (c *crashTest) ack(r request, got *Outcome) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got.ID != "" {
		if c.acknowledged[r.Mark] == nil {
			c.acknowledged[r.Mark] = map[string]bool{}
		}
		c.acknowledged[r.Mark][got.ID] = true
	}
	if code := got.Code(); code == hearken.ApprovalPending || code == hearken.DailyLimit {
		return false
	}
	c.answers[r.Mark] = *got
	return true
}

// decideBy decides about pending actions from one place, which it enters again
// after every error.
func (c *crashTest) decideBy(ctx context.Context, enter func(context.Context) (Decider, error)) {
	allow := map[string]bool{}
	for _, r := range c.requests {
		allow[r.Mark] = r.Allow
	}
	var by Decider
	for c.waitUp(ctx) {
		a, err := c.next(ctx)
		if err != nil || a == nil {
			hubtest.Sleep(ctx, 10*time.Millisecond)
			continue
		}
		if by == nil {
			by, err = enter(ctx)
		}
		said, won := allow[MarkOf(a)], false
		if err == nil {
			won, err = by.Decide(ctx, a, said)
		}
		c.mu.Lock()
		if won {
			c.decisions[a.ID] = append(c.decisions[a.ID], said)
		}
		if err != nil {
			by = nil
			delete(c.claimed, a.ID)
		}
		c.mu.Unlock()
	}
}

// next is a pending action that no owner works on yet; nil if there is none.
func (c *crashTest) next(ctx context.Context) (*hearken.Action, error) {
	waiting, err := c.owner.Actions(ctx, hearken.ActionPending)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range waiting {
		if a := &waiting[i]; !c.claimed[a.ID] {
			c.claimed[a.ID] = true
			return a, nil
		}
	}
	return nil, nil
}
