package moonshine

import (
	"testing"

	"github.com/hearken-dev/hearken"
)

// transcribers are the two ways in which the engine transcribes a recording.
var transcribers = map[string]func(*testing.T, *Provider, []int16) []hearken.Segment{"live": transcribeLive, "file": transcribeFile}

// transcribeLive transcribes a recording as a live stream and returns its finals.
func transcribeLive(t *testing.T, p *Provider, pcm []int16) (segments []hearken.Segment) {
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

// transcribeFile transcribes a recording as a whole file.
func transcribeFile(t *testing.T, p *Provider, pcm []int16) []hearken.Segment {
	t.Helper()
	segments, err := p.TranscribeAll(t.Context(), pcm, hearken.StreamConfig{Language: "en"}, nil)
	if err != nil {
		t.Error(err)
	}
	return segments
}
