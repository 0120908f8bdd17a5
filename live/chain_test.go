package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// withSecondEngine adds an engine that hears the same and takes over when the
// first fails.
func withSecondEngine(second *stttest.Scripted) func(*Config) {
	return func(c *Config) {
		c.Providers = append(c.Providers, second)
		c.Chain = []string{"scripted", "second"}
	}
}

// splitEntries splits the texts of a session into speech and events.
func (h *testHub) splitEntries(id string) (said, happened []string) {
	for _, text := range h.texts(id) {
		if strings.HasPrefix(text, "[") {
			happened = append(happened, text)
		} else {
			said = append(said, text)
		}
	}
	return said, happened
}

// wantEntries checks what was said in a session, and how the texts of its
// events begin.
func (h *testHub) wantEntries(id string, want []string, events ...string) {
	h.Helper()
	said, happened := h.splitEntries(id)
	if !slices.Equal(said, want) {
		h.Errorf("said\n\t%s\nwant\n\t%s", strings.Join(said, "\n\t"), strings.Join(want, "\n\t"))
	}
	if !slices.EqualFunc(happened, events, strings.HasPrefix) {
		h.Errorf("happened\n\t%s\nwant\n\t%s", strings.Join(happened, "\n\t"), strings.Join(events, "\n\t"))
	}
}

func TestHub_FailOver(t *testing.T) {
	gone := errors.New("connection reset")
	for _, tt := range []struct {
		name  string
		spoil func(h *testHub)
		event string
	}{
		{"Gone", func(h *testHub) { h.engine.FailAt(5, 100, gone); h.engine.FailOpen(100, gone) }, "[scripted failed: connection reset. Continuing with second.]"},
		{"Refused", func(h *testHub) {
			h.engine.FailAt(5, 100, hearken.Errorf(hearken.Unauthorized, "The key is wrong."))
		}, "[scripted failed: The key is wrong. Continuing with second.]"},
		{"RateLimited", func(h *testHub) { h.engine.FailAt(5, 100, &busy{20 * time.Second}) }, "[scripted failed: too many requests."},
		{"FallsSilent", func(h *testHub) { h.engine.Stall() }, "[scripted failed: It is more than 30 s behind and does not catch up. Continuing with second.]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			second := stttest.Every("second", 2)
			withHub(t, func(h *testHub) {
				id := h.start()
				in := h.attach(id)
				h.send(in, 3)
				tt.spoil(h)
				h.send(in, 57)
				wait(5 * time.Second)
				h.wantEntries(id, words(0, 30), tt.event)
				if st := h.status(id); st.Engine != "second" || st.Session.Provider != "scripted" {
					h.Errorf("engine %q of session %+v", st.Engine, st.Session)
				}
				h.engine.Resume()
			}, withSecondEngine(second))
		})
	}
	t.Run("TwoChannelsOneEvent", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			in := h.attach(id)
			h.engine.FailAt(5, 100, hearken.Errorf(hearken.Unauthorized, "The key is wrong."))
			frame := make([]int16, hearken.SampleRate/10)
			for range 200 {
				wait(100 * time.Millisecond)
				if err := in.Write(frame, frame); err != nil {
					h.Fatal(err)
				}
			}
			wait(5 * time.Second)
			said, happened := h.splitEntries(id)
			if len(said) != 20 || len(happened) != 1 {
				h.Errorf("%d lines and %q", len(said), happened)
			}
		}, withSecondEngine(stttest.Every("second", 2)))
	})
	t.Run("NotForItsLanguage", func(t *testing.T) {
		second := stttest.Every("second", 2)
		withHub(t, func(h *testHub) {
			id := h.start()
			in := h.attach(id)
			second.Refuse(hearken.Errorf(hearken.ProviderNotConfigured, "no Japanese."))
			h.engine.FailOpen(100, hearken.Errorf(hearken.Unauthorized, "The key is wrong."))
			h.send(in, 0.1)
			wait(time.Second)
			if s, _ := h.hub.Session(h.Context(), id); s.StopReason != hearken.StopProviderFailed {
				h.Errorf("session %+v", s)
			}
		}, withSecondEngine(second))
	})
	t.Run("AtTheStart", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			h.engine.Refuse(hearken.Errorf(hearken.APIKeyMissing, "There is no key."))
			id := h.start()
			h.send(h.attach(id), 10)
			wait(5 * time.Second)
			h.wantEntries(id, words(0, 5), "[scripted cannot serve this session: There is no key. Continuing with second.]")
		}, withSecondEngine(stttest.Every("second", 2)))
	})
	t.Run("NobodyCan", func(t *testing.T) {
		second := stttest.Every("second", 2)
		withHub(t, func(h *testHub) {
			h.engine.Refuse(hearken.Errorf(hearken.APIKeyMissing, "There is no key."))
			second.Refuse(hearken.Errorf(hearken.ProviderNotConfigured, "no Japanese."))
			if _, err := h.hub.Start(h.Context(), hearken.StartRequest{}); hearken.CodeOf(err) != hearken.APIKeyMissing {
				h.Errorf("started: %v", err)
			}
		}, withSecondEngine(second))
	})
}

// busy is an engine's error that asks for a pause.
type busy struct{ wait time.Duration }

func (b *busy) Error() string             { return "too many requests" }
func (b *busy) RetryAfter() time.Duration { return b.wait }

func TestHub_ReturnsToPreferredEngine(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.engine.FailAt(5, 100, errors.New("connection reset"))
		h.engine.FailOpen(6, errors.New("connection refused"))
		h.send(in, 240)
		wait(5 * time.Second)
		h.wantEntries(id, words(0, 120), "[scripted failed: connection refused. Continuing with second.]", "[scripted works again. Continuing with it.]")
		if st := h.status(id); st.Engine != "scripted" {
			h.Errorf("goes on with %q", st.Engine)
		}
	}, withSecondEngine(stttest.Every("second", 2)), func(c *Config) { c.ReturnAfter = 20 * time.Second })
}

func TestHub_ChainOf(t *testing.T) {
	withHub(t, func(h *testHub) {
		for _, tt := range []struct {
			wanted, want string
			code         hearken.Code
		}{
			{"", "scripted second", ""},
			{"scripted", "scripted second", ""},
			{"second", "second", ""},
			{"second,scripted", "second scripted", ""},
			{"second, second", "", hearken.Invalid},
			{"third", "", hearken.ProviderNotConfigured},
			{"scripted,third", "", hearken.ProviderNotConfigured},
		} {
			got, err := h.hub.chainOf(hearken.StartRequest{Provider: tt.wanted})
			if hearken.CodeOf(err) != tt.code || err == nil && strings.Join(got, " ") != tt.want {
				h.Errorf("%q: %q, %v", tt.wanted, got, err)
			}
		}
	}, withSecondEngine(stttest.Every("second", 2)))
}

// limited has streams that may be open for a minute and a half.
type limited struct{ *stttest.Scripted }

func (limited) Capabilities() hearken.Capabilities {
	return hearken.Capabilities{MaxStream: 90 * time.Second}
}

func TestHub_RollsOver(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 300)
		wait(5 * time.Second)
		h.want(id, words(0, 150))
		opened := h.engine.Opened()
		if len(opened) < 4 {
			h.Errorf("%d streams in 300 s", len(opened))
		}
	}, func(c *Config) { c.Providers[0] = limited{c.Providers[0].(*stttest.Scripted)} })
}

// diarized makes every stream report two speakers in turn.
type diarized struct{ hearken.Provider }

func (d diarized) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	st, err := d.Provider.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	events := make(chan hearken.StreamEvent)
	go func() {
		defer close(events)
		n := 0
		for ev := range st.Events() {
			if ev.Kind == hearken.Final && ev.Segment.Status != hearken.NoSpeech {
				ev.Segment.Speaker = new(n % 2)
				n++
			}
			events <- ev
		}
	}()
	return &replacedEvents{st, events}, nil
}

type replacedEvents struct {
	hearken.Stream
	events chan hearken.StreamEvent
}

func (s *replacedEvents) Events() <-chan hearken.StreamEvent { return s.events }

func TestHub_SpeakersOfANewConnection(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.engine.FailAt(9, 1, errors.New("connection reset"))
		h.send(h.attach(id), 16)
		wait(5 * time.Second)
		page, err := h.hub.Read(h.Context(), ReadRequest{Session: id})
		if err != nil {
			h.Fatal(err)
		}
		var got []int
		for _, seg := range page.Segments {
			got = append(got, *seg.Speaker)
		}
		if want := []int{0, 1, 0, 1, 2, 3, 2, 3}; !slices.Equal(got, want) {
			h.Errorf("speakers %v, want %v", got, want)
		}
	}, func(c *Config) { c.Providers[0] = diarized{c.Providers[0]} })
}

func TestCutOverlap(t *testing.T) {
	word := func(w string, from, to float64) hearken.Word {
		return hearken.Word{Word: w, StartTime: from, EndTime: to}
	}
	for _, tt := range []struct {
		name       string
		seg        hearken.Segment
		finalUntil float64
		want       string
	}{
		{"After", hearken.Segment{Text: "hello there", StartTime: 5, EndTime: 6}, 5, "hello there"},
		{"Before", hearken.Segment{Text: "hello there", StartTime: 3, EndTime: 5}, 5, ""},
		{"Across", hearken.Segment{Text: "Hello, there you.", StartTime: 4, EndTime: 7, Words: []hearken.Word{word("Hello,", 4, 5), word("there", 5.1, 6), word("you.", 6, 7)}}, 5, "there you."},
		{"PunctuationIsNotInTheWords", hearken.Segment{Text: "Hello, there you.", StartTime: 4, EndTime: 7, Words: []hearken.Word{word("Hello", 4, 5), word("there", 5.1, 6), word("you", 6, 7)}}, 5, "there you."},
		{"NoSpaces", hearken.Segment{Text: "今日はいい天気", StartTime: 4, EndTime: 7, Words: []hearken.Word{word("今日", 4, 5), word("は", 5.1, 5.2), word("いい", 5.2, 6), word("天気", 6, 7)}}, 5, "はいい天気"},
		{"OtherWordsThanTheText", hearken.Segment{Text: "24 people", StartTime: 4, EndTime: 7, Words: []hearken.Word{word("twenty", 4, 4.5), word("four", 4.5, 5), word("people", 5.1, 7)}}, 5, "people"},
		{"Estimated", hearken.Segment{Text: "hello there", StartTime: 4, EndTime: 7, Estimated: true, Words: []hearken.Word{word("hello", 4, 5), word("there", 5, 7)}}, 5, "hello there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if cutOverlap(&tt.seg, tt.finalUntil) {
				got = tt.seg.Text
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
