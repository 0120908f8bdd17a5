package faults_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/stt/deepgram"
	"github.com/hearken-dev/hearken/test/faults"
)

// A house is a hub whose sessions are heard by a Deepgram server behind a bad
// network. Any server that speaks the protocol will do.
type house struct {
	t     *testing.T
	hub   *live.Hub
	proxy *faults.Proxy
}

// open opens a hub in dir that reaches the server through the proxy by dial.
func open(t *testing.T, dir string, p *faults.Proxy, dial faults.Dialer, cfg deepgram.Config, change ...func(*live.Config)) *house {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "hearken.db"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.APIKey, cfg.BaseURL = "secret", "ws://deepgram.test"
	cfg.Client = &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: true,
	}}
	settings := live.Config{
		Dir: dir, Store: store, Providers: []hearken.Provider{deepgram.New(cfg)}, DefaultLanguage: "en",
		Retries: 8, DrainWithin: time.Hour,
	}
	for _, c := range change {
		c(&settings)
	}
	hub, err := live.Open(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		store.Close()
	})
	return &house{t: t, hub: hub, proxy: p}
}

// within runs a test on a clock of its own, in a house whose network is in
// memory: minutes of sound take seconds.
func within(t *testing.T, server func(*testing.T) http.Handler, test func(h *house)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		near, far := faults.NewMemory(), faults.NewMemory()
		s := &http.Server{Handler: server(t)}
		go s.Serve(far)
		t.Cleanup(func() { s.Close() })
		p := faults.Serve(near, far.Dial)
		t.Cleanup(p.Close)
		test(open(t, dir, p, near.Dial, deepgram.Config{}))
	})
}

// session starts a session and attaches to it.
func (h *house) session() (string, hearken.Input) {
	h.t.Helper()
	s, err := h.hub.Start(h.t.Context(), live.StartRequest{Principal: "local"})
	if err != nil {
		h.t.Fatal(err)
	}
	in, err := h.hub.Attach(h.t.Context(), s.ID, "local")
	if err != nil {
		h.t.Fatal(err)
	}
	return s.ID, in
}

// transcribe sends sound in real time while the plan goes wrong, stops the
// session and returns what it holds.
func (h *house) transcribe(plan []faults.Fault, channels ...[]int16) []hearken.Segment {
	h.t.Helper()
	id, in := h.session()
	const frame = hearken.SampleRate / 10
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for at := 0; at < len(channels[0]); at += frame {
		<-tick.C
		for len(plan) > 0 && time.Since(began) >= plan[0].At {
			h.proxy.Do(plan[0])
			plan = plan[1:]
		}
		pcm := make([][]int16, len(channels))
		for i, c := range channels {
			pcm[i] = c[at:min(at+frame, len(c))]
		}
		if err := in.Write(pcm...); err != nil {
			h.t.Fatal(err)
		}
	}
	return h.stop(id)
}

// stop stops a session and returns what it holds.
func (h *house) stop(id string) []hearken.Segment {
	h.t.Helper()
	s, err := h.hub.Stop(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	if s.StopReason != hearken.StopRequested {
		h.t.Errorf("the session stopped: %s", s.StopReason)
	}
	return h.read(id)
}

// read returns what a session holds.
func (h *house) read(id string) []hearken.Segment {
	h.t.Helper()
	page, err := h.hub.Read(h.t.Context(), live.ReadRequest{Session: id, Limit: 1 << 20, Words: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return page.Segments
}

// words are the words from one side.
func words(segments []hearken.Segment, o hearken.Origin) (words []hearken.Word) {
	for _, s := range segments {
		if s.Origin == o && s.Spoken() {
			words = append(words, s.Words...)
		}
	}
	return words
}

// events are what the hub noted.
func events(segments []hearken.Segment) (texts []string) {
	for _, s := range segments {
		if s.Origin == hearken.Happening {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Ten minutes, a fault every 15 seconds, outages of up to 8: nothing is lost,
// nothing doubled, everything in its place.
func TestRecovery(t *testing.T) {
	for seed := range uint64(3) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(seed, 600)
			var plan []faults.Fault
			for f := range faults.Plan(seed, 15*time.Second, 8*time.Second) {
				if plan = append(plan, f); len(plan) == 40 {
					break
				}
			}
			within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
				heard := h.transcribe(plan, pcm)
				judge(h.t, script, words(heard, hearken.Microphone))
				h.t.Logf("%d words, %+v, %v", len(script), h.proxy.Stats(), events(heard))
			})
		})
	}
}

// Each kind of fault by itself, at any moment.
func TestRecovery_Kinds(t *testing.T) {
	for _, kind := range faults.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(7, 90)
			var plan []faults.Fault
			for f := range faults.Plan(7, 9*time.Second, 6*time.Second) {
				f.Kind = kind
				if plan = append(plan, f); len(plan) == 9 {
					break
				}
			}
			within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
				heard := h.transcribe(plan, pcm)
				judge(h.t, script, words(heard, hearken.Microphone))
				if n := h.proxy.Stats().Connections; kind != faults.Stall && n < 6 {
					h.t.Errorf("only %d connections: the faults do not bite", n)
				}
			})
		})
	}
}

// Two sides of a conversation are two connections, and both survive.
func TestRecovery_TwoChannels(t *testing.T) {
	here, pcm := speech(11, 60)
	there, far := speech(12, 60)
	// Words of the far side have numbers of their own.
	script := slices.Clone(here)
	for i := range there {
		there[i].text = "far" + there[i].text
	}
	script = append(script, there...)
	for i := range far {
		if far[i] != 0 {
			far[i] += int16(len(here))
		}
	}
	plan := slices.Collect(func(yield func(faults.Fault) bool) {
		for f := range faults.Plan(3, 7*time.Second, 3*time.Second) {
			if f.At > 55*time.Second || !yield(f) {
				return
			}
		}
	})
	within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
		heard := h.transcribe(plan, pcm, far)
		judge(h.t, here, words(heard, hearken.Microphone))
		judge(h.t, there, words(heard, hearken.System))
	})
}
