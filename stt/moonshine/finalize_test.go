package moonshine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// A writer writes sound to a stream that goes on and reads its events.
type writer struct {
	*testing.T
	stream hearken.Stream
	pos    int64
}

func newWriter(t *testing.T, cfg hearken.StreamConfig) *writer {
	t.Helper()
	cfg.Language = "en"
	s, err := fakeProvider(t, &fakeModel{}, Config{Cores: 2}).Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &writer{t, s, cfg.Start}
}

func (w *writer) write(pcm []int16) {
	w.Helper()
	if err := w.stream.Write(hearken.Frame{Pos: w.pos, PCM: pcm}); err != nil {
		w.Fatal(err)
	}
	w.pos += int64(len(pcm))
}

func (w *writer) finalize() {
	w.Helper()
	if err := w.stream.Finalize(); err != nil {
		w.Fatal(err)
	}
}

// until reads events up to one that has come so far and returns the finals.
func (w *writer) until(through int64) (finals []hearken.StreamEvent) {
	w.Helper()
	for e := range w.stream.Events() {
		switch e.Kind {
		case hearken.Final:
			finals = append(finals, e)
		case hearken.Progress:
		default:
			continue
		}
		if e.FinalUntil >= through {
			return finals
		}
	}
	w.Fatalf("the stream ended before %d", through)
	return nil
}

// rest closes the stream and returns the finals that were still to come.
func (w *writer) rest() (finals []hearken.StreamEvent) {
	w.stream.Close()
	for e := range w.stream.Events() {
		if e.Kind == hearken.Final {
			finals = append(finals, e)
		}
	}
	return finals
}

// A told final is what the tests look at in one.
type finalText struct {
	Text     string
	Endpoint bool
}

func texts(events []hearken.StreamEvent) (out []finalText) {
	for _, e := range events {
		if e.Segment.Text != "" {
			out = append(out, finalText{e.Segment.Text, e.Endpoint})
		}
	}
	return out
}

func TestStream_Finalize(t *testing.T) {
	w := newWriter(t, hearken.StreamConfig{Start: 77})
	w.finalize() // before the first sound
	w.until(77)

	sentence := say(1, first, second)
	w.write(sentence[:3*hearken.SampleRate/2+333]) // in the gap before the second word
	w.finalize()
	if diff := cmp.Diff([]finalText{{"w1", false}}, texts(w.until(w.pos))); diff != "" {
		t.Error(diff)
	}
	w.finalize() // nothing new
	if got := w.until(w.pos); len(got) > 0 {
		t.Errorf("finals %v", got)
	}
	w.write(sentence[w.pos-77:])
	w.finalize()
	if diff := cmp.Diff([]finalText{{"w2 w3", true}, {spoken(second), true}}, texts(w.until(w.pos))); diff != "" {
		t.Error(diff)
	}
	w.write(make([]int16, 100)) // silence, and not even a window of it
	w.finalize()
	if got := w.until(w.pos); len(got) > 0 {
		t.Errorf("finals %v", got)
	}
	if got := w.rest(); len(got) > 0 {
		t.Errorf("finals %v", got)
	}
	if err := w.stream.Finalize(); err == nil {
		t.Error("a closed stream can be asked for more")
	}
}

// Asking again and again, between words and inside them, neither loses nor
// doubles one.
func TestStream_FinalizeOften(t *testing.T) {
	w := newWriter(t, hearken.StreamConfig{})
	said := say(0.7, first, second)
	var got []hearken.StreamEvent
	step := 3 * hearken.SampleRate / 5
	for i := 0; i < len(said); i += step {
		w.write(said[i:min(i+step, len(said))])
		w.finalize()
		got = append(got, w.until(w.pos)...)
	}
	got = append(got, w.rest()...)
	var words []string
	for _, f := range texts(got) {
		words = append(words, f.Text)
	}
	if diff := cmp.Diff(spoken(first, second), strings.Join(words, " ")); diff != "" {
		t.Error(diff)
	}
}

// The speaker's pauses are told from other ends of a segment.
func TestStream_Endpoint(t *testing.T) {
	long := make([]int, lastWord)
	for i := range long {
		long[i] = i + 1
	}
	w := newWriter(t, hearken.StreamConfig{})
	go func() {
		w.write(say(1, first, long))
		w.write(say(0, second)) // and Close before a pause
		w.stream.Close()
	}()
	var got []bool
	for e := range w.stream.Events() {
		if e.Kind == hearken.Final {
			got = append(got, e.Endpoint)
		}
	}
	if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStream_Endpointing(t *testing.T) {
	for _, tt := range []struct {
		name        string
		endpointing time.Duration
		pause       float64 // that is in the sound, besides the gap after a word
		want        int     // segments
	}{
		{"Own", 0, 0.5, 2},
		{"OwnShort", 0, 0.25, 1},
		{"Longer", time.Second, 0.5, 1},
		{"LongerReached", time.Second, 1.2, 2},
		{"Shorter", 260 * time.Millisecond, 0.25, 2},
		{"InsideAWord", 10 * time.Millisecond, 0.1, 1},
		{"VeryLong", time.Hour, 4.5, 1},
		{"VeryLongReached", time.Hour, 5.2, 2},
		{"None", -1, 4, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, hearken.StreamConfig{Endpointing: tt.endpointing})
			go func() {
				w.write(say(tt.pause, first, second))
				w.stream.Close()
			}()
			n, all := 0, ""
			for e := range w.stream.Events() {
				if e.Kind == hearken.Final && e.Segment.Text != "" {
					n++
					all += e.Segment.Text + " "
				}
			}
			if n != tt.want || all != spoken(first, second)+" " {
				t.Errorf("%d segments: %s", n, all)
			}
		})
	}
}

// Nobody speaks, or somebody does all the time: the stream tells each second
// how far it is.
func TestStream_Progress(t *testing.T) {
	const second = hearken.SampleRate + window // a little more, as windows do not fit in
	w := newWriter(t, hearken.StreamConfig{})
	for range 5 {
		w.write(make([]int16, second))
		w.until(w.pos - second) // blocks for ever if nothing is told
	}
	talk := say(0, []int{1, 2, 3, 4, 5, 6, 7})
	begun := w.pos
	for len(talk) > second {
		w.write(talk[:second])
		talk = talk[second:]
		for e := range w.stream.Events() {
			if e.Kind != hearken.Progress {
				continue
			}
			if e.FinalUntil > begun {
				t.Errorf("through %d inside of what is said from %d on", e.FinalUntil, begun)
			}
			break
		}
	}
	w.rest()
}
