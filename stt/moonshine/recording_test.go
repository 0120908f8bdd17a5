package moonshine

import (
	"context"
	"errors"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestTranscribeAll(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	sentences := [][]int{first, second, first, second, first, second, first, second}
	pcm := say(1, sentences...)
	var done []float64
	got, err := p.TranscribeAll(t.Context(), pcm, hearken.StreamConfig{Language: "en"}, func(d float64) { done = append(done, d) })
	if err != nil {
		t.Fatal(err)
	}
	if text := spokenText(got); text != spoken(sentences...) {
		t.Errorf("heard %q", text)
	}
	if len(got) != 2 { // of less than 20 seconds each
		t.Errorf("%d segments", len(got))
	}
	for _, s := range got {
		for i, w := range s.Words {
			if from, to := s.StartTime, s.EndTime; w.StartTime < from || w.EndTime > to || i > 0 && w.StartTime < s.Words[i-1].EndTime {
				t.Errorf("%s is at %.2f to %.2f in a segment from %.2f to %.2f", w.Word, w.StartTime, w.EndTime, from, to)
			}
		}
	}
	if n := len(done); n == 0 || done[n-1] != 1 {
		t.Errorf("progress %v", done)
	}
}

// A stream of recorded sound hears as much at once as a whole recording does.
func TestEngine_Recorded(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	pcm := say(1, first, second, first, second, first, second, first, second)
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Recorded: true})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for pos := 0; pos < len(pcm); pos += 1600 {
			if err := s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+1600, len(pcm))]}); err != nil {
				t.Error(err)
			}
		}
		_ = s.Close()
	}()
	n := 0
	for e := range s.Events() {
		if e.Kind == hearken.Final && e.Segment.Spoken() {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d segments", n)
	}
}

func TestTranscribeAll_Cancelled(t *testing.T) {
	m := &fakeModel{gate: make(chan struct{})}
	p := fakeProvider(t, m, Config{Cores: 1})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		m.gate <- struct{}{}
		cancel()
	}()
	if _, err := p.TranscribeAll(ctx, say(1, first, second), hearken.StreamConfig{Language: "en"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
