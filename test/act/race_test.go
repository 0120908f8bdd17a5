package act

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestRace has ten owners decide about each action at once, some yes and some
// no, at the page and at terminals: one decides, the action goes as that one
// said, and its agent is told the same.
func TestRace(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, "TRANSCRIPTION_PROVIDER=null")
	o, keys := open(t, h, 1)
	page, err := SignIn(t.Context(), h.URL, pin)
	if err != nil {
		t.Fatal(err)
	}
	agent := &Agent{URL: h.URL, Key: keys[0]}
	const actions, each = 5, 10
	var agents sync.WaitGroup
	told := make([]*Outcome, actions)
	for i := range actions {
		agents.Go(func() {
			got, err := agent.Call(t.Context(), hearken.ReminderCreate, map[string]any{
				"time": time.Now().AddDate(0, 0, 1).Format(time.RFC3339), "note": fmt.Sprintf("Call Bob, wish-%04d", i),
			})
			if err != nil {
				t.Error(err)
				got = &Outcome{}
			}
			told[i] = got
		})
		a := waiting(t, o)
		var racers []Racer
		for n := range each {
			r := Racer{From: "page", By: page, Allow: (i+n)%2 == 0}
			if n%5 == 0 {
				r.From, r.By = "terminal", o
			} else if i%2 == 1 { // the PIN of those at the terminal is being checked meanwhile
				r.Wait = func() { rest(t.Context(), time.Duration(n)*20*time.Millisecond) }
			}
			racers = append(racers, r)
		}
		won, err := Race(t.Context(), a, racers)
		if err != nil {
			t.Fatal(err)
		}
		agents.Wait()
		if len(won) != 1 {
			t.Fatalf("%d of %d decided: %+v", len(won), each, won)
		}
		var list []hearken.Action
		if err := json.Unmarshal([]byte(run(t, h, nil, "actions", "list", "--json", "--limit", "1")), &list); err != nil {
			t.Fatal(err)
		}
		got := list[0]
		state, status := hearken.ActionDenied, "error"
		if won[0].Allow {
			state, status = hearken.ActionDone, "ok"
		}
		if got.ID != a.ID || got.State != state || got.Decision.Allow != won[0].Allow || got.Decision.From != won[0].From || told[i].Status != status {
			t.Errorf("%s is %s by %+v and its agent was told %+v, but %s decided %t", got.ID, got.State, got.Decision, told[i], won[0].From, won[0].Allow)
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
}
