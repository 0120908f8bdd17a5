package act

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// A Wish is something an agent wants done, and what its owner will say to it.
type Wish struct {
	Mark  string
	Tool  string
	Args  map[string]any
	Allow bool
}

// Wishes makes so many of each kind, mixed. Every eleventh is one that the
// owner refuses.
func Wishes(appointments, letters, texts int, rng *rand.Rand) []Wish {
	var list []Wish
	add := func(n int, tool string, args func(mark string) map[string]any) {
		for i := range n {
			mark := fmt.Sprintf("wish-%04d", len(list))
			a := args(mark)
			a["idempotency_key"] = mark
			list = append(list, Wish{Mark: mark, Tool: tool, Args: a, Allow: i%11 != 10})
		}
	}
	begin := time.Now().AddDate(0, 0, 1).Truncate(time.Hour)
	add(refused(appointments), hearken.CalendarCreate, func(mark string) map[string]any {
		start := begin.Add(time.Duration(len(list)) * time.Hour)
		return map[string]any{"title": "Walk " + mark, "start": start.Format(time.RFC3339), "duration_min": 30}
	})
	add(refused(letters), hearken.MessageSend, func(mark string) map[string]any {
		return map[string]any{"to": "bob@hub.example", "platform": "email", "text": "The contract comes on Friday, " + mark + "."}
	})
	add(refused(texts), hearken.MessageSend, func(mark string) map[string]any {
		return map[string]any{"to": "+15005550010", "platform": "sms", "text": "I am late, " + mark + "."}
	})
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// refused is n and, for every ten, one more that will be refused.
func refused(n int) int { return n + n/10 }

// A Storm is many agents and owners at work while the hub is killed again and
// again. What they were told is kept, to be held against what is true.
type Storm struct {
	Wishes  []Wish
	Kills   int
	Restart func() error // kills the hub and starts it again at the same address
	URL     string
	Keys    []string
	Owner   *Owner
	Rand    *rand.Rand // of the killer alone

	mu      sync.Mutex
	up      chan struct{} // closed while there is a hub
	told    map[string]Outcome
	acks    map[string]map[string]bool // by mark, the ids that agents were given
	decided map[string][]bool          // by action, the decisions that owners were told to have made
	claimed map[string]bool            // actions that an owner deals with
}

const (
	perKey   = 4 // agents of one key
	owners   = 3 // at terminals
	pages    = 1
	patience = 90 * time.Second // for anything
)

// Run goes through with it: it returns when every agent has got a last answer.
func (s *Storm) Run(ctx context.Context) error {
	s.up = make(chan struct{})
	close(s.up)
	s.told, s.acks, s.decided, s.claimed = map[string]Outcome{}, map[string]map[string]bool{}, map[string][]bool{}, map[string]bool{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	wishes := make(chan Wish, len(s.Wishes))
	for _, w := range s.Wishes {
		wishes <- w
	}
	close(wishes)
	var agents, deciders sync.WaitGroup
	for i := range perKey * len(s.Keys) {
		agents.Go(func() {
			agent := &Agent{URL: s.URL, Key: s.Keys[i%len(s.Keys)]}
			for w := range wishes {
				if err := s.insist(ctx, agent, w); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	deciding, enough := context.WithCancel(ctx)
	for range owners {
		deciders.Go(func() { s.decideBy(deciding, func(context.Context) (Decider, error) { return s.Owner, nil }) })
	}
	for range pages {
		deciders.Go(func() {
			s.decideBy(deciding, func(ctx context.Context) (Decider, error) { return SignIn(ctx, s.URL, s.Owner.PIN) })
		})
	}
	if err := s.kill(ctx); err != nil {
		cancel(err)
	}
	agents.Wait()
	enough()
	deciders.Wait()
	return context.Cause(ctx)
}

// kill ends the hub at random moments, but not before it got a little further
// each time.
func (s *Storm) kill(ctx context.Context) error {
	for i := range s.Kills {
		deadline := time.Now().Add(patience)
		for s.answered() < i*len(s.Wishes)/(s.Kills+1) {
			if time.Now().After(deadline) {
				return fmt.Errorf("after %d kills and %d answers nothing goes on", i, s.answered())
			}
			if !rest(ctx, time.Millisecond) {
				return nil
			}
		}
		if !rest(ctx, time.Duration(s.Rand.Int64N(int64(300*time.Millisecond)))) {
			return nil
		}
		s.mu.Lock()
		s.up = make(chan struct{})
		s.mu.Unlock()
		if err := s.Restart(); err != nil {
			return fmt.Errorf("after kill %d: %w", i+1, err)
		}
		s.mu.Lock()
		clear(s.claimed) // whoever was at it has to look again
		close(s.up)
		s.mu.Unlock()
	}
	return nil
}

func (s *Storm) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.told)
}

// alive waits for a hub.
func (s *Storm) alive(ctx context.Context) bool {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	select {
	case <-up:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// insist makes the same call again until there is a last answer to it, as an
// agent does whose connection was cut.
func (s *Storm) insist(ctx context.Context, agent *Agent, w Wish) error {
	deadline := time.Now().Add(3 * patience)
	for s.alive(ctx) {
		got, err := agent.Call(ctx, w.Tool, w.Args)
		if failed, ok := errors.AsType[*RPCError](err); ok {
			return fmt.Errorf("%s: %w", w.Mark, failed)
		}
		if err == nil && s.ack(w, got) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: no end: %v, %w", w.Mark, got, err)
		}
		if err != nil {
			rest(ctx, 5*time.Millisecond) // the killer may not have said yet that it is dead
		}
	}
	return context.Cause(ctx)
}

// ack keeps what an agent was told, and tells whether that was the last word.
func (s *Storm) ack(w Wish, got *Outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if got.ID != "" {
		if s.acks[w.Mark] == nil {
			s.acks[w.Mark] = map[string]bool{}
		}
		s.acks[w.Mark][got.ID] = true
	}
	if code := got.Code(); code == hearken.ApprovalPending || code == hearken.DailyLimit {
		return false
	}
	s.told[w.Mark] = *got
	return true
}

// decideBy decides about all that waits, from one place, which is entered
// again whenever something went wrong.
func (s *Storm) decideBy(ctx context.Context, enter func(context.Context) (Decider, error)) {
	allow := map[string]bool{}
	for _, w := range s.Wishes {
		allow[w.Mark] = w.Allow
	}
	var by Decider
	for s.alive(ctx) {
		a, err := s.next(ctx)
		if err != nil || a == nil {
			rest(ctx, 10*time.Millisecond)
			continue
		}
		if by == nil {
			by, err = enter(ctx)
		}
		said, won := allow[MarkOf(a)], false
		if err == nil {
			won, err = by.Decide(ctx, a, said)
		}
		s.mu.Lock()
		if won {
			s.decided[a.ID] = append(s.decided[a.ID], said)
		}
		if err != nil {
			by = nil
			delete(s.claimed, a.ID)
		}
		s.mu.Unlock()
	}
}

// next is an action that waits and that nobody deals with yet; nil for none.
func (s *Storm) next(ctx context.Context) (*hearken.Action, error) {
	waiting, err := s.Owner.Actions(ctx, hearken.ActionPending)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range waiting {
		if a := &waiting[i]; !s.claimed[a.ID] {
			s.claimed[a.ID] = true
			return a, nil
		}
	}
	return nil, nil
}

// MarkOf is the mark of an action.
func MarkOf(a *hearken.Action) string {
	switch {
	case a.Appointment != nil:
		return Mark(a.Appointment.Title)
	case a.Message != nil:
		return Mark(a.Message.Text)
	case a.Reminder != nil:
		return Mark(a.Reminder.Note)
	}
	return ""
}
