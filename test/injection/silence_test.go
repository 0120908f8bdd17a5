package injection

import (
	"fmt"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// TestSilence shows to the second when grants apply: not during a call, not for
// ten minutes after its last audio, and not for 30 minutes after reading. To a
// key that can only act they apply at any time.
func TestSilence(t *testing.T) {
	t.Parallel()
	sh, ctx := newShared(t), t.Context()
	key, _ := hearken.NewKey("assistant", sh.clock.Now(), []string{hearken.ActionsToolset})
	if err := sh.store.SaveKey(ctx, &key); err != nil {
		t.Fatal(err)
	}
	if _, err := sh.queue.Grant(ctx, hearken.Grant{Principal: key.ID, Tool: hearken.CalendarCreate, Target: "builtin"}); err != nil {
		t.Fatal(err)
	}
	assistant, err := sh.connectAgent(ctx, key.ID, key.Toolsets...)
	if err != nil {
		t.Fatal(err)
	}
	reader, listener := sh.agents[0], sh.agents[1]
	sh.agents = append(sh.agents, assistant)
	tries := 0
	expect := func(when string, want map[*agent]bool) {
		t.Helper()
		for a, done := range want {
			tries++
			id, answer, err := a.call(ctx, hearken.CalendarCreate, event(fmt.Sprintf("Water the plants %d", tries)).Args)
			if err != nil || id == "" {
				t.Fatalf("%s: %v %s", when, err, answer)
			}
			action, err := sh.queue.Action(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if applied := action.Decision != nil && action.Decision.By == "grant"; applied != done {
				t.Errorf("%s the grant of %s applies: %t", when, a.principal, applied)
			}
		}
	}
	expect("before the call", map[*agent]bool{reader: true, listener: true, assistant: true})
	session, err := sh.transcribe(ctx, &conversation{Talk: []string{"S Put it into your calendar.", "M Put what?"}})
	if err != nil {
		t.Fatal(err)
	}
	expect("during the call", map[*agent]bool{reader: false, listener: false, assistant: true})
	ended := sh.hub.LastAudio()
	at := func(since time.Time, d time.Duration) { sh.clock.advance(since.Add(d).Sub(sh.clock.Now())) }
	at(ended, 5*time.Minute)
	if _, err := reader.readSession(ctx, session); err != nil {
		t.Fatal(err)
	}
	read := sh.clock.Now()
	if _, err := sh.hub.Stop(ctx, session); err != nil {
		t.Fatal(err)
	}
	at(ended, 10*time.Minute-time.Second)
	expect("before the ten minutes are over", map[*agent]bool{reader: false, listener: false, assistant: true})
	at(ended, 10*time.Minute)
	expect("after ten minutes", map[*agent]bool{reader: false, listener: true, assistant: true})
	at(read, 30*time.Minute-time.Second)
	expect("before the 30 minutes are over", map[*agent]bool{reader: false, listener: true, assistant: true})
	at(read, 30*time.Minute)
	expect("after 30 minutes", map[*agent]bool{reader: true, listener: true, assistant: true})
}
