package act

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestKills_Reminders kills the hub while it sends reminders: none is sent
// twice, and the audit says of those that may not have been sent that they are
// unknown.
func TestKills_Reminders(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	sent := map[string]int{}
	hook, err := OpenWebhook(func(_, text string) {
		mu.Lock()
		sent[Mark(text)]++
		d := time.Duration(rng.Int64N(int64(150 * time.Millisecond)))
		mu.Unlock()
		hubtest.Sleep(t.Context(), d) // sent, and the hub does not know it yet
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hook.Close)
	h := hubtest.Start(t, append(hook.Env(), "TRANSCRIPTION_PROVIDER=null")...)
	o, keys := setUp(t, h, 1)
	const reminders, seconds = 16, 4
	first := time.Now().Add(5 * time.Second).Truncate(time.Second)
	setReminders(t, h, o, keys[0], reminders, func(i int) time.Time {
		return first.Add(time.Duration(i%seconds) * time.Second)
	})
	killer := rand.New(rand.NewPCG(seed, 2))
	for hubtest.Sleep(t.Context(), time.Duration(killer.Int64N(int64(700*time.Millisecond)))) && time.Now().Before(first.Add(seconds*time.Second)) {
		h.Kill()
		h.Run()
	}
	h.Stop() // after what is being sent
	fired := map[string]map[string]int{}
	for _, r := range audit(t, h) {
		if r.Type == hearken.AuditFired {
			if fired[r.Action] == nil {
				fired[r.Action] = map[string]int{}
			}
			fired[r.Action][r.State]++
		}
	}
	h.Run()
	all, err := o.Actions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != reminders {
		t.Errorf("%d reminders of %d", len(all), reminders)
	}
	mu.Lock()
	defer mu.Unlock()
	unknown := 0
	for _, a := range all {
		n, states := sent[MarkOf(&a)], fired[a.ID]
		switch {
		case n > 1:
			t.Errorf("%s was sent %d times: %v", a.ID, n, states)
		case n == 1 && states["firing"] == 0:
			t.Errorf("%s was sent and the audit does not say that it would be: %v", a.ID, states)
		case states["unknown"] > 0:
			unknown++
		case n == 0 || states["done"] == 0:
			t.Errorf("%s was sent %d times and the audit says %v", a.ID, n, states)
		}
	}
	t.Logf("%d sent, %d unknown", len(sent), unknown)
}

// setReminders has an agent ask for reminders and their owner allow them.
func setReminders(t *testing.T, h *hubtest.Hub, o *Owner, key string, n int, due func(i int) time.Time) {
	t.Helper()
	page, err := SignIn(t.Context(), h.URL, o.PIN)
	if err != nil {
		t.Fatal(err)
	}
	agent := &Agent{URL: h.URL, Key: key}
	var agents sync.WaitGroup
	for i := range n {
		agents.Go(func() {
			got, err := agent.Call(t.Context(), hearken.ReminderCreate, map[string]any{
				"time": due(i).Format(time.RFC3339), "note": fmt.Sprintf("Call Bob, mark-%04d", i),
			})
			if err != nil || got.Status != "ok" {
				t.Errorf("reminder %d: %+v, %v", i, got, err)
			}
		})
	}
	for range n {
		if won, err := page.Decide(t.Context(), pending(t, o), true); err != nil || !won {
			t.Fatalf("decided %t, %v", won, err)
		}
	}
	agents.Wait()
}
