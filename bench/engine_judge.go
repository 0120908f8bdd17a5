package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// measureJudgement looks at what the engine says about sound that it should
// not put into words, and at how well it knows how right it is.
func measureJudgement(ctx context.Context, b *bench) error {
	n := 0
	clips, err := recordings(func(c *clip) bool {
		n++
		return !b.quick || n%5 == 0
	})
	if err != nil {
		return err
	}
	p, err := openEngine(ctx, moonshine.Config{MaxStreams: 100})
	if err != nil {
		return err
	}
	defer closeEngine(ctx, p)
	segments, err := hearAll(ctx, p, clips)
	if err != nil {
		return err
	}
	var noise, noisy, foreign, marked, english, wrong int
	var opinions []opinion
	for i, c := range clips {
		strange, texts := judged(segments[i])
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
			if strange > 0 {
				wrong++
				note = "English marked"
			}
		default:
			foreign++
			if strange > texts {
				marked++
			} else {
				note = "foreign not marked"
			}
		}
		if note != "" {
			fmt.Fprintf(os.Stderr, "    %s: %s %s\n", note, c.Language, c.name())
		}
		if c.Language == "en" && c.Reference != "" && c.Half() != fittedHalf {
			opinions = append(opinions, opinionsOf(c.Reference, segments[i])...)
		}
	}
	if noise == 0 || foreign == 0 || english == 0 {
		return errors.New("the recordings have no noise, no foreign speech or no English")
	}
	share := func(n, of int) (float64, string) {
		return 100 * float64(n) / float64(of), fmt.Sprintf("%d of %d recordings", n, of)
	}
	b.rows.add("text on noise and silence", "max", 0, float64(noisy), "recordings", fmt.Sprintf("of %d", noise))
	value, spread := share(marked, foreign)
	b.goal("speech in other languages marked", "min", 80, 90, value, "%", spread+"; more segments marked than put into words")
	value, spread = share(wrong, english)
	b.goal("English wrongly marked", "max", 2, 0, value, "%", spread+"; a single segment counts")
	distance, words := calibration(opinions)
	b.rows.add("confidence against word accuracy, mean distance", "max", 0.05, distance, "", fmt.Sprintf("%d words of recordings that it was not fitted to, in 5 bins", words))
	return nil
}

// hearAll streams recordings as fast as the engine takes them, one for each
// core: what a stream says does not depend on the pace.
func hearAll(ctx context.Context, p hearken.Provider, clips []*clip) ([][]hearken.Segment, error) {
	segments := make([][]hearken.Segment, len(clips))
	errs := make([]error, len(clips))
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				segments[i], errs[i] = hearFast(ctx, p, clips[i].pcm)
			}
		})
	}
	for i := range clips {
		next <- i
	}
	close(next)
	group.Wait()
	return segments, cmp.Or(append(errs, ctx.Err())...) // the first is enough
}

func hearFast(ctx context.Context, p hearken.Provider, pcm []int16) (segments []hearken.Segment, err error) {
	s, err := p.Open(ctx, hearken.StreamConfig{Language: "en"})
	if err != nil {
		return nil, err
	}
	go func() {
		defer hangUp(s)
		_ = s.Write(hearken.Frame{PCM: pcm}) // a Failed event tells what went wrong
	}()
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Failed:
			err = e.Err
		case hearken.Final:
			segments = append(segments, e.Segment)
		}
	}
	return segments, err
}

// judged counts the segments that were marked as not understood and those that
// were put into words.
func judged(segments []hearken.Segment) (strange, texts int) {
	for _, s := range segments {
		switch {
		case s.Text == moonshine.NotUnderstood:
			strange++
		case s.Spoken():
			texts++
		}
	}
	return strange, texts
}

// fittedHalf is the half of the recordings that the engine's confidence was
// fitted to.
const fittedHalf = 0

// An opinion is what the engine thinks of a segment and how right it is.
type opinion struct {
	confidence float64
	accuracy   float64
	words      int
}

// opinionsOf gives each segment the errors that a best alignment of the whole
// puts into it.
func opinionsOf(reference string, segments []hearken.Segment) []opinion {
	var list []opinion
	var heard []string
	var owner []int
	for _, s := range segments {
		if !s.Spoken() || s.Confidence == nil {
			continue
		}
		for _, w := range normal(s.Text) {
			heard = append(heard, w)
			owner = append(owner, len(list))
		}
		list = append(list, opinion{confidence: *s.Confidence})
	}
	if len(heard) == 0 {
		return nil
	}
	said := normal(reference)
	wrong := make([]int, len(list))
	align(said, heard, func(i, j int) {
		place := j
		if i >= 0 && j < 0 {
			place = ^j
		}
		o := owner[min(place, len(owner)-1)]
		if i >= 0 {
			list[o].words++
		}
		if i < 0 || j < 0 || said[i] != heard[j] {
			wrong[o]++
		}
	})
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
