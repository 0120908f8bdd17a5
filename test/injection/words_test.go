package injection

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// parse turns the scene into a conversation and the call of the agent.
func (w *wordScene) parse() (conversation, toolCall) {
	who, text, _ := strings.Cut(w.wish, ": ")
	call := message(who, text)
	switch who {
	case "event":
		call = event(text)
	case "remind":
		call = reminder(text)
	}
	return conversation{Talk: strings.Split(w.talk, " | ")}, call
}

// others are calls with the same text that grants of the owner cover: nothing but
// the time stands between them and an effect.
func (w *wordScene) others() []toolCall {
	_, text, _ := strings.Cut(w.wish, ": ")
	return []toolCall{event(text), reminder(text), message(ownTopic, text), message(people[0].Emails[0], text)}
}

// TestWordScenes plays scenes one after the other to the same hub, under the
// widest grants. An agent with a key and one on this computer do all that anybody
// says: while it is said, when they have read it, when the call has ended, and
// when that is more than ten minutes ago. Nothing may happen. Half an hour later
// the grants apply again, except that messages to people always ask.
func TestWordScenes(t *testing.T) {
	t.Parallel()
	if len(wordScenes) < 120 {
		t.Errorf("only %d scenes", len(wordScenes))
	}
	sim := newShared(t)
	for i := range wordScenes {
		s := &wordScenes[i]
		t.Run(s.kind+"/"+s.wish, func(t *testing.T) {
			if err := sim.playWords(t.Context(), s, i); err != nil {
				t.Error(err)
			}
		})
	}
}

// A shared simulation has agents that stay connected.
type shared struct {
	*simulation
	agents []*agent
	tries  int
}

// newShared opens a simulation for the whole test, with all grants.
func newShared(t *testing.T) *shared {
	t.Helper()
	base, err := newTemplate(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sim, err := base.copyTo(t.Context(), t.TempDir(), allTargets())
	if err != nil {
		t.Fatal(err)
	}
	sh := &shared{simulation: sim}
	grants, err := sim.queue.Grants(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	valid := 0
	for _, g := range grants {
		if g.RevokedAt == nil {
			valid++
		}
	}
	if want := 2 * (4 + len(allTargets())); valid != want {
		t.Fatalf("%d grants are valid, not %d", valid, want)
	}
	t.Cleanup(func() {
		for _, a := range sh.agents {
			a.close()
		}
		if err := sim.close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for _, principal := range []string{sim.key, act.Local} {
		a, err := sim.connectAgent(t.Context(), principal)
		if err != nil {
			t.Fatal(err)
		}
		sh.agents = append(sh.agents, a)
	}
	return sh
}

// playWords plays one scene. It returns what should not have happened.
func (sh *shared) playWords(ctx context.Context, s *wordScene, number int) error {
	before := sh.done.count()
	talk, call := s.parse()
	others := s.others()
	session, err := sh.transcribe(ctx, &talk)
	if err != nil {
		return err
	}
	for i, moment := range []struct {
		name string
		then func() error
	}{
		{"while they speak", func() error { return nil }},
		{"when it has read", func() error { return sh.readAll(ctx, session) }},
		{"after the call", func() error {
			sh.clock.advance(5 * time.Minute)
			_, err := sh.hub.Stop(ctx, session)
			return err
		}},
		{"ten minutes later", func() error { sh.clock.advance(10 * time.Minute); return nil }},
	} {
		if err := moment.then(); err != nil {
			return fmt.Errorf("%s: %w", moment.name, err)
		}
		calls := []toolCall{others[i]}
		if i%2 == 0 {
			calls = append(calls, call)
		}
		for _, c := range calls {
			if err := sh.askAll(ctx, c, hearken.ActionPending); err != nil {
				return fmt.Errorf("%s: %w", moment.name, err)
			}
		}
	}
	sh.clock.advance(30 * time.Minute)
	if call.Tool == hearken.MessageSend {
		if err := sh.askAll(ctx, call, hearken.ActionPending); err != nil {
			return fmt.Errorf("half an hour later: %w", err)
		}
	}
	if err := sh.withdrawAll(ctx); err != nil {
		return err
	}
	if n := sh.done.count() - before; n > 0 {
		return fmt.Errorf("%d effects", n)
	}
	if err := sh.askAll(ctx, event(fmt.Sprintf("Water the plants, row %d", number)), hearken.ActionDone); err != nil {
		return fmt.Errorf("half an hour later: %w", err)
	}
	if n := sh.done.count() - before; n != len(sh.agents) {
		return fmt.Errorf("%d effects half an hour later, not %d", n, len(sh.agents))
	}
	return nil
}

// readAll has every agent read a session.
func (sh *shared) readAll(ctx context.Context, session string) error {
	for _, a := range sh.agents {
		if _, err := a.readSession(ctx, session); err != nil {
			return err
		}
	}
	return nil
}

// askAll has every agent make a call, which must end so.
func (sh *shared) askAll(ctx context.Context, c toolCall, want hearken.ActionState) error {
	for _, a := range sh.agents {
		sh.tries++
		args := maps.Clone(c.Args)
		args["idempotency_key"] = fmt.Sprint(sh.tries)
		id, answer, err := a.call(ctx, c.Tool, args)
		if err != nil {
			return err
		}
		if id == "" {
			return fmt.Errorf("%s as %s: %s", c.Tool, a.principal, answer)
		}
		action, err := sh.queue.Action(ctx, id)
		if err == nil && want == hearken.ActionDone {
			action, err = sh.queue.Await(ctx, id, timeout)
		}
		if err != nil {
			return err
		}
		if action.State != want {
			return fmt.Errorf("%s as %s: %s", c.Tool, a.principal, explain(action))
		}
	}
	return nil
}

// withdrawAll takes back what waits: only so much may.
func (sh *shared) withdrawAll(ctx context.Context) error {
	waiting, err := sh.queue.Actions(ctx, hearken.ActionFilter{States: []hearken.ActionState{hearken.ActionPending}})
	if err != nil {
		return err
	}
	for i := range waiting {
		if _, err := sh.queue.Withdraw(ctx, waiting[i].Principal, waiting[i].ID); err != nil {
			return err
		}
	}
	return nil
}
