package scribe_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A fixture is a scribe with its hub and a computer's sound, on a clock of its
// own.
type fixture struct {
	*testing.T
	hub      *live.Hub
	scribe   *scribe.Scribe
	engine   hearken.Provider
	captures []*fakeCapture // one for each capture that was opened
	broken   error          // why no capture can be opened
}

// withFixture runs a test on synctest's clock.
func withFixture(t *testing.T, engine hearken.Provider, test func(h *fixture), others ...hearken.Provider) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &fixture{T: t, engine: engine}
		store := storetest.NewMemory()
		var err error
		h.hub, err = live.Open(t.Context(), live.Config{
			Dir: dir, Store: store, Providers: append([]hearken.Provider{engine}, others...), DefaultLanguage: "en", SpoolMemory: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		h.scribe = scribe.New(scribe.Config{
			Hub: h.hub, Principal: "local", Title: "Capture", Capture: h.open,
			Hearing: func(st *live.Status) string { return st.Engine + " hears " + st.Session.Language },
		})
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := h.scribe.Close(ctx); err != nil {
				t.Errorf("close scribe: %v", err)
			}
			if err := h.hub.Close(ctx); err != nil {
				t.Errorf("close hub: %v", err)
			}
		}()
		test(h)
	})
}

// open is the scribe's way to this computer's sound.
func (h *fixture) open(context.Context) (hearken.Capture, error) {
	if h.broken != nil {
		return nil, h.broken
	}
	r := &fakeCapture{failed: make(chan error, 1), channels: 2}
	h.captures = append(h.captures, r)
	return r, nil
}

// A fakeCapture is sound in real time: 20 ms at a time, each sample with the next
// number, the same on both channels.
type fakeCapture struct {
	failed   chan error
	channels int

	mu   sync.Mutex
	next int16
	sent int64
}

func (r *fakeCapture) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.failed:
			return err
		case <-tick.C:
		}
		frame := make([]int16, hearken.SampleRate/50)
		r.mu.Lock()
		for i := range frame {
			frame[i] = r.next
			r.next++
		}
		r.sent += int64(len(frame))
		r.mu.Unlock()
		both := [][]int16{frame, slices.Clone(frame)}
		if err := deliver(both[:r.channels]...); err != nil {
			return err
		}
	}
}

func (r *fakeCapture) Notes() []string   { return []string{"Microphone: a fakeCapture of numbers."} }
func (r *fakeCapture) Levels() []float64 { return []float64{0.5, 0.25}[:r.channels] }

// must returns what a call returned that may not fail.
func must[T any](h *fixture) func(T, error) T {
	h.Helper()
	return func(v T, err error) T {
		h.Helper()
		if err != nil {
			h.Fatal(err)
		}
		return v
	}
}

func (h *fixture) start() *hearken.ScribeStatus {
	h.Helper()
	return must[*hearken.ScribeStatus](h)(h.scribe.Start(h.Context(), hearken.CaptureRequest{}))
}

func (h *fixture) stop() *hearken.ScribeStatus {
	h.Helper()
	return must[*hearken.ScribeStatus](h)(h.scribe.Stop(h.Context()))
}

func (h *fixture) status() *hearken.ScribeStatus {
	h.Helper()
	return must[*hearken.ScribeStatus](h)(h.scribe.Status(h.Context()))
}

func (h *fixture) tail(req hearken.TailRequest) *hearken.ScribePage {
	h.Helper()
	return must[*hearken.ScribePage](h)(h.scribe.Tail(h.Context(), req))
}

// after waits on the test's clock.
func after(d time.Duration) { <-time.After(d) }

func texts(entries []hearken.Segment) []string {
	out := []string{}
	for i := range entries {
		out = append(out, string(entries[i].Status)+" "+entries[i].Text)
	}
	return out
}

// sides is an engine that hears something else on each channel.
type sides struct{ near, far *stttest.Scripted }

func (sides) Name() string { return "scripted" }

func (p sides) Capabilities() hearken.Capabilities { return p.near.Capabilities() }

func (p sides) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return p.near.Check(ctx, cfg)
}

func (p sides) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if cfg.Origin == hearken.System {
		return p.far.Open(ctx, cfg)
	}
	return p.near.Open(ctx, cfg)
}

// A tape is an engine that keeps what it hears, by session and channel.
type tape struct {
	stttest.Null
	mu    sync.Mutex
	heard map[string][]int16
}

func (t *tape) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	st, err := t.Null.Open(ctx, cfg)
	return &taped{st, t, cfg.Session + string(cfg.Origin)}, err
}

type taped struct {
	hearken.Stream
	tape *tape
	key  string
}

func (s *taped) Write(f hearken.Frame) error {
	s.tape.mu.Lock()
	s.tape.heard[s.key] = append(s.tape.heard[s.key], f.PCM...)
	s.tape.mu.Unlock()
	return s.Stream.Write(f)
}
