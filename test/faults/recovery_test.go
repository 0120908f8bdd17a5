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
	"github.com/hearken-dev/hearken/test/deepgramtest"
	"github.com/hearken-dev/hearken/test/faults"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// A relay is a hub whose engine is a Deepgram server behind a bad
// network. Any server that speaks the protocol will do.
type relay struct {
	t     *testing.T
	hub   *live.Hub
	proxy *faults.Proxy
	sent  time.Time // when the last audio was sent
}

// open opens a hub in dir that reaches the server through the proxy by dial.
func open(t *testing.T, dir string, p *faults.Proxy, dial faults.Dialer, cfg deepgram.Config, change ...func(*live.Config)) *relay {
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
	return &relay{t: t, hub: hub, proxy: p}
}

// simulate runs a test on a clock of its own, with a relay whose network is in
// memory: minutes of audio take seconds.
func simulate(t *testing.T, server func(*testing.T) http.Handler, test func(h *relay), change ...func(*live.Config)) {
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
func (h *relay) session() (string, hearken.Input) {
	h.t.Helper()
	s, err := h.hub.Start(h.t.Context(), hearken.StartRequest{Principal: "local"})
	if err != nil {
		h.t.Fatal(err)
	}
	in, err := h.hub.Attach(h.t.Context(), s.ID, "local")
	if err != nil {
		h.t.Fatal(err)
	}
	return s.ID, in
}

// transcribe sends audio in real time, carries out the plan, stops the
// session and returns what it holds.
func (h *relay) transcribe(plan []faults.Fault, channels ...[]int16) []hearken.Segment {
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
func (h *relay) stop(id string) []hearken.Segment {
	h.t.Helper()
	s, err := h.hub.Stop(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	if s.StopReason != hearken.StopRequested {
		h.t.Errorf("the session stopped: %s", s.StopReason)
	}
	h.waitTranscribed(id)
	return h.read(id)
}

// waitTranscribed waits until the session has no backlog.
func (h *relay) waitTranscribed(id string) {
	h.t.Helper()
	hubtest.WaitUntil(h.t, 30*time.Minute, "the backlog is transcribed", func() bool {
		s, err := h.hub.Status(h.t.Context(), id)
		if err != nil {
			h.t.Fatal(err)
		}
		return s.Backlog == 0
	})
}

// read returns what a session holds.
func (h *relay) read(id string) []hearken.Segment {
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

// events are the texts of the events.
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
			script, pcm := deepgramtest.Script(seed, 600)
			var plan []faults.Fault
			for f := range faults.Plan(seed, 15*time.Second, 8*time.Second) {
				if plan = append(plan, f); len(plan) == 40 {
					break
				}
			}
			simulate(t, func(t *testing.T) http.Handler { return deepgramtest.New(t, script) }, func(h *relay) {
				got := h.transcribe(plan, pcm)
				checkWords(h.t, script, words(got, hearken.Microphone))
				h.t.Logf("%d words, drained in %s, %+v, %v", len(script), time.Since(h.sent), h.proxy.Stats(), events(got))
			})
		})
	}
}

// Each kind of fault alone, at any moment.
func TestRecovery_Kinds(t *testing.T) {
	for _, kind := range faults.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := deepgramtest.Script(7, 50)
			var plan []faults.Fault
			for f := range faults.Plan(7, 9*time.Second, 6*time.Second) {
				f.Kind = kind
				if plan = append(plan, f); len(plan) == 5 {
					break
				}
			}
			simulate(t, func(t *testing.T) http.Handler { return deepgramtest.New(t, script) }, func(h *relay) {
				got := h.transcribe(plan, pcm)
				checkWords(h.t, script, words(got, hearken.Microphone))
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
			script, pcm := deepgramtest.Script(5, 20)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := deepgramtest.New(t, script)
			serve(t, l, server)
			p := faults.New(t, l.Addr().String())
			fault := faults.Fault{Kind: kind, For: 300 * time.Millisecond}
			if kind == faults.Unavailable {
				fault.For = 3 * time.Second // the next connection comes after a second
			}
			var once sync.Once
			hurt := make(chan struct{})
			server.Heard = func(seconds float64) {
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
			checkWords(t, script, words(h.stop(id), hearken.Microphone))
			if n := p.Stats().Connections; kind != faults.Stall && n < 2 {
				t.Errorf("only %d connections: the fault does not bite", n)
			}
		})
	}
}

// A server that takes everything and says nothing, for long, is left for a new
// connection. If it was gone for so long that the session continues without the
// words, they come later.
func TestRecovery_Long(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Stall, faults.Outage} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			script, pcm := deepgramtest.Script(9, 110)
			simulate(t, func(t *testing.T) http.Handler { return deepgramtest.New(t, script) }, func(h *relay) {
				got := h.transcribe([]faults.Fault{{At: 20 * time.Second, Kind: kind, For: 50 * time.Second}}, pcm)
				checkWords(h.t, script, words(got, hearken.Microphone))
				if n := h.proxy.Stats().Connections; n < 2 {
					h.t.Errorf("%d connections: the client did not reconnect", n)
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
			script, pcm := deepgramtest.Script(13, 40)
			simulate(t, func(t *testing.T) http.Handler { return deepgramtest.New(t, script) }, func(h *relay) {
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
				checkWords(h.t, script[:len(kept)], kept)
				h.proxy.Answer(0, 0, nil, "")
				h.waitTranscribed(id)
				sent := slices.IndexFunc(script, func(w deepgramtest.Word) bool { return w.To > int64(at) })
				whole := words(h.read(id), hearken.Microphone)
				checkWords(h.t, script[:sent], whole[:min(sent, len(whole))]) // the last word was broken off
			})
		})
	}
}

// Two sides of a conversation are two connections, and both survive.
func TestRecovery_TwoChannels(t *testing.T) {
	here, pcm := deepgramtest.Script(11, 60)
	there, far := deepgramtest.Script(12, 60)
	// Words of the far side have numbers of their own.
	script := slices.Clone(here)
	for i := range there {
		there[i].Text = "far" + there[i].Text
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
	simulate(t, func(t *testing.T) http.Handler { return deepgramtest.New(t, script) }, func(h *relay) {
		got := h.transcribe(plan, pcm, far)
		checkWords(h.t, here, words(got, hearken.Microphone))
		checkWords(h.t, there, words(got, hearken.System))
	})
}
