//go:build !windows

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// canary is a word that somebody said and that is nowhere else: whoever gets it
// has read a transcript.
const canary = "quetzalcoatl"

// A canaryEngine hears the canary on every channel, once a second. What the
// microphone hears are words for an action.
type canaryEngine struct{ *stttest.Scripted }

func (e canaryEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if cfg.Origin == hearken.System {
		return everySecond("We have not seen any "+canary+" for years.").Open(ctx, cfg)
	}
	return e.Scripted.Open(ctx, cfg)
}

func newCanaryEngine() hearken.Provider {
	return canaryEngine{everySecond("Put the dentist appointment of the " + canary + " into my calendar.")}
}

func everySecond(text string) *stttest.Scripted {
	var lines []stttest.Line
	for i := range 600 {
		lines = append(lines, stttest.Line{Start: float64(i), End: float64(i) + 0.8, Text: text})
	}
	return stttest.NewScripted("local", lines)
}

// A stepClock is a clock that a test sets.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// A canaryHub is a hub in which the canary was said.
type canaryHub struct {
	*testing.T
	app     *App
	clock   *stepClock
	url     string
	key     *newKey // may do everything
	acting  *newKey // may only act
	session string  // stopped; its note and its title hold the canary too
}

func newCanaryHub(t *testing.T) *canaryHub { return openCanaryHub(t, testConfig(t)) }

func openCanaryHub(t *testing.T, cfg *Config) *canaryHub {
	t.Helper()
	cfg.KeepAudio, cfg.RateLimit = true, 100_000
	clock := &stepClock{now: time.Now().Truncate(time.Second)}
	app := openApp(t, cfg, Options{Providers: []hearken.Provider{newCanaryEngine()}, Capture: silentCapture, PINRounds: 1000, Now: clock.Now})
	server, err := app.Transports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := &canaryHub{T: t, app: app, clock: clock, url: server.URL()}
	h.key, h.acting = h.newKey("", nil), h.newKey("", []string{hearken.ActionsToolset})
	h.session = h.record(true)
	if _, err := app.hub.Rename(t.Context(), h.session, "About the "+canary); err != nil {
		t.Fatal(err)
	}
	if err := app.hub.SaveNote(t.Context(), hearken.Note{Session: h.session, Text: "They spoke of a " + canary, SavedAt: clock.Now(), By: "loopback"}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *canaryHub) newKey(approver string, toolsets []string) *newKey {
	h.Helper()
	key, err := h.app.createKey(h.Context(), "test", toolsets, approver)
	if err != nil {
		h.Fatal(err)
	}
	return key
}

// record makes a session that has stopped, of this computer's own audio or not,
// and returns its id.
func (h *canaryHub) record(captured bool) string {
	h.Helper()
	hub, ctx := h.app.hub, h.Context()
	session, err := hub.Start(ctx, hearken.StartRequest{Principal: act.Local, Capture: captured})
	if err != nil {
		h.Fatal(err)
	}
	in, err := hub.Attach(ctx, session.ID, act.Local)
	if err == nil {
		err = in.Describe("linear16", hearken.SampleRate, 1)
	}
	for range 20 {
		if err == nil {
			err = in.Write(make([]int16, hearken.SampleRate/10))
		}
	}
	if err == nil {
		_, err = hub.Read(ctx, live.ReadRequest{Session: session.ID, Limit: 1, Wait: 20 * time.Second})
	}
	if err == nil {
		in.Detach()
		_, err = hub.Stop(ctx, session.ID)
	}
	if err != nil {
		h.Fatal(err)
	}
	return session.ID
}

// check asks at a door and checks whether the answer holds the canary.
func (h *canaryHub) check(door, principal string, reads bool, ask func() string) {
	h.Helper()
	if answer := h.observe(door, principal, ask); strings.Contains(answer, canary) != reads {
		h.Errorf("%s: the answer holds the canary: %t: %.300s", door, !reads, answer)
	}
}

// observe asks at a door. If the answer holds the canary, the reading must have
// been recorded by the time the answer is here.
func (h *canaryHub) observe(door, principal string, ask func() string) (answer string) {
	h.Helper()
	began := h.clock.advance(2 * time.Minute)
	answer = ask()
	has := strings.Contains(answer, canary)
	if at := h.exposed(principal); has && at.Before(began) {
		h.Errorf("%s returned the canary, and %s was last recorded as a reader %s before", door, principal, began.Sub(at))
	}
	return answer
}

// exposed is when a principal last read, according to the store.
func (h *canaryHub) exposed(principal string) time.Time {
	h.Helper()
	all, err := h.app.store.Exposures(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return all[principal]
}

// request makes a request with a key, if it has one, and returns the status and
// the body.
func (h *canaryHub) request(method, path, secret, kind string, body []byte) string {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, bytes.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		h.Fatalf("%s: %v", path, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() == nil {
		h.Fatalf("%s: %v", path, err)
	}
	return res.Status + "\n" + string(data)
}

// rpc makes one MCP request over HTTP and returns the whole answer.
func (h *canaryHub) rpc(secret, method string, params any) string {
	h.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		h.Fatal(err)
	}
	return h.request(http.MethodPost, "/mcp", secret, "application/json", body)
}

// list lists what a key is offered.
func list[T any](h *canaryHub, secret, method, field string) (all []T) {
	h.Helper()
	_, body, _ := strings.Cut(h.rpc(secret, method, object{}), "\n")
	var answer struct{ Result map[string]json.RawMessage }
	err := json.Unmarshal([]byte(body), &answer)
	if err == nil {
		err = json.Unmarshal(answer.Result[field], &all)
	}
	if err != nil {
		h.Fatalf("%s: %v: %s", method, err, body)
	}
	return all
}

// denyAll denies what a key asks for, so that no call has to wait.
func (h *canaryHub) denyAll(principal string) {
	ctx, cancel := context.WithCancel(h.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			changes := h.app.queue.Changes()
			waiting, err := h.app.queue.Actions(ctx, hearken.ActionFilter{Principal: principal, States: []hearken.ActionState{hearken.ActionPending}})
			for i := range waiting {
				_, _, err = h.app.queue.Decide(ctx, act.DecisionRequest{ID: waiting[i].ID, Digest: waiting[i].Digest, By: "owner", From: "page"})
			}
			if err != nil && ctx.Err() == nil {
				h.Errorf("deny: %v", err)
			}
			select {
			case <-changes:
			case <-ctx.Done():
			}
		}
	}()
	h.Cleanup(func() {
		cancel()
		<-done
	})
}
