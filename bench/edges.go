package main

import (
	"math"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/vad"
)

// Where speech begins and ends is found by level and by the voice detector,
// which must agree: a frame of 10 ms is speech if it is less than 30 dB below
// the loud frames of its recording and well above the quiet ones, and the
// detector says so too. Level alone takes breath for speech; the detector alone
// continues for about 100 ms after the last speech, which would flatter the
// engine.
const (
	levelFrame = hearken.SampleRate / 100
	vadWindow  = 512
	burst      = 5   // frames; less is a click
	stillness  = 200 // frames without speech before an onset or after an end
)

// speechEdges are the positions, in samples, where speech begins after two
// seconds without and where it ends before two seconds without.
func speechEdges(b *bench, t *speech.Tape) (onsets, ends []int) {
	spoken := detectSpeech(b, t.PCM)
	voiced := make([]bool, len(t.PCM)/levelFrame+1)
	for _, p := range t.Parts {
		copy(voiced[p.From/levelFrame:], loudFrames(p.PCM()))
	}
	last := -stillness
	for i, v := range voiced {
		if !v || !spoken[min(i*levelFrame/vadWindow, len(spoken)-1)] {
			continue
		}
		if i-last >= stillness {
			if last >= 0 {
				ends = append(ends, (last+1)*levelFrame)
			}
			onsets = append(onsets, i*levelFrame)
		}
		last = i
	}
	if last >= 0 {
		ends = append(ends, (last+1)*levelFrame)
	}
	return onsets, ends
}

// detectSpeech reports which windows the voice detector takes for speech.
func detectSpeech(b *bench, pcm []int16) (spoken []bool) {
	root, err := models.Root()
	b.check(err)
	rt, err := onnx.Open(models.Library(root))
	b.check(err)
	defer rt.Close()
	m, err := vad.Load(rt, models.VAD(root))
	b.check(err)
	defer m.Close()
	d, err := m.NewDetector()
	b.check(err)
	defer d.Close()
	for audio := floats(pcm); len(audio) >= vadWindow; audio = audio[vadWindow:] {
		likely, err := d.Feed(audio[:vadWindow])
		b.check(err)
		spoken = append(spoken, likely >= 0.5)
	}
	return spoken
}

// loudFrames reports which frames of a recording are loud enough for speech.
func loudFrames(pcm []int16) []bool {
	levels := make([]float64, len(pcm)/levelFrame)
	for i := range levels {
		var sum float64
		for _, x := range pcm[i*levelFrame : (i+1)*levelFrame] {
			sum += float64(x) * float64(x)
		}
		levels[i] = 10 * math.Log10(sum/levelFrame+1)
	}
	if len(levels) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(levels))
	loud, low := sorted[len(sorted)*95/100], sorted[len(sorted)/10]
	limit := min(max(loud-30, low+10), loud-15)
	frames := make([]bool, len(levels))
	run := 0
	for i, l := range levels {
		if l < limit {
			run = 0
			continue
		}
		if run++; run >= burst {
			for j := range burst {
				frames[i-j] = true
			}
		}
	}
	return frames
}
