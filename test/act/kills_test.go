package act

import (
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestKills kills the hub while agents make appointments and send messages,
// and counts what reached the calendar, the mail server and the SMS gateway.
// HEARKEN_TEST_ACT_KILLS asks for more than ten kills.
func TestKills(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"sqlite", "json"} {
		t.Run(store, func(t *testing.T) { testKills(t, false, "STORAGE_BACKEND="+store) })
	}
	t.Run("postgres", func(t *testing.T) {
		testKills(t, false, "STORAGE_BACKEND=postgres", "DATABASE_URL="+database(t))
	})
	t.Run("caldav", func(t *testing.T) { testKills(t, true) })
}

// testKills uses the hub's own calendar and email, or with external a CalDAV
// server, email and SMS.
func testKills(t *testing.T, external bool, env ...string) {
	t.Parallel()
	kills := size(t, "HEARKEN_TEST_ACT_KILLS", 10)
	appointments, emails, texts := 2*kills, 2*kills, 0
	if external {
		texts = kills
		emails = kills
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	// The servers take their time, so that a kill often comes between what
	// they have and what they have acknowledged.
	var mu sync.Mutex
	delays := rand.New(rand.NewPCG(seed, 1))
	delay := func() {
		mu.Lock()
		d := time.Duration(delays.Int64N(int64(60 * time.Millisecond)))
		mu.Unlock()
		hubtest.Sleep(t.Context(), d)
	}
	mail, err := OpenMailServer(t.TempDir(), delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mail.Close)
	env = slices.Concat(env, mail.Env(), []string{"RATE_LIMIT=100000", "TRANSCRIPTION_PROVIDER=null", "TIMEZONE=Europe/Berlin"})
	var calendar *radicale
	var sms *Twilio
	if external {
		calendar = startRadicale(t)
		if sms, err = OpenTwilio(t.TempDir(), delay); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sms.Close)
		env = slices.Concat(env, calendar.env(), sms.Env())
	}
	h := hubtest.Start(t, env...)
	o, keys := setUp(t, h, 2)
	rng := rand.New(rand.NewPCG(seed, 2))
	restarts := 0
	crashes := &crashTest{
		requests: newRequests(appointments, emails, texts, rng), kills: kills, url: h.URL, keys: keys, owner: o, rand: rng,
		restart: func() error {
			h.Kill()
			// Every fourth time it is also killed while it recovers.
			if restarts++; restarts%4 == 0 {
				if err := h.KillWhileStarting(t.Context(), time.Duration(rng.Int64N(int64(100*time.Millisecond)))); err != nil {
					return err
				}
			}
			return h.Server.Start(t.Context())
		},
	}
	if err := crashes.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	actual := outcome{Effects: map[string]int{}}
	if external {
		maps.Copy(actual.Effects, calendar.counts(t))
		addCounts(t, actual.Effects, sms.Receipts)
	} else {
		maps.Copy(actual.Effects, subscribed(t, o))
	}
	addCounts(t, actual.Effects, mail.Receipts)
	if err := json.Unmarshal([]byte(h.Command(nil, "actions", "list", "--json", "--limit", "100000")), &actual.Actions); err != nil {
		t.Fatal(err)
	}
	h.Stop()
	actual.Audit = audit(t, h)
	found := crashes.check(actual)
	for _, fault := range found.faults {
		t.Error(fault)
	}
	made := found.done["calendar.create builtin"] + found.done["calendar.create caldav"]
	if made != appointments {
		t.Errorf("%d appointments of %d", made, appointments)
	}
	sent := found.done["message.send email"] + found.done["message.send sms"] + found.unknown
	if denied := len(crashes.requests) - appointments - emails - texts; sent != emails+texts || found.denied != denied {
		t.Errorf("%d messages of %d, and %d denied of %d", sent, emails+texts, found.denied, denied)
	}
	t.Logf("%d kills, done %v, unknown %d of which %d arrived, denied %d, %d audit records",
		kills+restarts/4, found.done, found.unknown, found.arrived, found.denied, len(actual.Audit))
}

func addCounts(t *testing.T, effects map[string]int, r *Receipts) {
	t.Helper()
	counts, err := r.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for mark, n := range counts {
		effects[mark] += n
	}
}

// subscribed counts the marks in the hub's own calendar, as its subscribers
// see it.
func subscribed(t *testing.T, o *Owner) map[string]int {
	t.Helper()
	address, err := o.Calendar(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("calendar: %s, %v", resp.Status, err)
	}
	return countEvents(string(data))
}
