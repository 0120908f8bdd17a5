package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A session that stopped because no engine worked gets its last words once one
// does, also from the next hub.
func TestHub_Backlog(t *testing.T) {
	refused := hearken.Errorf(hearken.Unauthorized, "The key is wrong.")
	for _, tt := range []struct {
		name    string
		between func(h *testHub)
	}{
		{"SameHub", func(*testHub) {}},
		{"NextHub", func(h *testHub) { h.close(); h.open() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withHub(t, func(h *testHub) {
				id := h.start()
				in := h.attach(id)
				h.send(in, 4)
				h.engine.FailAt(6.9, 1, refused)
				h.send(in, 3)
				h.engine.FailOpen(3, refused)
				wait(time.Second)
				if s, err := h.hub.Session(h.Context(), id); err != nil || s.StopReason != hearken.StopProviderFailed {
					h.Fatalf("session %+v, %v", s, err)
				}
				if st := h.status(id); st.Backlog < 1 {
					h.Errorf("%.1f s of backlog", st.Backlog)
				}
				tt.between(h)
				wait(3 * time.Minute)
				said, happened := h.splitEntries(id)
				if want := words(0, 4); !slices.Equal(said[:4], want) {
					h.Errorf("said %q, want %q", said, want)
				}
				if last := happened[len(happened)-1]; !strings.HasSuffix(last, "transcribed later]") {
					h.Errorf("happened %q", happened)
				}
				if st := h.status(id); st.Backlog != 0 {
					h.Errorf("%.1f s of backlog are left", st.Backlog)
				}
				if h.hub.find(id) != nil {
					h.Error("the session is still in memory")
				}
			})
		})
	}
	t.Run("NeverAnEngine", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.engine.FailOpen(1_000_000, refused)
			h.send(h.attach(id), 0.1)
			wait(26 * time.Hour)
			_, happened := h.splitEntries(id)
			if last := happened[len(happened)-1]; !strings.HasSuffix(last, "never transcribed]") {
				h.Errorf("happened %q", happened)
			}
			if left := h.find(".pcm"); len(left) > 0 || h.hub.find(id) != nil {
				h.Errorf("still there: %q", left)
			}
		})
	})
	t.Run("Deleted", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.engine.FailOpen(1_000_000, refused)
			h.send(h.attach(id), 0.1)
			wait(time.Minute)
			if err := h.hub.Delete(h.Context(), id); err != nil {
				h.Error(err)
			}
			wait(time.Minute)
		})
	})
}

// slow is hardly faster than real time.
type slow struct{ *stttest.Scripted }

func (slow) Capabilities() hearken.Capabilities { return hearken.Capabilities{Pace: 1.25} }

// After a long outage a session skips ahead to live audio. What was said
// meanwhile follows later, in its own position.
func TestHub_SkipsAhead(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 4)
		h.engine.FailAt(5, 1, errors.New("connection reset"))
		h.engine.FailOpen(2, &busy{20 * time.Second})
		h.send(in, 56)
		wait(15 * time.Second)
		said, happened := h.splitEntries(id)
		// This engine speaks by the clock, so skipping ahead cuts one line in
		// two.
		for _, want := range words(0, 30) {
			if !slices.Contains(said, want) {
				h.Errorf("%q is missing", want)
			}
		}
		if !slices.IsSortedFunc(said[:10], func(a, b string) int { return len(a) - len(b) }) {
			h.Errorf("not in order: %q", said)
		}
		if len(happened) != 2 || !strings.HasPrefix(happened[0], "[gap: ") || !strings.HasSuffix(happened[1], "transcribed later]") {
			h.Errorf("happened %q", happened)
		}
		if st := h.status(id); st.Backlog != 0 || st.Dropped != 0 {
			h.Errorf("status %+v", st)
		}
	}, func(c *Config) { c.Providers[0] = slow{c.Providers[0].(*stttest.Scripted)}; c.SpoolSeconds = 600 })
}

// silentEngine takes audio and returns nothing until speaks is set.
type silentEngine struct {
	*stttest.Scripted
	speaks atomic.Bool
}

func (m *silentEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if m.speaks.Load() {
		return m.Scripted.Open(ctx, cfg)
	}
	events := make(chan hearken.StreamEvent)
	context.AfterFunc(ctx, func() { close(events) })
	return &replacedEvents{nothing{}, events}, nil
}

type nothing struct{}

func (nothing) Finalize() error                    { return nil }
func (nothing) Write(hearken.Frame) error          { return nil }
func (nothing) Events() <-chan hearken.StreamEvent { return nil }
func (nothing) Close() error                       { return nil }

// Audio that an engine returned nothing for is not taken for silence when the
// session stops.
func TestHub_StopsBeforeAnyResult(t *testing.T) {
	var engine *silentEngine
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 20)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.wantEntries(id, nil, "[gap: the last 20.0 s of audio was not transcribed in time]")
		if st := h.status(id); st.Backlog != 20 {
			h.Errorf("%.1f s of backlog", st.Backlog)
		}
		engine.speaks.Store(true)
		wait(5 * time.Minute) // a stream that is still silent is given up after two
		h.wantEntries(id, words(0, 10), "[gap: the last 20.0 s", "[20.0 s of audio was transcribed later]")
	}, func(c *Config) {
		engine = &silentEngine{Scripted: c.Providers[0].(*stttest.Scripted)}
		c.Providers[0] = engine
	})
}

var wrongKey = hearken.Errorf(hearken.Unauthorized, "The key is wrong.")

// stopWithBacklog makes a session that stopped because no engine worked, with
// three lines confirmed and 1.4 s of backlog.
func (h *testHub) stopWithBacklog() string {
	h.Helper()
	id := h.start()
	in := h.attach(id)
	h.send(in, 4)
	h.engine.FailAt(6.9, 1, wrongKey)
	h.send(in, 3)
	h.engine.FailOpen(1_000_000, wrongKey)
	wait(time.Second)
	return id
}

func TestHub_BacklogAudioIsGone(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.stopWithBacklog()
		h.close()
		h.open(func(c *Config) { c.SpoolMemory = true })
		h.engine.FailOpen(0, nil)
		wait(time.Minute)
		h.wantEntries(id, words(0, 3), "[scripted failed", "[gap: 1.4 s of audio was lost]")
	}, func(c *Config) { c.SpoolMemory = true })
}

func TestHub_BacklogOfARemovedEngine(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.stopWithBacklog()
		h.close()
		h.open(func(c *Config) { c.Providers = []hearken.Provider{stttest.Every("second", 2)} })
		wait(time.Minute)
		said, _ := h.splitEntries(id)
		if !slices.Equal(said, words(0, 4)) {
			h.Errorf("said %q", said)
		}
	})
}

// offlineEngine keeps all audio on this computer.
type offlineEngine struct{ *stttest.Scripted }

func (offlineEngine) Capabilities() hearken.Capabilities { return hearken.Capabilities{Offline: true} }

// A session for the offline engine only is never sent elsewhere, even if that
// engine fails.
func TestHub_BacklogStaysOffline(t *testing.T) {
	cloud := stttest.Every("cloud", 2)
	withHub(t, func(h *testHub) {
		s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local", Provider: "scripted"})
		if err != nil {
			h.Fatal(err)
		}
		h.engine.FailOpen(1_000_000, wrongKey)
		h.send(h.attach(s.ID), 0.1)
		wait(time.Hour)
		if n := len(cloud.Opened()); n > 0 {
			h.Errorf("%d streams in the cloud", n)
		}
	}, func(c *Config) {
		c.Providers = []hearken.Provider{cloud, offlineEngine{c.Providers[0].(*stttest.Scripted)}}
		c.Chain = []string{"cloud", "scripted"}
	})
}

func TestHub_ForgetKeepsEarlierBacklog(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.engine.Stall()
		h.send(in, 20)
		if _, err := h.hub.Forget(h.Context(), id, 6*time.Second); err != nil {
			h.Fatal(err)
		}
		h.engine.Resume()
		h.send(in, 6)
		wait(30 * time.Second)
		said, happened := h.splitEntries(id)
		for _, want := range append(words(0, 6), words(10, 13)...) {
			if !slices.Contains(said, want) {
				h.Errorf("%q is missing", want)
			}
		}
		for _, gone := range words(8, 10) {
			if slices.Contains(said, gone) {
				h.Errorf("%q was forgotten", gone)
			}
		}
		if !strings.Contains(strings.Join(happened, ""), "[14.0 s of audio was transcribed later]") {
			h.Errorf("happened %q", happened)
		}
	})
}

// A session whose whole backlog was forgotten is complete.
func TestHub_ForgetWholeBacklog(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.stopWithBacklog()
		if _, err := h.hub.Forget(h.Context(), id, time.Hour); err != nil {
			h.Fatal(err)
		}
		wait(time.Minute)
		if h.hub.find(id) != nil {
			h.Error("the session is still in memory")
		}
	})
}

// A stream that lived for a while counts as started, even if nothing became
// final.
func TestHub_LongUtterancesAndABadLine(t *testing.T) {
	engine := stttest.NewScripted("scripted", []stttest.Line{{Start: 1, End: 70, Text: "a very long line"}})
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		for at := 8.0; at < 80; at += 8 {
			engine.FailAt(at, 1, errors.New("connection reset"))
			h.send(in, 8)
		}
		wait(10 * time.Second)
		h.want(id, []string{"a very long line"})
	}, func(c *Config) {
		c.Retries = 2
		c.Providers[0] = engine
	})
}

// Journals of earlier versions call the backlog debts.
func TestSessionRecord_Backlog(t *testing.T) {
	const old = `{"id":"x","ticket":"t","debts":[{"source":"S","from":16000,"to":48000}]}`
	var head sessionRecord
	if err := json.Unmarshal([]byte(old), &head); err != nil {
		t.Fatal(err)
	}
	got := remainingBacklog(head.Backlog, nil)
	if len(got) != 1 || got[0].Origin != hearken.System || got[0].From != 16000 || got[0].To != 48000 {
		t.Errorf("%+v", got)
	}
	data, err := json.Marshal(&head)
	if err != nil || !strings.Contains(string(data), `"debts":[{"source":"S","from":16000,"to":48000}]`) {
		t.Errorf("%s, %v", data, err)
	}
}
