package moonshine

import (
	"flag"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
)

var measuring = flag.Bool("measure", false, "measure live streams on all recordings; takes minutes")

// TestMeasure_Words compares what live streams make of the English recordings
// with what the same model makes of each file as a whole.
func TestMeasure_Words(t *testing.T) {
	if !*measuring {
		t.Skip("only with -measure")
	}
	p := engine(t, Config{Model: "base"})
	v, err := p.await(t.Context(), p.voice("en", "base"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var streamed, file, one errorRate
	var wg sync.WaitGroup
	next := make(chan clip)
	for range 3 {
		wg.Go(func() {
			for c := range next {
				text := spokenText(stream1(t, p, c.pcm))
				all := all1(t, p, c.pcm)
				piece, err := v.good.Transcribe(t.Context(), unitRange(c.pcm), nil)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				a, b, d := streamed.add(c.reference, text), file.add(c.reference, spokenText(all)), one.add(c.reference, piece.Text)
				if a != d || b != d {
					t.Logf("%s: %d errors live, %d in segments, %d whole\n  %s\n  %s\n  %s", c.file, a, b, d, c.reference, text, piece.Text)
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range recordings(t) {
		if c.language == "en" && c.reference != "" && c.seconds() < 30 {
			next <- c
		}
	}
	close(next)
	wg.Wait()
	t.Logf("word errors: live %.2f %%, file in segments %.2f %%, file as a whole %.2f %% of %d words",
		streamed.percent(), file.percent(), one.percent(), one.words)
}

// stream1 hears a recording as a live stream and returns its finals.
func stream1(t *testing.T, p *Provider, pcm []int16) (segments []hearken.Segment) {
	t.Helper()
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Error(err)
		return nil
	}
	go func() {
		const chunk = 1600
		for pos := 0; pos < len(pcm); pos += chunk {
			if err := s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+chunk, len(pcm))]}); err != nil {
				break
			}
		}
		s.Close()
	}()
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			segments = append(segments, e.Segment)
		case hearken.Failed:
			t.Error(e.Err)
		}
	}
	return segments
}

// all1 hears a recording as a file.
func all1(t *testing.T, p *Provider, pcm []int16) []hearken.Segment {
	t.Helper()
	segments, err := p.TranscribeAll(t.Context(), pcm, hearken.StreamConfig{Language: "en"}, nil)
	if err != nil {
		t.Error(err)
	}
	return segments
}

func unitRange(pcm []int16) []float32 {
	out := make([]float32, len(pcm))
	for i, x := range pcm {
		out[i] = float32(x) / 32768
	}
	return out
}
