package moonshine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
)

// Two hundred want to be heard at once. As many are as the machine carries; the
// others are told so at once, and are welcome when there is room again.
func TestEngine_Crowd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	pcm := find(t, recordings(t), "jfk.wav").pcm[:5*hearken.SampleRate/2]
	p := engine(t, Config{Model: "tiny"})
	const people = 200
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
		wg.Go(func() { heard[i] = tell(t, s, pcm) })
	}
	wg.Wait()
	if served == people || served < 2*runtime.GOMAXPROCS(0) {
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
	tell(t, s, nil)
}

// tell writes sound and returns what was heard.
func tell(t *testing.T, s hearken.Stream, pcm []int16) string {
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

// TestTorture_LongSession streams hours of a quiet room in which somebody says
// something every minute, past the end of a session's first day: times do not
// drift, words do not change, memory does not grow.
//
//	HEARKEN_TEST_HOURS=2 go test ./stt/moonshine -run TestTorture -v
func TestTorture_LongSession(t *testing.T) {
	hours, _ := strconv.ParseFloat(os.Getenv("HEARKEN_TEST_HOURS"), 64)
	if hours == 0 {
		t.Skip("HEARKEN_TEST_HOURS is not set")
	}
	const (
		minute = 60 * hearken.SampleRate
		speech = 30 * hearken.SampleRate // where somebody speaks in it
		start  = 24*60*minute - 30*minute
	)
	clip := find(t, recordings(t), "jfk.wav").pcm
	p := engine(t, Config{})
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	sound := make([]int16, minute)
	for i := range sound {
		sound[i] = int16(i * 7919 % 61) // the noise of a quiet room
	}
	for i, x := range clip {
		sound[speech+i] += x
	}
	minutes := int(60 * hours)
	used := make([]uint64, minutes)
	go func() {
		defer s.Close()
		for m := range minutes {
			const frame = hearken.SampleRate / 10
			for i := 0; i < minute; i += frame {
				if err := s.Write(hearken.Frame{Pos: start + int64(m*minute+i), PCM: sound[i : i+frame]}); err != nil {
					t.Error(err)
					return
				}
			}
			used[m] = resident()
		}
	}()
	words := make([]string, minutes)
	begun := make([]float64, minutes)
	for e := range s.Events() {
		if e.Kind == hearken.Failed {
			t.Fatal(e.Err)
		}
		if e.Kind != hearken.Final || !e.Segment.Spoken() {
			continue
		}
		at := e.Segment.StartTime - at(start)
		m := int(at / 60)
		if words[m] == "" {
			begun[m] = at - float64(60*m)
		}
		words[m] += strings.Join(hearken.Terms(e.Segment.Text), " ") + " "
	}
	for m := range minutes {
		if d := begun[m] - begun[0]; d > 0.1 || d < -0.1 {
			t.Errorf("minute %d: speech begins %.2f s off", m, d)
		}
		// The detector remembers what was before, so that a window more or less
		// may count as speech.
		if a, b := strings.Fields(words[0]), strings.Fields(words[m]); distance(a, b) > 2 {
			t.Errorf("minute %d: %q, not %q", m, b, a)
		}
	}
	early, late := used[minutes/4], used[minutes-1]
	t.Logf("%d minutes; %d MiB in use after a quarter of them, %d after a half, %d after three, %d at the end",
		minutes, early>>20, used[minutes/2]>>20, used[3*minutes/4]>>20, late>>20)
	if late > early+32<<20 {
		t.Errorf("memory grew from %d to %d MiB", early>>20, late>>20)
	}
}

// resident is how much memory the process has, or what Go has of it where the
// system does not tell.
func resident() uint64 {
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := strings.Fields(string(b)); len(f) > 1 {
			pages, _ := strconv.ParseUint(f[1], 10, 64)
			return pages * uint64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys
}
