package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// A racer is one of several who decide about the same action.
type racer struct {
	from  string // where the hub will say the decision came from
	by    Decider
	allow bool
	delay time.Duration // before the decision
}

// race lets all decide at the same time, and returns those who were told that
// their decision counted.
func race(ctx context.Context, a *hearken.Action, racers []racer) (winners []racer, err error) {
	won, errs := make([]bool, len(racers)), make([]error, len(racers))
	var group sync.WaitGroup
	start := make(chan struct{})
	for i, r := range racers {
		group.Go(func() {
			<-start
			hubtest.Sleep(ctx, r.delay)
			won[i], errs[i] = r.by.Decide(ctx, a, r.allow)
		})
	}
	close(start)
	group.Wait()
	for i, r := range racers {
		if won[i] {
			winners = append(winners, r)
		}
	}
	return winners, errors.Join(errs...)
}

// A commandLine decides with the program's commands.
type commandLine struct {
	h       *hubtest.Hub
	pinFile string
}

func (c *commandLine) Decide(ctx context.Context, a *hearken.Action, allow bool) (bool, error) {
	verb := map[bool]string{true: "approve", false: "deny"}[allow]
	out, err := c.h.RunAs(ctx, c.pinFile, verb, a.ID)
	return err == nil && !strings.Contains(out, "had already been decided"), err
}

// TestRace has twenty owners decide about each action at once, half yes and
// half no: at the page, at terminals and by commands. One decides, the action
// goes as that one said, and its agent is told the same. HEARKEN_TEST_RACES
// asks for more than five actions.
func TestRace(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, "TRANSCRIPTION_PROVIDER=null", "RATE_LIMIT=100000")
	o, keys := setUp(t, h, 1)
	commands := &commandLine{h, filepath.Join(t.TempDir(), "pin")}
	if err := os.WriteFile(commands.pinFile, []byte(pin+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	page, err := SignIn(t.Context(), h.URL, pin)
	if err != nil {
		t.Fatal(err)
	}
	checking := time.Since(began) // what a check of the PIN takes
	agent := &Agent{URL: h.URL, Key: keys[0]}
	actions := size(t, "HEARKEN_TEST_RACES", 5)
	const each = 20
	won := map[string]int{}
	for i := range actions {
		answer := make(chan *Outcome, 1)
		go func() {
			got, err := agent.Call(t.Context(), hearken.ReminderCreate, map[string]any{
				"time": time.Now().AddDate(0, 0, 1).Format(time.RFC3339), "note": fmt.Sprintf("Call Bob, mark-%04d", i),
			})
			if err != nil {
				t.Error(err)
				got = &Outcome{}
			}
			answer <- got
		}()
		a := pending(t, o)
		// Terminals and commands have their PIN checked first. Those at the page
		// come all at about the time when that is over, so that any can win.
		delay := time.Duration((0.5 + rand.Float64()) * float64(checking))
		if i%5 == 4 {
			delay += checking // a command must start as well
		}
		var racers []racer
		for n := range each {
			r := racer{from: "page", by: page, allow: (i+n)%2 == 0}
			switch {
			case n < 2 && i%5 == 4:
				r.from, r.by = "file", commands
			case n < 2:
				r.from, r.by = "terminal", o
			default:
				r.delay = delay + rand.N(3*time.Millisecond)
			}
			racers = append(racers, r)
		}
		winners, err := race(t.Context(), a, racers)
		if err != nil {
			t.Fatal(err)
		}
		if len(winners) != 1 {
			t.Fatalf("%d of %d decided: %+v", len(winners), each, winners)
		}
		winner, told := winners[0], <-answer
		won[winner.from]++
		var list []hearken.Action
		if err := json.Unmarshal([]byte(h.Command(nil, "actions", "list", "--json", "--limit", "1")), &list); err != nil {
			t.Fatal(err)
		}
		got := list[0]
		state, status := hearken.ActionDenied, "error"
		if winner.allow {
			state, status = hearken.ActionDone, "ok"
		}
		if got.ID != a.ID || got.State != state || got.Decision.Allow != winner.allow || got.Decision.From != winner.from || told.Status != status {
			t.Errorf("%s is %s by %+v and its agent was told %+v, but %s decided %t", got.ID, got.State, got.Decision, told, winner.from, winner.allow)
		}
	}
	decisions := map[string]int{}
	for _, r := range audit(t, h) {
		if r.Type == hearken.AuditDecided {
			decisions[r.Action]++
		}
	}
	for id, n := range decisions {
		if n != 1 {
			t.Errorf("the audit has %d decisions about %s", n, id)
		}
	}
	if len(decisions) != actions {
		t.Errorf("the audit has decisions about %d of %d actions", len(decisions), actions)
	}
	t.Logf("decided from %v", won)
}
