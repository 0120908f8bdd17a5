package moonshine

import (
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/speech"
)

// Two hundred want to be heard at once. As many are as the machine carries; the
// others are told so at once, and are welcome when there is room again.
func TestEngine_Crowd(t *testing.T) {
	pcm := speech.Get(t, "jfk").PCM()[:5*hearken.SampleRate/2]
	// However many cores there are, two do not carry two hundred.
	const cores, people = 2, 200
	p := engine(t, Config{Model: "tiny", Cores: cores})
	streams, errs := make([]hearken.Stream, people), make([]error, people)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			streams[i], errs[i] = p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true})
		})
	}
	wg.Wait()
	heard := make([]string, people)
	served := 0
	for i, s := range streams {
		if err := errs[i]; err != nil {
			if hearken.CodeOf(err) != hearken.Busy || !strings.Contains(err.Error(), "Try:") {
				t.Errorf("refused with %v", err)
			}
			continue
		}
		served++
		wg.Go(func() { heard[i] = transcribeText(t, s, pcm) })
	}
	wg.Wait()
	if served == people || served < 2*cores {
		t.Errorf("%d of %d are served", served, people)
	}
	for i, text := range heard {
		if errs[i] == nil && !strings.Contains(strings.ToLower(text), "my fellow") {
			t.Errorf("heard %q", text)
		}
	}
	t.Logf("%d of %d served, the others refused", served, people)
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Fatalf("afterwards: %v", err)
	}
	transcribeText(t, s, nil)
}

// transcribeText writes audio and returns its words.
func transcribeText(t *testing.T, s hearken.Stream, pcm []int16) string {
	go func() {
		defer s.Close()
		if err := s.Write(hearken.Frame{PCM: pcm}); err != nil {
			t.Error(err)
		}
	}()
	var segments []hearken.Segment
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			segments = append(segments, e.Segment)
		case hearken.Failed:
			t.Error(e.Err)
		}
	}
	return spokenText(segments)
}
