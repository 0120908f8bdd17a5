package moonshine

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

var (
	first  = []int{1, 2, 3}
	second = []int{4, 5, 6, 7}
)

// The suite runs over the engine with fakes too, where every word must be
// right and no model is needed.
func TestStream_Suite(t *testing.T) {
	stttest.Run(t, func(t *testing.T) hearken.Provider {
		return fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	}, stttest.Options{
		Language: "en", Unknown: "fr", Audio: say(1, first, second, []int{8, 9, 10, 11}), Words: spoken(first, second, []int{8, 9, 10, 11}),
	})
}

type entry struct {
	Status     hearken.Status
	Text       string
	Start, End float64
}

// listenTo writes sound to a new stream and returns its finals.
func transcribeStream(t *testing.T, p *Provider, pcm []int16) []entry {
	t.Helper()
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for pos := 0; pos < len(pcm); pos += 1600 {
			if err := s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+1600, len(pcm))]}); err != nil {
				t.Errorf("Write: %v", err)
				break
			}
		}
		s.Close()
	}()
	return finals(t, s)
}

func finals(t *testing.T, s hearken.Stream) (out []entry) {
	t.Helper()
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			round := func(x float64) float64 { return math.Round(x*10) / 10 }
			out = append(out, entry{e.Segment.Status, e.Segment.Text, round(e.Segment.StartTime), round(e.Segment.EndTime)})
		case hearken.Failed:
			t.Errorf("failed: %v", e.Err)
		}
	}
	return out
}

func TestStream_Silence(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
	quiet := func(seconds int) []int16 { return make([]int16, seconds*hearken.SampleRate) }
	pcm := append(quiet(130), say(2, first)...)
	pcm = append(pcm, quiet(20)...)
	want := []entry{
		{hearken.NoSpeech, "", 0, 60}, {hearken.NoSpeech, "", 60, 120}, {hearken.NoSpeech, "", 120, 132},
		{hearken.Confirmed, "w1 w2 w3", 132, 133.7}, {hearken.NoSpeech, "", 133.7, 155.8},
	}
	if diff := cmp.Diff(want, transcribeStream(t, p, pcm)); diff != "" {
		t.Error(diff)
	}
}

// A countingDetector counts how often it was told to forget.
type countingDetector struct {
	fakeDetector
	resets int
}

func (d *countingDetector) Reset() { d.resets++ }

// What was heard before a gap says nothing about what comes after it.
func TestStream_GapForgets(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
	st, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	d := &countingDetector{}
	st.(*stream).detector = d
	pcm := say(1, first)
	for _, pos := range []int64{0, int64(len(pcm)), int64(3 * len(pcm))} {
		if err := st.Write(hearken.Frame{Pos: pos, PCM: pcm}); err != nil {
			t.Fatal(err)
		}
	}
	st.Close()
	finals(t, st)
	if d.resets != 1 {
		t.Errorf("the detector forgot %d times in a stream with one gap", d.resets)
	}
}

// A day in one session leaves nothing behind but its transcript.
func TestStream_LongSession(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	st, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true, Start: 24 * 3600 * hearken.SampleRate})
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*stream)
	go func() {
		defer s.Close()
		pcm := say(1, first, second)
		pos, most := s.cfg.Start, 0
		for range 60 {
			for i := 0; i < len(pcm); i += 1600 {
				if err := s.Write(hearken.Frame{Pos: pos, PCM: pcm[i:min(i+1600, len(pcm))]}); err != nil {
					t.Error(err)
					return
				}
				pos += int64(min(1600, len(pcm)-i))
				s.mu.Lock()
				most = max(most, cap(s.buffer.PCM))
				s.mu.Unlock()
			}
		}
		if most > 40*hearken.SampleRate {
			t.Errorf("the stream held %d samples", most)
		}
	}()
	n := 0
	for _, f := range finals(t, s) {
		if f.Status == hearken.Confirmed {
			n++
		}
	}
	if n != 120 {
		t.Errorf("%d segments, not 120", n)
	}
}

func TestStream_GuessSavesTheWait(t *testing.T) {
	m := &fakeModel{}
	p := fakeProvider(t, m, Config{Cores: 1})
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"}) // no partials
	if err != nil {
		t.Fatal(err)
	}
	pcm := say(1, first)
	if err := s.Write(hearken.Frame{PCM: pcm}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := finals(t, s); len(got) != 1 {
		t.Fatalf("finals %v", got)
	}
	if n := m.calls.Load(); n != 1 {
		t.Errorf("%d inferences for one segment", n)
	}
}

func TestStream_FailedInference(t *testing.T) {
	m := &fakeModel{}
	m.fail.Store(true)
	p := fakeProvider(t, m, Config{Cores: 1})
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	go s.Write(hearken.Frame{PCM: say(1, first)})
	var last hearken.StreamEvent
	for last = range s.Events() {
	}
	if last.Kind != hearken.Failed || hearken.CodeOf(last.Err) != hearken.ProviderConnectionFailed {
		t.Errorf("last event %+v", last)
	}
}

// A stream whose decoding stands still makes its writer wait, and ends at once
// when its context does.
func TestStream_BehindAndAbandoned(t *testing.T) {
	m := &fakeModel{gate: make(chan struct{})}
	p := fakeProvider(t, m, Config{Cores: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := p.Open(ctx, hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		pcm := say(1, first, second, first, second, first, second, first)
		var err error
		for pos := 0; pos < len(pcm) && err == nil; pos += 1600 {
			err = s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+1600, len(pcm))]})
		}
		written <- err
	}()
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			t.Error("a final without an inference")
		case hearken.Progress:
			cancel()
		}
	}
	if err := <-written; !errors.Is(err, context.Canceled) {
		t.Errorf("the writer got %v", err)
	}
}
