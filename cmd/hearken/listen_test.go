package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func caption(o hearken.Origin, s hearken.Status, text string) hearken.Segment {
	return hearken.Segment{Origin: o, Status: s, Text: text, Timestamp: time.Date(2026, 11, 15, 9, 30, 5, 0, time.Local)}
}

func TestCaptions_Plain(t *testing.T) {
	var out bytes.Buffer
	c := &captions{w: &out, width: func() int { return 0 }}
	c.status(&meter{Levels: []float64{1}})
	c.show([]hearken.Segment{
		caption("M", "C", "good\x1b[2J morning"), caption("S", "C", "hello"), caption("S", "T", "hej"), caption("M", "N", ""),
		caption("S", "N", "[speech not understood]"), caption("E", "C", "[gap]"),
	}, []hearken.Segment{caption("M", "U", "not y")})
	c.remark("done")
	c.clear()
	want := "09:30:05  You   good[2J morning\n09:30:05  Them  hello\n09:30:05  Them  → hej\n09:30:05  Them  [speech not understood]\n09:30:05        [gap]\n(done)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// On a terminal, unconfirmed lines are below the others and are replaced.
func TestCaptions_Terminal(t *testing.T) {
	var out bytes.Buffer
	c := &captions{w: &out, width: func() int { return 40 }, colour: true}
	c.show(nil, []hearken.Segment{caption("M", "U", "one two three four five six seven eight")})
	c.status(&meter{Length: 65 * time.Second, Levels: []float64{1, 0.004}, Lag: 0.25, Health: "provider_trouble"})
	c.show([]hearken.Segment{caption("M", "C", "one two three")}, nil)
	c.clear()
	want := "\x1b[2m\x1b[36m09:30:05  You   …r five six seven eight\x1b[0m\n" +
		"\x1b[1A\r\x1b[J\x1b[2m\x1b[36m09:30:05  You   …r five six seven eight\x1b[0m\n" +
		"\x1b[31m●\x1b[0m 1:05  You ▮▮▮▮▮▮▮▮  Them ▮▮▯▯▯▯▯▯  la\n" +
		"\x1b[2A\r\x1b[J\x1b[36m09:30:05  You   one two three\x1b[0m\n" +
		"\x1b[31m●\x1b[0m 1:05  You ▮▮▮▮▮▮▮▮  Them ▮▮▯▯▯▯▯▯  la\n" +
		"\x1b[1A\r\x1b[J"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		for _, colour := range []string{faint, red, normal, "\x1b[36m", "\x1b[J", "\x1b[1A", "\x1b[2A", "\r"} {
			line = strings.ReplaceAll(line, colour, "")
		}
		if n := len([]rune(line)); n > 40 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
}

// A pageScribe is a scribe that returns given pages.
type pageScribe struct {
	hearken.Scribe
	pages    chan *hearken.ScribePage
	requests []hearken.TailRequest
	stopped  bool
}

func (s *pageScribe) Tail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	s.requests = append(s.requests, req)
	select {
	case page := <-s.pages:
		return page, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *pageScribe) Stop(context.Context) (*hearken.ScribeStatus, error) {
	s.stopped = true
	return &hearken.ScribeStatus{}, nil
}

func TestCaptureFollower(t *testing.T) {
	var out bytes.Buffer
	s := &pageScribe{pages: make(chan *hearken.ScribePage, 3)}
	ctx, cancel := context.WithCancel(t.Context())
	l := &captureFollower{
		scribe: s, session: "x", nextLine: 1, screen: &captions{w: &out, width: func() int { return 0 }},
		meter: func(context.Context) (*meter, error) {
			if len(s.pages) == 0 {
				cancel()
			}
			return &meter{Running: true, Session: "x"}, nil
		},
	}
	s.pages <- &hearken.ScribePage{Next: 2, Entries: []hearken.Segment{caption("M", "C", "one"), caption("S", "U", "tw")}}
	s.pages <- &hearken.ScribePage{Next: 3, Entries: []hearken.Segment{caption("S", "C", "two")}}
	if err := l.follow(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("follow: %v", err)
	}
	s.pages <- &hearken.ScribePage{Next: 4, Entries: []hearken.Segment{caption("M", "C", "bye")}}
	if err := l.finish(t.Context()); err != nil || !s.stopped {
		t.Errorf("finish: %v, stopped %v", err, s.stopped)
	}
	if want := "09:30:05  You   one\n09:30:05  Them  two\n09:30:05  You   bye\n"; out.String() != want {
		t.Errorf("shown:\n%s", out.String())
	}
	if remark := l.heard.remark(); remark != "" {
		t.Errorf("remark on words: %s", remark)
	}
	for i, req := range s.requests {
		if req.Session != "x" || req.SinceLine < 1 || req.SinceLine > i+1 {
			t.Errorf("request %d: %+v", i, req)
		}
	}
}

// If the capture ends, so do the captions, and they say why.
func TestCaptureFollower_CaptureEnds(t *testing.T) {
	s := &pageScribe{pages: make(chan *hearken.ScribePage)}
	l := &captureFollower{
		scribe: s, session: "x", nextLine: 1, screen: &captions{w: &bytes.Buffer{}, width: func() int { return 0 }},
		meter: func(context.Context) (*meter, error) {
			return &meter{Session: "x", Notes: []string{"The microphone is gone."}}, nil
		},
	}
	if err := l.follow(t.Context()); hearken.CodeOf(err) != hearken.SessionAlreadyStopped || !strings.Contains(err.Error(), "The microphone is gone.") {
		t.Errorf("follow: %v", err)
	}
}

// A command that prints nothing says why.
func TestHeard(t *testing.T) {
	silence, event, partial := caption("M", "N", ""), caption("E", "N", "[gap]"), caption("M", "U", "perhaps")
	foreign := caption("S", "N", "[speech not understood]")
	foreign.EndTime = 2.5
	for _, tt := range []struct {
		segments []hearken.Segment
		want     string
	}{
		{[]hearken.Segment{silence, event, partial}, "No words were heard"},
		{[]hearken.Segment{silence, foreign}, "understood none of it"},
		{[]hearken.Segment{foreign, caption("M", "C", "good morning")}, "2.5 seconds of speech were not understood"},
		{[]hearken.Segment{silence, caption("M", "C", "good morning")}, ""},
	} {
		var h heard
		h.add(tt.segments)
		if got := h.remark(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
