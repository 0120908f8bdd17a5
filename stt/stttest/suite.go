package stttest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"github.com/hearken-dev/hearken/stt"
)

// Options says what the suite's provider can transcribe.
type Options struct {
	Language string
	// Audio is speech in that language at [hearken.SampleRate]: at least ten
	// seconds with a pause or two.
	Audio []int16
	// Words is about what is said in it; a quarter of it may be wrong.
	// Without it the suite only compares the provider with itself.
	Words string
	// Unknown is a language that the provider must refuse; empty for none.
	Unknown string
	// Tolerance is the share of words that may differ between two ways of
	// cutting the same audio into frames. Zero is zero.
	Tolerance float64
	// Without names the parts of the suite that test what the provider does
	// not promise: "Interim" if unconfirmed words come only after an utterance
	// has ended, "Finalize" if it does not declare that its streams finalize,
	// "Endpoints" if it does not report pauses.
	Without []string
	// Timeout is how long one stream may take; two minutes if zero.
	Timeout time.Duration
}

// Run checks that a provider keeps its contract. The function opens a provider that is
// ready to take streams; it is called once for each part of the suite and
// registers its own clean-up.
func Run(t *testing.T, open func(t *testing.T) hearken.Provider, o Options) {
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	parts := []struct {
		name string
		run  func(*suite, *testing.T)
	}{
		{"Check", (*suite).check},
		{"Order", (*suite).order},
		{"Interim", (*suite).interim},
		{"NoInterim", (*suite).noInterim},
		{"Start", (*suite).start},
		{"Chunks", (*suite).chunks},
		{"CloseFlushes", (*suite).closeFlushes},
		{"CloseWithoutSound", (*suite).closeWithoutSound},
		{"Finalize", (*suite).finalize},
		{"Endpoints", (*suite).endpoints},
		{"Cancel", (*suite).cancel},
		{"TenAtOnce", (*suite).tenAtOnce},
		{"Gap", (*suite).gap},
		{"Garbage", (*suite).garbage},
	}
	left := len(parts) - len(o.Without)
	for _, part := range parts {
		if slices.Contains(o.Without, part.name) {
			continue
		}
		left--
		t.Run(part.name, func(t *testing.T) {
			part.run(&suite{Options: o, provider: open(t)}, t)
		})
	}
	if left != 0 {
		t.Errorf("the suite has no such parts: %q", o.Without)
	}
}

type suite struct {
	Options
	provider hearken.Provider
}

func (s *suite) config() hearken.StreamConfig {
	return hearken.StreamConfig{Session: "00000000-0000-4000-8000-000000000000", Origin: hearken.Microphone, Language: s.Language, Interim: true}
}

func (s *suite) check(t *testing.T) {
	if s.provider.Name() == "" {
		t.Error("the provider has no name")
	}
	if err := s.provider.Check(t.Context(), s.config()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if declared := s.provider.Capabilities().Finalize; declared == slices.Contains(s.Without, "Finalize") {
		t.Errorf("Capabilities().Finalize is %t; see Options.Without", declared)
	}
	if s.Unknown == "" {
		return
	}
	cfg := s.config()
	cfg.Language = s.Unknown
	if err := s.provider.Check(t.Context(), cfg); hearken.CodeOf(err) != hearken.ProviderNotConfigured {
		t.Errorf("Check with language %q: %v", s.Unknown, err)
	}
}

func (s *suite) order(t *testing.T) {
	h := s.transcribe(t, s.config(), s.Audio, 1600)
	h.verify(t, 0, int64(len(s.Audio)))
	if s.Words == "" {
		return
	}
	want, got := hearken.Terms(s.Words), h.words()
	if d := editdistance.Levenshtein(want, got); float64(d) > 0.25*float64(len(want)) {
		t.Errorf("%d of %d words are wrong:\nwant %q\ngot  %q", d, len(want), want, got)
	}
}

// interim stops in the middle of the first thing that is said, where a
// provider has had time to show something of it.
func (s *suite) interim(t *testing.T) {
	whole := s.transcribe(t, s.config(), s.Audio, 1600)
	if len(whole.finals) == 0 {
		t.Fatal("no final came")
	}
	stream, err := s.provider.Open(t.Context(), s.config())
	if err != nil {
		t.Fatal(err)
	}
	half := stt.Position((whole.finals[0].StartTime + whole.finals[0].EndTime) / 2)
	if err := writeCut(stream, 0, s.Audio[:half], func() int { return 1600 }); err != nil {
		t.Fatal(err)
	}
	end := func() {
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
	timer := time.AfterFunc(s.Timeout, func() {
		t.Error("no unconfirmed segment came")
		end()
	})
	shown := false
	for e := range stream.Events() {
		if e.Kind == hearken.Partial && !shown {
			shown = true
			if timer.Stop() {
				end()
			}
		}
	}
	timer.Stop()
}

func (s *suite) noInterim(t *testing.T) {
	cfg := s.config()
	cfg.Interim = false
	h := s.transcribe(t, cfg, s.Audio, 1600)
	h.verify(t, 0, int64(len(s.Audio)))
	if n := len(h.partials); n > 0 {
		t.Errorf("%d unconfirmed segments came that nobody wanted", n)
	}
}

// start transcribes the same audio an hour later.
func (s *suite) start(t *testing.T) {
	const hour = 3600 * hearken.SampleRate
	early := s.transcribe(t, s.config(), s.Audio, 1600)
	cfg := s.config()
	cfg.Start = hour
	late := s.transcribe(t, cfg, s.Audio, 1600)
	late.verify(t, hour, int64(len(s.Audio)))
	s.compare(t, early.words(), late.words())
	if len(early.finals) == 0 || len(late.finals) == 0 {
		t.Fatal("no final came")
	}
	if d := late.finals[0].StartTime - early.finals[0].StartTime - 3600; math.Abs(d) > 0.1 {
		t.Errorf("the first segment is %.3f s off", d)
	}
}

// chunks cuts the audio in many ways; the words stay the same.
func (s *suite) chunks(t *testing.T) {
	want := s.transcribe(t, s.config(), s.Audio, 1600).words()
	if len(want) == 0 {
		t.Fatal("no word was heard")
	}
	for _, size := range []int{80, 333, 320, 512, 8000, 16000, 32000} {
		t.Run(fmt.Sprintf("%.1fms", float64(size)/16), func(t *testing.T) {
			h := s.transcribe(t, s.config(), s.Audio, size)
			h.verify(t, 0, int64(len(s.Audio)))
			s.compare(t, want, h.words())
		})
	}
	t.Run("mixed", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		h := s.transcribeCut(t, s.config(), s.Audio, func() int {
			return []int{0, 1, 7, 80, 160, 1023, 4800, 32000}[r.IntN(8)]
		})
		h.verify(t, 0, int64(len(s.Audio)))
		s.compare(t, want, h.words())
	})
}

func (s *suite) closeFlushes(t *testing.T) {
	whole := s.transcribe(t, s.config(), s.Audio, 1600)
	if len(whole.finals) == 0 {
		t.Fatal("no final came")
	}
	// End in the middle of the last thing that was said.
	last := whole.finals[len(whole.finals)-1]
	end := stt.Position((last.StartTime + last.EndTime) / 2)
	h := s.transcribe(t, s.config(), s.Audio[:end], 1600)
	h.verify(t, 0, end)
	if n := len(h.finals); n == 0 || h.finals[n-1].EndTime < last.StartTime {
		t.Errorf("what was being said at Close was lost: %d finals", n)
	}
}

func (s *suite) closeWithoutSound(t *testing.T) {
	h := s.transcribe(t, s.config(), nil, 1600)
	if len(h.finals) > 0 || h.failed != nil {
		t.Errorf("finals %v, failed %v", h.finals, h.failed)
	}
}

func (s *suite) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := s.provider.Open(ctx, s.config())
	if err != nil {
		t.Fatal(err)
	}
	h := collect(stream)
	_ = writeCut(stream, 0, s.Audio[:len(s.Audio)/2], func() int { return 1600 })
	cancel()
	h.wait(t, s.Timeout)
	if err := stream.Write(hearken.Frame{Pos: int64(len(s.Audio) / 2), PCM: s.Audio[:160]}); err == nil {
		t.Error("Write after the end of the context succeeded")
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if stream, err := s.provider.Open(done, s.config()); err == nil {
		collect(stream).wait(t, s.Timeout)
	}
}

func (s *suite) tenAtOnce(t *testing.T) {
	want := s.transcribe(t, s.config(), s.Audio, 1600).words()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			h := s.transcribe(t, s.config(), s.Audio, 1600)
			h.verify(t, 0, int64(len(s.Audio)))
			s.compare(t, want, h.words())
		})
	}
	wg.Wait()
}

// gap loses a minute between two frames: times stay on the session's clock.
func (s *suite) gap(t *testing.T) {
	const lost = 60 * hearken.SampleRate
	stream, err := s.provider.Open(t.Context(), s.config())
	if err != nil {
		t.Fatal(err)
	}
	h := collect(stream)
	size := func() int { return 1600 }
	n := int64(len(s.Audio))
	for _, at := range []int64{0, n + lost} {
		if err := writeCut(stream, at, s.Audio, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	h.wait(t, s.Timeout)
	h.verify(t, 0, 2*n+lost)
	before, after := 0, 0
	for _, f := range h.finals {
		switch {
		case f.Status == hearken.NoSpeech:
		case f.EndTime <= stt.Seconds(n)+0.1:
			before++
		case f.StartTime >= stt.Seconds(n+lost)-0.1:
			after++
		default:
			t.Errorf("a segment from %.2f to %.2f lies in the gap", f.StartTime, f.EndTime)
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("%d segments before the gap, %d after it", before, after)
	}
}

func (s *suite) garbage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	loud := make([]int16, len(s.Audio))
	for i, x := range s.Audio {
		loud[i] = int16(max(-32768, min(32767, int(x)*50)))
	}
	for name, pcm := range map[string][]int16{
		"SingleSample": {12345},
		"Silence":      make([]int16, 7*hearken.SampleRate),
		"Noise":        generate(5, func(int) int16 { return int16(r.IntN(65536) - 32768) }),
		"Square":       generate(5, func(i int) int16 { return int16(32767 * (1 - 2*(i/40%2))) }),
		"Offset":       generate(5, func(int) int16 { return 20000 }),
		"Clipped":      loud,
	} {
		t.Run(name, func(t *testing.T) {
			h := s.transcribe(t, s.config(), pcm, 1600)
			h.verify(t, 0, int64(len(pcm)))
			if name != "Clipped" && len(h.words()) > 0 {
				t.Errorf("heard %q", h.words())
			}
		})
	}
}

func generate(seconds int, sample func(int) int16) []int16 {
	pcm := make([]int16, seconds*hearken.SampleRate)
	for i := range pcm {
		pcm[i] = sample(i)
	}
	return pcm
}

// compare compares two transcriptions of the same audio.
func (s *suite) compare(t *testing.T, want, got []string) {
	t.Helper()
	if d := editdistance.Levenshtein(want, got); float64(d) > s.Tolerance*float64(len(want)) {
		t.Errorf("%d of %d words differ: %s", d, len(want), cmp.Diff(want, got))
	}
}
