// Package e2e tests the whole program with real recordings: over the audio
// WebSocket to the real engine, the journal and the store, and out through a
// tool, with the hub killed in between; and from hub to hub over a bad network.
package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// recordings are read one after the other, as one long talk.
var recordings = []string{"lj-LJ001-0001", "jfk", "lj-LJ001-0005", "ls-1089-134686-0000"}

// speed is how much faster than it was spoken audio is sent.
const speed = 4

func TestKilledInTheMiddle(t *testing.T) {
	root := speech.Models(t)
	pcm, reference := talk(t, recordings...)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := startSession(ctx, t, h)
	reader := &reader{lines: map[int]string{}}
	reading, stopReading := context.WithCancel(ctx)
	var readers sync.WaitGroup
	readers.Go(func() { reader.follow(reading, h, s.ID) })

	send(ctx, t, s, pcm[:len(pcm)/2])
	// A kill before the first line would show nothing.
	hubtest.WaitUntil(t, time.Minute, "a line is confirmed", func() bool { return reader.seen() > 0 })
	h.Kill()
	h.Run()
	send(ctx, t, s, pcm)
	var stopped struct{ Duration float64 }
	if err := h.Call(ctx, "stop_transcription", map[string]any{"sessionId": s.ID}, &stopped); err != nil {
		t.Fatal(err)
	}
	if want := float64(len(pcm)) / hearken.SampleRate; stopped.Duration < want-0.01 || stopped.Duration > want+0.01 {
		t.Errorf("the session has %.2f s of the %.2f s that were sent", stopped.Duration, want)
	}
	stopReading()
	readers.Wait()
	wer.Check(t, reference, reader.checkAll(ctx, t, h, s.ID))
}

// talk is the audio of recordings with a second between them, and their text.
func talk(t *testing.T, names ...string) (pcm []int16, text string) {
	t.Helper()
	for _, name := range names {
		c := speech.Get(t, name)
		pcm = append(append(pcm, c.PCM()...), make([]int16, hearken.SampleRate)...)
		text += c.Reference + " "
	}
	return pcm, text
}

func startSession(ctx context.Context, t *testing.T, h *hubtest.Hub) *hubtest.Session {
	t.Helper()
	s, err := h.StartSession(ctx, map[string]any{"title": "end to end"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(ctx context.Context, t *testing.T, s *hubtest.Session, pcm []int16) {
	t.Helper()
	if err := s.Send(ctx, pcm, speed); err != nil {
		t.Fatal(err)
	}
}

// A reader follows a session as an agent does and records what it was shown.
type reader struct {
	mu    sync.Mutex
	lines map[int]string
}

type page struct {
	Segments []struct {
		Line         int
		Source, Text string
	}
	Cursor string
	More   bool
}

func (r *reader) follow(ctx context.Context, h *hubtest.Hub, id string) {
	args := map[string]any{"sessionId": id, "waitSeconds": 5}
	for ctx.Err() == nil {
		var p page
		if err := h.Call(ctx, "get_transcription", args, &p); err != nil {
			hubtest.Sleep(ctx, 50*time.Millisecond) // the hub is being killed
			continue
		}
		r.mu.Lock()
		for _, s := range p.Segments {
			if old, ok := r.lines[s.Line]; ok && old != s.Text {
				r.lines[s.Line] = fmt.Sprintf("%q became %q", old, s.Text)
				continue
			}
			r.lines[s.Line] = s.Text
		}
		r.mu.Unlock()
		args["cursor"] = p.Cursor
	}
}

func (r *reader) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.lines)
}

// checkAll reads the session from its beginning, compares it with what the
// reader was shown, and returns its text.
func (r *reader) checkAll(ctx context.Context, t *testing.T, h *hubtest.Hub, id string) string {
	t.Helper()
	var text strings.Builder
	args := map[string]any{"sessionId": id}
	seen := 0
	for {
		var p page
		if err := h.Call(ctx, "get_transcription", args, &p); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Segments {
			text.WriteString(s.Text + " ")
			if shown, ok := r.lines[s.Line]; ok {
				seen++
				if shown != s.Text {
					t.Errorf("line %d was shown as %q and is %q", s.Line, shown, s.Text)
				}
			}
		}
		if !p.More {
			break
		}
		args["cursor"] = p.Cursor
	}
	if seen != len(r.lines) {
		t.Errorf("of %d lines that were shown only %d exist", len(r.lines), seen)
	}
	return text.String()
}
