//go:build torture

package moonshine

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/test/speech"
)

var hours = flag.Float64("hours", 2, "how long the session of TestTorture_LongSession lasts")

// TestTorture_LongSession streams hours of a quiet room in which somebody says
// something every minute, past the end of a session's first day: times do not
// drift, words do not change, memory does not grow.
//
//	go test -tags torture -run LongSession -v ./stt/moonshine -hours 2
func TestTorture_LongSession(t *testing.T) {
	const (
		minute = 60 * hearken.SampleRate
		spoken = 30 * hearken.SampleRate // where somebody speaks in it
		start  = 24*60*minute - 30*minute
	)
	clip := speech.Get(t, "jfk").PCM()
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
		sound[spoken+i] += x
	}
	minutes := int(60 * *hours)
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
		at := e.Segment.StartTime - stt.Seconds(start)
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
		if a, b := strings.Fields(words[0]), strings.Fields(words[m]); editdistance.Levenshtein(a, b) > 2 {
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
