//go:build fit

package moonshine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/speech"
)

// An observation is one utterance of a recording with what is known about it.
type observation struct {
	clip    *speech.Clip
	text    string
	f       features
	correct float64 // share of its words that are right
	words   int     // that were said in it
}

// observe hears recordings as a stream does, with a second opinion on every
// utterance and without plausibility.
func observe(t *testing.T, p *Provider, clips []speech.Clip) []observation {
	t.Helper()
	v, err := p.modelSet("en", "base").wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := *v
	open.plausible = plausibility{doubt: math.Inf(1)}
	var mu sync.Mutex
	heard := make([][]*transcription, len(clips))
	var wg sync.WaitGroup
	next := make(chan int)
	for range p.cfg.Cores {
		wg.Go(func() {
			for i := range next {
				s, err := p.open(t.Context(), hearken.StreamConfig{Language: "en"}, &open, liveMode)
				if err != nil {
					t.Error(err)
					continue
				}
				s.observe = func(u *transcription) {
					mu.Lock()
					defer mu.Unlock()
					heard[i] = append(heard[i], u)
				}
				go func() {
					if s.Write(hearken.Frame{PCM: clips[i].PCM()}) == nil {
						s.Close()
					}
				}()
				for range s.Events() {
				}
			}
		})
	}
	for i := range clips {
		next <- i
	}
	close(next)
	wg.Wait()
	var all []observation
	for i, us := range heard {
		all = append(all, score(&clips[i], us)...)
	}
	return all
}

// score compares the utterances of a recording with what was said: each gets
// the errors that a best alignment of the whole puts into it.
func score(c *speech.Clip, us []*transcription) []observation {
	var all []observation
	var words []string
	var owner []int
	for _, u := range us {
		if !u.result.hasSpeech() {
			continue
		}
		for _, w := range normal(u.result.text) {
			words = append(words, w)
			owner = append(owner, len(all))
		}
		all = append(all, observation{clip: c, text: u.result.text, f: u.result.features})
	}
	if c.Reference == "" || len(words) == 0 {
		return all
	}
	errors := make([]int, len(all))
	said := normal(c.Reference)
	align(said, words, func(i, j int) { // reference, hypothesis; -1 for none
		o := owner[max(0, min(j, len(owner)-1))]
		if j < 0 {
			o = owner[max(0, min(^j, len(owner)-1))]
		}
		if i >= 0 {
			all[o].words++
		}
		if i < 0 || j < 0 || said[i] != words[j] {
			errors[o]++
		}
	})
	for i := range all {
		all[i].correct = max(0, 1-float64(errors[i])/float64(max(all[i].words, 1)))
	}
	return all
}

// align walks a best alignment of two texts backwards. A word of a that is
// missing in b comes with the complement of the place where it is missing.
func align(a, b []string, visit func(i, j int)) {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			}
		}
	}
	for i, j := len(a), len(b); i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && d[i][j] == d[i-1][j-1]+btoi(a[i-1] != b[j-1]):
			i, j = i-1, j-1
			visit(i, j)
		case i > 0 && d[i][j] == d[i-1][j]+1:
			i--
			visit(i, ^j)
		default:
			j--
			visit(-1, j)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// calibration is the mean distance between confidence and accuracy over bins
// of equal size, weighted by words.
func calibration(obs []observation, confidence func(features) float64) (distance float64, words int) {
	slices.SortFunc(obs, func(a, b observation) int {
		if confidence(a.f) < confidence(b.f) {
			return -1
		}
		return 1
	})
	const bins = 5
	for _, o := range obs {
		words += o.words
	}
	var sum [2]float64
	bin, total := 0, 0
	for i, o := range obs {
		w := float64(o.words)
		sum[0] += w * confidence(o.f)
		sum[1] += w * o.correct
		total += o.words
		if total*bins >= (bin+1)*words || i == len(obs)-1 {
			distance += math.Abs(sum[0]-sum[1]) / float64(words)
			sum = [2]float64{}
			bin++
		}
	}
	return distance, words
}

// TestFit finds the coefficients of the plausibility and of the confidence on one half
// of the recordings and tells how good they are on the other:
//
//	HEARKEN_SPEECH=... go test -tags fit -run TestFit -v ./stt/moonshine
func TestFit(t *testing.T) {
	obs := observe(t, engine(t, Config{Model: "base"}), speech.All(t))
	for _, o := range obs {
		t.Logf("%s\t%s\t%d\t%+v\t%.2f\t%s", o.clip.File(), o.clip.Language, o.words, o.f, o.correct, o.text)
	}
	fitPlausibility(t, obs)
	fitConfidence(t, obs)
}

func fitPlausibility(t *testing.T, obs []observation) {
	for _, second := range []bool{true, false} {
		rows := [2][]example{}
		for _, o := range obs {
			if o.clip.Language == "-" {
				continue
			}
			f := o.f
			if second && !f.second {
				continue // the good model was speechless: there is only one opinion
			}
			f.second = second
			e := example{x: f.regressionInput()[1:], weight: 1}
			if o.clip.Language != "en" {
				e.y = 1
			}
			rows[o.clip.Half()] = append(rows[o.clip.Half()], e)
		}
		for half := range 2 {
			b := regress(rows[half], 0.3)
			t.Logf("plausibility, second opinion %v, fitted to half %d: %s", second, half, coefficients(b))
			for _, limit := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8} {
				t.Logf("  limit %.1f: fitted %s; other half %s", limit,
					marks(obs, half, second, b, limit), marks(obs, 1-half, second, b, limit))
			}
		}
		b := regress(append(slices.Clone(rows[0]), rows[1]...), 0.3)
		t.Logf("plausibility, second opinion %v, fitted to all: %s", second, coefficients(b))
	}
}

// marks counts how a plausibility does on one half.
func marks(obs []observation, half int, second bool, b []float64, limit float64) string {
	type tally struct{ all, marked int }
	clips := map[*speech.Clip]*tally{}
	var english tally
	for _, o := range obs {
		if o.clip.Half() != half || o.clip.Language == "-" {
			continue
		}
		f := o.f
		f.second = second && f.second
		if second && !f.second {
			continue
		}
		c := clips[o.clip]
		if c == nil {
			c = new(tally)
			clips[o.clip] = c
		}
		implausible := logistic(b, f.regressionInput()) >= limit
		c.all++
		c.marked += btoi(implausible)
		if o.clip.Language == "en" {
			english.all++
			english.marked += btoi(implausible)
		}
	}
	var foreign, native tally
	for c, n := range clips {
		if c.Language == "en" {
			native.all++
			native.marked += btoi(n.marked > 0)
		} else {
			foreign.all++
			foreign.marked += btoi(2*n.marked > n.all)
		}
	}
	return fmt.Sprintf("foreign recordings marked %d/%d, English ones %d/%d, English utterances %d/%d",
		foreign.marked, foreign.all, native.marked, native.all, english.marked, english.all)
}

func fitConfidence(t *testing.T, obs []observation) {
	var halves [2][]observation
	var rows [2][]example
	for _, o := range obs {
		if o.clip.Language != "en" || o.words == 0 {
			continue
		}
		h := o.clip.Half()
		halves[h] = append(halves[h], o)
		rows[h] = append(rows[h], example{x: o.f.regressionInput()[1:4], y: o.correct, weight: float64(o.words)})
	}
	for h := range 2 {
		b := regress(rows[h], 1)
		own, n := calibration(halves[h], func(f features) float64 { return logistic(b, f.regressionInput()[:4]) })
		other, m := calibration(halves[1-h], func(f features) float64 { return logistic(b, f.regressionInput()[:4]) })
		t.Logf("confidence fitted to half %d: %s: error %.3f on it (%d words), %.3f on the other (%d words)", h, coefficients(b), own, n, other, m)
		now, _ := calibration(halves[h], confidence)
		t.Logf("confidence as it is on half %d: error %.3f", h, now)
	}
	t.Logf("confidence fitted to all: %s", coefficients(regress(append(slices.Clone(rows[0]), rows[1]...), 1)))
}

func coefficients(b []float64) string {
	out := make([]string, len(b))
	for i, x := range b {
		out[i] = fmt.Sprintf("%.3f", x)
	}
	return strings.Join(out, ", ")
}
