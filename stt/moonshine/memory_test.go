package moonshine

import (
	"runtime"
	"testing"

	"github.com/hearken-dev/hearken"
)

// Whoever keeps the entries of a stream keeps no audio with them, although the
// stream goes on.
func TestStream_Memory(t *testing.T) {
	const (
		rounds    = 60
		perEntry  = 2 << 10
		transient = 4 << 20 // buffers that the stream reuses
	)
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true})
	if err != nil {
		t.Fatal(err)
	}
	pcm := say(1, first, second, []int{8, 9, 10, 11, 12})
	before := liveHeap()
	var kept []hearken.Segment
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range s.Events() {
			if e.Kind == hearken.Final {
				kept = append(kept, e.Segment)
			}
		}
	}()
	for i := range rounds {
		if err := s.Write(hearken.Frame{Pos: int64(i * len(pcm)), PCM: pcm}); err != nil {
			t.Fatal(err)
		}
	}
	grown := liveHeap() - before
	s.Close()
	<-done
	if n := int64(len(kept)); n < rounds || grown > n*perEntry+transient {
		t.Errorf("%d entries of %d s of audio hold %d bytes", n, rounds*len(pcm)/hearken.SampleRate, grown)
	}
	runtime.KeepAlive(kept)
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
