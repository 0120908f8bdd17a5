//go:build unix

package moonshine

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// delays collects how long things took, in seconds.
type delays struct {
	mu  sync.Mutex
	all []float64
}

func (d *delays) add(x float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, x)
}

func (d *delays) String() string {
	slices.Sort(d.all)
	if len(d.all) == 0 {
		return "none"
	}
	at := func(q float64) int { return int(1000 * d.all[int(q*float64(len(d.all)-1))]) }
	return fmt.Sprintf("p50 %d ms, p95 %d ms, max %d ms of %d", at(0.5), at(0.95), at(1), len(d.all))
}

// follow streams sound in real time and times what comes out.
func follow(t *testing.T, p *Provider, pcm []int16, finals, firsts, lags *delays) {
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en", Interim: true})
	if err != nil {
		t.Error(err)
		return
	}
	const chunk = window
	began := time.Now()
	go func() {
		defer s.Close()
		tick := time.NewTicker(chunk * time.Second / hearken.SampleRate)
		defer tick.Stop()
		for pos := 0; pos < len(pcm); pos += chunk {
			due := began.Add(time.Duration(pos+chunk) * time.Second / hearken.SampleRate)
			for time.Now().Before(due) {
				<-tick.C
			}
			if err := s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+chunk, len(pcm))]}); err != nil {
				t.Error(err)
				return
			}
			lags.add(time.Since(due).Seconds())
		}
	}()
	since := func(at float64) float64 { return time.Since(began).Seconds() - at }
	onset, shown := -1.0, false
	for e := range s.Events() {
		switch e.Kind {
		case hearken.SpeechStarted:
			onset, shown = e.Time, false
		case hearken.Partial:
			if !shown && onset >= 0 {
				firsts.add(since(onset))
			}
			shown = true
		case hearken.Final:
			if e.Segment.Status == hearken.Confirmed {
				finals.add(since(e.Segment.EndTime))
			}
		case hearken.Failed:
			t.Error(e.Err)
		}
	}
}

// TestMeasure_Latency streams English recordings one after the other in real
// time.
func TestMeasure_Latency(t *testing.T) {
	if !*measuring {
		t.Skip("only with -measure")
	}
	p := engine(t, Config{Model: "base"})
	var finals, firsts, lags delays
	total := 0.0
	for i, c := range recordings(t) {
		if c.language == "en" && c.reference != "" && i%4 == 0 && total < 90 {
			total += c.seconds() + 1
			follow(t, p, append(slices.Clone(c.pcm), make([]int16, hearken.SampleRate)...), &finals, &firsts, &lags)
		}
	}
	t.Logf("end of speech to final: %v", &finals)
	t.Logf("onset to first unconfirmed word: %v", &firsts)
	t.Logf("write: %v", &lags)
}

// TestMeasure_Streams lets many streams speak all the time.
func TestMeasure_Streams(t *testing.T) {
	if !*measuring {
		t.Skip("only with -measure")
	}
	var speech []int16
	for _, c := range recordings(t) {
		if c.language == "en" && c.kind == "read" {
			speech = append(speech, c.pcm...)
		}
	}
	for _, m := range []struct {
		model   string
		streams int
	}{{"base", 8}, {"tiny", 12}} {
		n := m.streams
		t.Run(fmt.Sprint(m.model, n), func(t *testing.T) {
			p := engine(t, Config{Model: m.model, MaxStreams: n})
			var finals, firsts, lags delays
			var wg sync.WaitGroup
			used := processor()
			for i := range n {
				wg.Go(func() {
					from := i * 25 * hearken.SampleRate
					follow(t, p, speech[from:from+30*hearken.SampleRate], &finals, &firsts, &lags)
				})
			}
			wg.Wait()
			t.Logf("end of speech to final: %v", &finals)
			t.Logf("onset to first unconfirmed word: %v", &firsts)
			t.Logf("write: %v", &lags)
			t.Logf("processor: %.0f ms for each second of a stream", 1000*(processor()-used)/30/float64(n))
		})
	}
}

// processor is the time that this process has used, in seconds.
func processor() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

// TestMeasure_Silence tells what a stream costs in which nobody speaks.
func TestMeasure_Silence(t *testing.T) {
	if !*measuring {
		t.Skip("only with -measure")
	}
	p := engine(t, Config{Model: "base"})
	for _, tt := range []struct {
		name  string
		noise int
	}{{"digital", 0}, {"room", 60}} {
		pcm := make([]int16, 120*hearken.SampleRate)
		for i := range pcm {
			if tt.noise > 0 {
				pcm[i] = int16(i * 7919 % tt.noise)
			}
		}
		used := processor()
		stream1(t, p, pcm)
		t.Logf("%s silence: %.2f ms for each second", tt.name, 1000*(processor()-used)/120)
	}
}
