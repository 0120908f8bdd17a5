// Package thread goes through the whole house with real recordings: over the
// audio WebSocket to the real engine, the journal, the store, and the words out
// through a tool, with the hub killed in between; and from hub to hub over a
// bad network.
package thread

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// recordings are read one after the other, as one long talk.
var recordings = []string{"lj-LJ001-0001", "jfk", "lj-LJ001-0005", "ls-1089-134686-0000"}

func TestThread_KilledInTheMiddle(t *testing.T) {
	root := speech.Models(t)
	sound, reference := talk(t, recordings...)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var session struct{ SessionID, WSEndpoint string }
	if err := h.Call(ctx, "start_transcription", map[string]any{"title": "thread"}, &session); err != nil {
		t.Fatal(err)
	}
	reader := &reader{lines: map[int]string{}}
	reading, stopReading := context.WithCancel(ctx)
	var readers sync.WaitGroup
	readers.Go(func() { reader.follow(reading, h, session.SessionID) })

	cut := len(sound) / 2
	if at := send(ctx, t, session.WSEndpoint, sound, cut); at != cut {
		t.Fatalf("sent up to %d, want %d", at, cut)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for reader.seen() == 0 { // a kill before the first line would show nothing
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("nothing was confirmed before the kill")
		}
	}
	h.Kill()
	h.Run()
	send(ctx, t, session.WSEndpoint, sound, len(sound))
	var stopped struct{ Duration float64 }
	if err := h.Call(ctx, "stop_transcription", map[string]any{"sessionId": session.SessionID}, &stopped); err != nil {
		t.Fatal(err)
	}
	if want := float64(len(sound)) / hearken.SampleRate; stopped.Duration < want-0.01 || stopped.Duration > want+0.01 {
		t.Errorf("%.2f s were heard, %.2f s were sent", stopped.Duration, want)
	}
	stopReading()
	readers.Wait()

	text := whole(ctx, t, h, session.SessionID, reader)
	got, want := words(text), words(reference)
	if wrong := float64(editdistance.Levenshtein(want, got)) / float64(len(want)); wrong > 0.2 {
		t.Errorf("%.0f %% of the words are wrong:\n%s\nwant\n%s", 100*wrong, text, reference)
	}
}

// talk is the recordings' sound with a second between them, and their text.
func talk(t *testing.T, names ...string) (pcm []int16, text string) {
	t.Helper()
	for _, name := range names {
		c := speech.Get(t, name)
		pcm = append(append(pcm, c.PCM()...), make([]int16, hearken.SampleRate)...)
		text += c.Reference + " "
	}
	return pcm, text
}

// send goes on where the hub says and sends up to a position, four times as
// fast as it was spoken.
func send(ctx context.Context, t *testing.T, url string, sound []int16, to int) int {
	t.Helper()
	c, _, err := websocket.Dial(ctx, url+"&encoding=linear16&sample_rate=16000", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	_, data, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ready struct {
		Type            string
		ReceivedSamples int
	}
	if err := json.Unmarshal(data, &ready); err != nil || ready.Type != "ready" {
		t.Fatalf("first frame %s, %v", data, err)
	}
	go func() { // what the hub tells the sender is not needed here
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return
			}
		}
	}()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	at := ready.ReceivedSamples
	for at < to {
		n := min(hearken.SampleRate/10, to-at)
		frame := make([]byte, 0, 2*n)
		for _, v := range sound[at : at+n] {
			frame = binary.LittleEndian.AppendUint16(frame, uint16(v))
		}
		if err := c.Write(ctx, websocket.MessageBinary, frame); err != nil {
			t.Fatal(err)
		}
		at += n
		<-tick.C
	}
	return at
}

// A reader follows a session as an agent does and keeps what it was shown.
type reader struct {
	mu    sync.Mutex
	lines map[int]string
}

type page struct {
	Segments []struct {
		Line    int
		Text    string
		Durable bool
	}
	Cursor string
	More   bool
}

func (r *reader) follow(ctx context.Context, h *hubtest.Hub, id string) {
	args := map[string]any{"sessionId": id, "waitSeconds": 5}
	for ctx.Err() == nil {
		var p page
		if err := h.Call(ctx, "get_transcription", args, &p); err != nil {
			select { // the hub is being killed
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
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

// whole reads the session from its beginning and holds it against what the
// reader was shown.
func whole(ctx context.Context, t *testing.T, h *hubtest.Hub, id string, r *reader) string {
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
		t.Errorf("of %d lines that were shown only %d are there", len(r.lines), seen)
	}
	return text.String()
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(s), "'", ""), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
