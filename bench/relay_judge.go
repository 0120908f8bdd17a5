package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A placed word is one with its times, in seconds.
type placed struct {
	text       string
	start, end float64
}

// placedWords are the words of a transcript in the order in which they were
// said, as words are compared.
func placedWords(segments []hearken.Segment) (list []placed) {
	for _, s := range segments {
		if !s.Spoken() || s.Origin != hearken.Microphone {
			continue
		}
		for _, w := range s.Words {
			for _, text := range normal(w.Word) {
				list = append(list, placed{text, w.StartTime, w.EndTime})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.start, b.start) })
	return list
}

// placedSilence is where the engine says that it heard no words.
func placedSilence(segments []hearken.Segment) (list []placed) {
	for _, s := range segments {
		if s.Status == hearken.NoSpeech && s.Origin == hearken.Microphone {
			list = append(list, placed{"", s.StartTime, s.EndTime})
		}
	}
	return list
}

// A verdict is what became of words on a way that should have changed nothing.
type verdict struct {
	words     int
	lost      int
	doubled   int
	added     int       // neither doubled nor in the place of another
	otherwise int       // there, but heard as something else
	unclear   int       // where the engine says that it heard no speech, or none it understood
	missing   int       // words without a counterpart, whatever the reason
	more      int       // the same from the other side
	off       []float64 // how far words are from their places, in milliseconds
	notes     []string

	silent, same []placed
}

// sameSound is where both runs have an entry from the same place to the same:
// whatever it says, the engine had all of that sound in one piece.
func sameSound(undisturbed, disturbed []hearken.Segment) (list []placed) {
	const most = 0.1
	for _, a := range undisturbed {
		if slices.ContainsFunc(disturbed, func(b hearken.Segment) bool {
			return a.Spoken() && b.Spoken() && math.Abs(a.StartTime-b.StartTime) <= most && math.Abs(a.EndTime-b.EndTime) <= most
		}) {
			list = append(list, placed{"", a.StartTime, a.EndTime})
		}
	}
	return list
}

// in tells whether a word lies in one of these stretches.
func (w placed) in(stretches []placed) bool {
	middle := (w.start + w.end) / 2
	return slices.ContainsFunc(stretches, func(s placed) bool { return s.start <= middle && middle <= s.end })
}

func (v *verdict) note(what string, w placed) {
	v.notes = append(v.notes, fmt.Sprintf("%s %q at %.2f", what, w.text, w.start))
}

// worst is the largest of the offsets.
func (v *verdict) worst() float64 {
	if len(v.off) == 0 {
		return 0
	}
	return slices.Max(v.off)
}

// within is how far words that stand for each other may be apart, in seconds.
const within = 1.0

// judgeWords holds the words of a run in which things went wrong against those
// of one in which nothing did. Words that stand for each other are within a
// second of each other; one that has none is lost or more than there was.
func judgeWords(undisturbed, disturbed []hearken.Segment) *verdict {
	want, got := placedWords(undisturbed), placedWords(disturbed)
	v := &verdict{words: len(want), silent: placedSilence(disturbed), same: sameSound(undisturbed, disturbed)}
	var strange []pair // since the last word that is the same in both
	for _, p := range append(alignPlaced(want, got), pair{-1, -1}) {
		if p.i < 0 || p.j < 0 || want[p.i].text != got[p.j].text {
			if p.i >= 0 || p.j >= 0 {
				strange = append(strange, p)
				continue
			}
		} else {
			v.off = append(v.off, 1000*math.Abs(want[p.i].start-got[p.j].start))
		}
		v.judgeStretch(want, got, strange)
		strange = strange[:0]
	}
	return v
}

// judgeStretch judges words in a row that are not the same in both runs.
func (v *verdict) judgeStretch(want, got []placed, stretch []pair) {
	var here, there []placed // of the one run and the other
	for _, p := range stretch {
		if p.i >= 0 {
			here = append(here, want[p.i])
		}
		if p.j >= 0 {
			there = append(there, got[p.j])
		}
	}
	for _, p := range stretch {
		switch {
		case p.j < 0:
			v.missing++
		case p.i < 0:
			v.more++
		}
		switch {
		case p.i >= 0 && p.j >= 0:
			v.otherwise++
			v.note("instead of "+strconv.Quote(want[p.i].text)+" heard", got[p.j])
		case p.i >= 0 && covered(want[p.i], there):
			v.otherwise++
			v.note("heard together", want[p.i])
		case p.i >= 0 && want[p.i].in(v.same):
			v.otherwise++
			v.note("not heard in the same sound", want[p.i])
		case p.i >= 0 && want[p.i].in(v.silent):
			v.unclear++
			v.note("not understood", want[p.i])
		case p.i >= 0:
			v.lost++
			v.note("lost", want[p.i])
		case repeats(got, p.j):
			v.doubled++
			v.note("doubled", got[p.j])
		case covered(got[p.j], here):
			v.otherwise++
			v.note("heard apart", got[p.j])
		default:
			v.added++
			v.note("added", got[p.j])
		}
	}
}

// covered tells whether the other run has something else in the place of a
// word, as it has if it heard "its" for "this is". Engines place words roughly.
func covered(w placed, others []placed) bool {
	if len(others) == 0 {
		return false
	}
	const slack = 0.5
	middle := (w.start + w.end) / 2
	return others[0].start-slack <= middle && middle <= others[len(others)-1].end+slack
}

// repeats tells whether a word comes again close by.
func repeats(words []placed, j int) bool {
	const near = 8
	for k := max(0, j-near); k < min(len(words), j+near+1); k++ {
		if k != j && words[k].text == words[j].text && math.Abs(words[k].start-words[j].start) <= within {
			return true
		}
	}
	return false
}

// A pair is two words that stand for each other; negative for none.
type pair struct{ i, j int }

// alignPlaced finds the alignment with the fewest changes, and of those the one
// with the least difference in time.
func alignPlaced(want, got []placed) []pair {
	const single, change, never = 6000, 10000, math.MaxInt / 2
	cost := func(a, b placed) int {
		apart := math.Abs(a.start - b.start)
		switch {
		case apart > within:
			return never
		case a.text != b.text:
			return change + int(1000*apart)
		}
		return int(1000 * apart)
	}
	d := make([][]int, len(want)+1)
	for i := range d {
		d[i] = make([]int, len(got)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = single * j
			case j == 0:
				d[i][j] = single * i
			default:
				d[i][j] = min(d[i-1][j]+single, d[i][j-1]+single, d[i-1][j-1]+cost(want[i-1], got[j-1]))
			}
		}
	}
	var pairs []pair
	for i, j := len(want), len(got); i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && d[i][j] == d[i-1][j-1]+cost(want[i-1], got[j-1]):
			i, j = i-1, j-1
			pairs = append(pairs, pair{i, j})
		case i > 0 && d[i][j] == d[i-1][j]+single:
			i--
			pairs = append(pairs, pair{i, -1})
		default:
			j--
			pairs = append(pairs, pair{-1, j})
		}
	}
	slices.Reverse(pairs)
	return pairs
}

// judgeScript holds what the stand-in's words became against the script.
func judgeScript(script []spokenWord, segments []hearken.Segment) *verdict {
	v := &verdict{words: len(script)}
	seen := make([]bool, len(script))
	for _, s := range segments {
		if !s.Spoken() {
			continue
		}
		for _, w := range s.Words {
			p := placed{w.Word, w.StartTime, w.EndTime}
			var n, length int
			if _, err := fmt.Sscanf(strings.ToLower(w.Word), "w%d:%d", &n, &length); err != nil || n >= len(script) {
				v.added++
				v.note("added", p)
				continue
			}
			from, to := float64(script[n].from)/hearken.SampleRate, float64(script[n].to)/hearken.SampleRate
			const enough = 0.9
			switch {
			case float64(length) < 1000*enough*(to-from):
				v.otherwise++
				v.note("a part of", p)
			case seen[n]:
				v.doubled++
				v.note("doubled", p)
			default:
				seen[n] = true
				v.off = append(v.off, 1000*math.Abs(w.StartTime-from), 1000*math.Abs(w.EndTime-to))
			}
		}
	}
	for n, ok := range seen {
		if !ok {
			v.lost++
			v.note("lost", placed{script[n].text, float64(script[n].from) / hearken.SampleRate, 0})
		}
	}
	return v
}
