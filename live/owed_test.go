package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// mute takes sound and says nothing, until it is told to speak.
type mute struct {
	*stttest.Scripted
	speaks atomic.Bool
}

func (m *mute) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if m.speaks.Load() {
		return m.Scripted.Open(ctx, cfg)
	}
	events := make(chan hearken.StreamEvent)
	context.AfterFunc(ctx, func() { close(events) })
	return &told{nothing{}, events}, nil
}

type nothing struct{}

func (nothing) Write(hearken.Frame) error          { return nil }
func (nothing) Events() <-chan hearken.StreamEvent { return nil }
func (nothing) Close() error                       { return nil }

// What an engine never said anything about is not taken for silence when the
// session stops.
func TestHub_StopsBeforeTheEngineSpoke(t *testing.T) {
	var engine *mute
	within(t, func(h *house) {
		id := h.start()
		h.send(h.attach(id), 20)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.heard(id, nil, "[gap: the last 20.0 s of audio was not transcribed in time]")
		if st := h.status(id); st.Owed != 20 {
			h.Errorf("%.1f s are owed", st.Owed)
		}
		engine.speaks.Store(true)
		after(5 * time.Minute) // a stream that is still mute is given up after two
		h.heard(id, words(0, 10), "[gap: the last 20.0 s", "[20.0 s of audio was transcribed later]")
	}, func(c *Config) {
		engine = &mute{Scripted: c.Providers[0].(*stttest.Scripted)}
		c.Providers[0] = engine
	})
}

var wrongKey = hearken.Errorf(hearken.Unauthorized, "The key is wrong.")

// owing makes a session that stopped for want of an engine, with three lines
// confirmed and 1.4 s owed.
func (h *house) owing() string {
	h.Helper()
	id := h.start()
	in := h.attach(id)
	h.send(in, 4)
	h.engine.FailAt(6.9, 1, wrongKey)
	h.send(in, 3)
	h.engine.FailOpen(1_000_000, wrongKey)
	after(time.Second)
	return id
}

func TestHub_OwedSoundIsGone(t *testing.T) {
	within(t, func(h *house) {
		id := h.owing()
		h.close()
		h.open(func(c *Config) { c.SpoolMemory = true })
		h.engine.FailOpen(0, nil)
		after(time.Minute)
		h.heard(id, words(0, 3), "[scripted failed", "[gap: 1.4 s of audio was lost]")
	}, func(c *Config) { c.SpoolMemory = true })
}

func TestHub_OwedToAnEngineThatIsGone(t *testing.T) {
	within(t, func(h *house) {
		id := h.owing()
		h.close()
		h.open(func(c *Config) { c.Providers = []hearken.Provider{stttest.Every("second", 2)} })
		after(time.Minute)
		said, _ := h.spoken(id)
		if !slices.Equal(said, words(0, 4)) {
			h.Errorf("said %q", said)
		}
	})
}

// private keeps what it hears on this computer.
type private struct{ *stttest.Scripted }

func (private) Offline() {}

// What was only for the offline engine is not sent away because that one fails.
func TestHub_OwedStaysPrivate(t *testing.T) {
	cloud := stttest.Every("cloud", 2)
	within(t, func(h *house) {
		s, err := h.hub.Start(h.Context(), StartRequest{Principal: "local", Provider: "scripted"})
		if err != nil {
			h.Fatal(err)
		}
		h.engine.FailOpen(1_000_000, wrongKey)
		h.send(h.attach(s.ID), 0.1)
		after(time.Hour)
		if n := len(cloud.Opened()); n > 0 {
			h.Errorf("%d streams in the cloud", n)
		}
	}, func(c *Config) {
		c.Providers = []hearken.Provider{cloud, private{c.Providers[0].(*stttest.Scripted)}}
		c.Chain = []string{"cloud", "scripted"}
	})
}

func TestHub_ForgetKeepsWhatIsOwed(t *testing.T) {
	within(t, func(h *house) {
		id := h.start()
		in := h.attach(id)
		h.engine.Stall()
		h.send(in, 20)
		if _, err := h.hub.Forget(h.Context(), id, 6*time.Second); err != nil {
			h.Fatal(err)
		}
		h.engine.Resume()
		h.send(in, 6)
		after(30 * time.Second)
		said, happened := h.spoken(id)
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

// A session that owes nothing any more, since that was forgotten, is done.
func TestHub_ForgetAllThatIsOwed(t *testing.T) {
	within(t, func(h *house) {
		id := h.owing()
		if _, err := h.hub.Forget(h.Context(), id, time.Hour); err != nil {
			h.Fatal(err)
		}
		after(time.Minute)
		if h.hub.find(id) != nil {
			h.Error("the session is still in the hub's hands")
		}
	})
}

// A stream that lived for a while was no failure to begin, though it settled
// nothing.
func TestHub_LongUtterancesAndABadLine(t *testing.T) {
	engine := stttest.NewScripted("scripted", []stttest.Line{{Start: 1, End: 70, Text: "a very long line"}})
	within(t, func(h *house) {
		id := h.start()
		in := h.attach(id)
		for at := 8.0; at < 80; at += 8 {
			engine.FailAt(at, 1, errors.New("connection reset"))
			h.send(in, 8)
		}
		after(10 * time.Second)
		h.want(id, []string{"a very long line"})
	}, func(c *Config) {
		c.Retries = 2
		c.Providers[0] = engine
	})
}
