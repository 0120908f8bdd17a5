package faults_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
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
	sent  time.Time // when the last sound was
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
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
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
func within(t *testing.T, server func(*testing.T) http.Handler, test func(h *house), change ...func(*live.Config)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		near, far := faults.NewMemory(), faults.NewMemory()
		serve(t, far, server(t))
		p := faults.Serve(near, far.Dial)
		t.Cleanup(p.Close)
		test(open(t, dir, p, near.Dial, deepgram.Config{}, change...))
	})
}

// serve serves on l until the test ends.
func serve(t *testing.T, l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
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
	h.sent = time.Now()
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
	h.settle(id)
	return h.read(id)
}

// settle waits until the session owes nothing.
func (h *house) settle(id string) {
	h.t.Helper()
	for patience := time.After(30 * time.Minute); ; {
		s, err := h.hub.Status(h.t.Context(), id)
		if err != nil {
			h.t.Fatal(err)
		}
		if s.Backlog == 0 {
			return
		}
		select {
		case <-time.After(time.Second):
		case <-patience:
			h.t.Fatalf("%.1f s are still waiting", s.Backlog)
		}
	}
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

// words are the words from one side, in the order in which they were said.
func words(segments []hearken.Segment, o hearken.Origin) (words []hearken.Word) {
	for _, s := range segments {
		if s.Origin == o && s.Spoken() {
			words = append(words, s.Words...)
		}
	}
	slices.SortStableFunc(words, func(a, b hearken.Word) int { return cmp.Compare(a.StartTime, b.StartTime) })
	return words
}

// events are what the hub noted.
func events(segments []hearken.Segment) (texts []string) {
	for _, s := range segments {
		if s.Origin == hearken.EventOrigin {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// seeds is how many different runs are asked for.
func seeds(t *testing.T) uint64 {
	n, err := strconv.ParseUint(cmp.Or(os.Getenv("HEARKEN_TEST_SEEDS"), "1"), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Ten minutes, a fault every 15 seconds, outages of up to 8: nothing is lost,
// nothing doubled, everything in its place. HEARKEN_TEST_SEEDS asks for more
// than one such run.
func TestRecovery(t *testing.T) {
	for seed := range seeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
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
				h.t.Logf("%d words, drained in %s, %+v, %v", len(script), time.Since(h.sent), h.proxy.Stats(), events(heard))
			})
		})
	}
}

// Each kind of fault by itself, at any moment.
func TestRecovery_Kinds(t *testing.T) {
	for _, kind := range faults.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(7, 50)
			var plan []faults.Fault
			for f := range faults.Plan(7, 9*time.Second, 6*time.Second) {
				f.Kind = kind
				if plan = append(plan, f); len(plan) == 5 {
					break
				}
			}
			within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
				heard := h.transcribe(plan, pcm)
				judge(h.t, script, words(heard, hearken.Microphone))
				if n := h.proxy.Stats().Connections; kind != faults.Stall && n < 4 {
					h.t.Errorf("only %d connections: the faults do not bite", n)
				}
			})
		})
	}
}

// The same over real connections, as fast as they are, in the middle of a
// phrase: the kinds that the system has a part in.
func TestRecovery_TCP(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Unavailable, faults.Cut, faults.Reset, faults.HalfToClient, faults.HalfToServer, faults.Stall} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(5, 20)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := newStandIn(t, script)
			serve(t, l, server)
			p := faults.New(t, l.Addr().String())
			fault := faults.Fault{Kind: kind, For: 300 * time.Millisecond}
			if kind == faults.Unavailable {
				fault.For = 3 * time.Second // the next connection comes after a second
			}
			var once sync.Once
			hurt := make(chan struct{})
			server.heard = func(seconds float64) {
				if seconds > 6 {
					once.Do(func() {
						p.Do(fault)
						close(hurt)
					})
				}
			}
			dial := func(ctx context.Context) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", p.Addr())
			}
			h := open(t, t.TempDir(), p, dial, deepgram.Config{Pace: -1})
			id, in := h.session()
			const half = 10 * hearken.SampleRate
			if err := in.Write(pcm[:half]); err != nil {
				t.Fatal(err)
			}
			<-hurt
			if err := in.Write(pcm[half:]); err != nil {
				t.Fatal(err)
			}
			judge(t, script, words(h.stop(id), hearken.Microphone))
			if n := p.Stats().Connections; kind != faults.Stall && n < 2 {
				t.Errorf("only %d connections: the fault does not bite", n)
			}
		})
	}
}

// A server that takes everything and says nothing, for long, is left for a new
// connection. If it was gone for so long that the session goes on without the
// words, they come later.
func TestRecovery_Long(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Stall, faults.Outage} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(9, 110)
			within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
				heard := h.transcribe([]faults.Fault{{At: 20 * time.Second, Kind: kind, For: 50 * time.Second}}, pcm)
				judge(h.t, script, words(heard, hearken.Microphone))
				if n := h.proxy.Stats().Connections; n < 2 {
					h.t.Errorf("%d connections: nobody lost patience", n)
				}
			}, func(c *live.Config) { c.Retries = 50 })
		})
	}
}

// A key that is refused, or an account that is unpaid, is not asked about
// again and again. What was confirmed stays, and the rest comes when the
// server is well again.
func TestRecovery_Refused(t *testing.T) {
	for _, status := range []int{401, 402, 403} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			script, pcm := speech(13, 40)
			within(t, func(t *testing.T) http.Handler { return newStandIn(t, script) }, func(h *house) {
				id, in := h.session()
				const frame = hearken.SampleRate / 10
				at := 0
				for ; at < len(pcm); at += frame {
					<-time.After(100 * time.Millisecond)
					if at == 20*hearken.SampleRate {
						h.proxy.Answer(1000, status, nil, "")
						h.proxy.Cut()
					}
					if in.Write(pcm[at:at+frame]) != nil {
						break
					}
				}
				s, err := h.hub.Session(h.t.Context(), id)
				if err != nil {
					h.t.Fatal(err)
				}
				if s.Status != hearken.Stopped || s.StopReason != hearken.StopProviderFailed {
					h.t.Errorf("the session is %s: %s", s.Status, s.StopReason)
				}
				if n := h.proxy.Stats().Answered; n != 1 {
					h.t.Errorf("asked %d times", n)
				}
				kept := words(h.read(id), hearken.Microphone)
				if n := len(kept); n == 0 || kept[n-1].EndTime < 15 {
					h.t.Fatalf("%d words were kept", n)
				}
				judge(h.t, script[:len(kept)], kept)
				h.proxy.Answer(0, 0, nil, "")
				h.settle(id)
				sent := slices.IndexFunc(script, func(w spoken) bool { return w.to > int64(at) })
				whole := words(h.read(id), hearken.Microphone)
				judge(h.t, script[:sent], whole[:min(sent, len(whole))]) // the last word was broken off
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
