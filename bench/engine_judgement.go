package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

// fittedHalf is the half of the recordings that the engine's confidence was
// fitted to.
const fittedHalf = 0

// benchJudgement measures what the engine says about audio that it should not
// put into words, and how well it knows how right it is.
func benchJudgement(b *bench) {
	n := 0
	clips := speech.Select(b, func(*speech.Clip) bool {
		n++
		return !b.quick || n%5 == 0
	})
	segments := transcribeClips(b, b.engine(moonshine.Config{MaxStreams: 100}), clips)
	var noise, noisy, foreign, marked, english, wrong int
	var opinions []opinion
	for i, c := range clips {
		notUnderstood, texts := countTexts(segments[i])
		note := ""
		switch c.Language {
		case "-":
			noise++
			if texts > 0 {
				noisy++
				note = "text in noise"
			}
		case "en":
			english++
			if notUnderstood > 0 {
				wrong++
				note = "English marked"
			}
		default:
			foreign++
			if notUnderstood > texts {
				marked++
			} else {
				note = "foreign not marked"
			}
		}
		if note != "" {
			b.Logf("%s: %s %s", note, c.Language, c.File())
		}
		if c.Language == "en" && c.Reference != "" && c.Half() != fittedHalf {
			opinions = append(opinions, opinionsOf(c.Reference, segments[i])...)
		}
	}
	if noise == 0 || foreign == 0 || english == 0 {
		b.Fatal("the recordings have no noise, no foreign speech or no English")
	}
	share := func(n, of int) (float64, string) {
		return 100 * float64(n) / float64(of), fmt.Sprintf("%d of %d recordings", n, of)
	}
	b.report("text on noise and silence", atMost(0), float64(noisy), "recordings", fmt.Sprintf("of %d", noise))
	value, spread := share(marked, foreign)
	b.report("speech in other languages marked", atLeast(80, 90), value, "%", spread+"; more segments marked than put into words")
	value, spread = share(wrong, english)
	b.report("English wrongly marked", atMost(2, 0), value, "%", spread+"; a single segment counts")
	distance, words := calibration(opinions)
	b.report("confidence against word accuracy, mean distance", atMost(0.05), distance, "", fmt.Sprintf("%d words of recordings that it was not fitted to, in 5 bins", words))
}

// transcribeClips streams clips as fast as the engine takes them, one for each
// core: what a stream says does not depend on the pace.
func transcribeClips(b *bench, p hearken.Provider, clips []*speech.Clip) [][]hearken.Segment {
	segments := make([][]hearken.Segment, len(clips))
	errs := make([]error, len(clips))
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				r, err := stream(b.ctx, p, english, clips[i].PCM(), false)
				if errs[i] = err; err == nil {
					segments[i] = r.segments()
				}
			}
		})
	}
	for i := range clips {
		next <- i
	}
	close(next)
	group.Wait()
	b.check(errors.Join(append(errs, b.ctx.Err())...))
	return segments
}

// countTexts counts the segments that are marked as not understood and those
// that were put into words.
func countTexts(segments []hearken.Segment) (notUnderstood, texts int) {
	for _, s := range segments {
		switch {
		case s.Text == moonshine.NotUnderstood:
			notUnderstood++
		case s.Spoken():
			texts++
		}
	}
	return notUnderstood, texts
}

// An opinion is how sure the engine is of a segment and how right it is.
type opinion struct {
	confidence float64
	accuracy   float64
	words      int
}

// opinionsOf gives each segment the errors that the best alignment of the whole
// text puts into it.
func opinionsOf(reference string, segments []hearken.Segment) []opinion {
	var list []opinion
	var heard []string
	var segmentOf []int // of each word
	for _, s := range segments {
		if !s.Spoken() || s.Confidence == nil {
			continue
		}
		for _, w := range wer.Words(s.Text) {
			heard = append(heard, w)
			segmentOf = append(segmentOf, len(list))
		}
		list = append(list, opinion{confidence: *s.Confidence})
	}
	if len(heard) == 0 {
		return nil
	}
	said := wer.Words(reference)
	wrong := make([]int, len(list))
	next := 0 // the next word that was heard
	for _, p := range wer.Align(len(said), len(heard), 1, func(i, j int) int {
		if said[i] == heard[j] {
			return 0
		}
		return 1
	}) {
		if p.Heard >= 0 {
			next = p.Heard
		}
		o := segmentOf[min(next, len(heard)-1)]
		if p.Said >= 0 {
			list[o].words++
		}
		if p.Said < 0 || p.Heard < 0 || said[p.Said] != heard[p.Heard] {
			wrong[o]++
		}
		if p.Heard >= 0 {
			next++
		}
	}
	for i := range list {
		list[i].accuracy = max(0, 1-float64(wrong[i])/float64(max(list[i].words, 1)))
	}
	return list
}

// calibration is the mean distance between confidence and accuracy over five
// bins with as many words each.
func calibration(list []opinion) (distance float64, words int) {
	slices.SortFunc(list, func(a, b opinion) int { return cmp.Compare(a.confidence, b.confidence) })
	for _, o := range list {
		words += o.words
	}
	const bins = 5
	var gap float64
	seen, bin := 0, 1
	for i, o := range list {
		gap += float64(o.words) * (o.confidence - o.accuracy)
		seen += o.words
		if seen*bins >= bin*words || i == len(list)-1 {
			distance += math.Abs(gap) / float64(max(words, 1))
			gap = 0
			bin++
		}
	}
	return distance, words
}
