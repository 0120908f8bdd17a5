package wer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
)

// A timedWord is a word with its times, in seconds.
type timedWord struct {
	text       string
	start, end float64
}

// timedWords are the words of a transcript's microphone side, in the order of
// speech and as words are compared.
func timedWords(segments []hearken.Segment) (list []timedWord) {
	for _, s := range segments {
		if !s.Spoken() || s.Origin != hearken.Microphone {
			continue
		}
		for _, w := range s.Words {
			for _, text := range Words(w.Word) {
				list = append(list, timedWord{text, w.StartTime, w.EndTime})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b timedWord) int { return cmp.Compare(a.start, b.start) })
	return list
}

// silences are where the engine says that it found no words.
func silences(segments []hearken.Segment) (list []timedWord) {
	for _, s := range segments {
		if s.Status == hearken.NoSpeech && s.Origin == hearken.Microphone {
			list = append(list, timedWord{"", s.StartTime, s.EndTime})
		}
	}
	return list
}

// A Difference says what became of the words of a transcription that was
// disturbed, for example by a broken connection.
type Difference struct {
	Words     int       // of the undisturbed transcription
	Lost      int       // missing without an excuse
	Doubled   int       // transcribed twice
	Added     int       // neither doubled nor instead of another word
	Changed   int       // transcribed as something else
	Unclear   int       // where the engine says that it found no words
	OffMillis []float64 // how far equal words are apart in time
	Notes     []string  // one for each word that differs

	silent, same []timedWord
}

// sameAudio is where both transcriptions have an entry with the same start and
// end: whatever its words, the engine had all of that audio in one piece.
func sameAudio(undisturbed, disturbed []hearken.Segment) (list []timedWord) {
	const most = 0.1
	for _, a := range undisturbed {
		if slices.ContainsFunc(disturbed, func(b hearken.Segment) bool {
			return a.Spoken() && b.Spoken() && math.Abs(a.StartTime-b.StartTime) <= most && math.Abs(a.EndTime-b.EndTime) <= most
		}) {
			list = append(list, timedWord{"", a.StartTime, a.EndTime})
		}
	}
	return list
}

// in reports whether a word lies in one of these stretches.
func (w timedWord) in(stretches []timedWord) bool {
	middle := (w.start + w.end) / 2
	return slices.ContainsFunc(stretches, func(s timedWord) bool { return s.start <= middle && middle <= s.end })
}

func (d *Difference) note(what string, w timedWord) {
	d.Notes = append(d.Notes, fmt.Sprintf("%s %q at %.2f", what, w.text, w.start))
}

// maxApart is how far words that stand for each other may be apart, in seconds.
const maxApart = 1.0

// Compare compares a disturbed transcription with an undisturbed one of the
// same audio by the same engine. Words that stand for each other are within a
// second of each other. An engine that is cut off and starts at another
// position may transcribe the same audio differently, which is told apart from
// audio that it never got.
func Compare(undisturbed, disturbed []hearken.Segment) *Difference {
	want, got := timedWords(undisturbed), timedWords(disturbed)
	d := &Difference{Words: len(want), silent: silences(disturbed), same: sameAudio(undisturbed, disturbed)}
	var differ []Pair // since the last word that is the same in both
	for _, p := range append(alignTimed(want, got), Pair{-1, -1}) {
		if p.Said < 0 || p.Heard < 0 || want[p.Said].text != got[p.Heard].text {
			if p.Said >= 0 || p.Heard >= 0 {
				differ = append(differ, p)
				continue
			}
		} else {
			d.OffMillis = append(d.OffMillis, 1000*math.Abs(want[p.Said].start-got[p.Heard].start))
		}
		d.compareStretch(want, got, differ)
		differ = differ[:0]
	}
	return d
}

// compareStretch classifies words in a row that differ.
func (d *Difference) compareStretch(want, got []timedWord, stretch []Pair) {
	var here, there []timedWord // undisturbed and disturbed
	for _, p := range stretch {
		if p.Said >= 0 {
			here = append(here, want[p.Said])
		}
		if p.Heard >= 0 {
			there = append(there, got[p.Heard])
		}
	}
	for _, p := range stretch {
		switch {
		case p.Said >= 0 && p.Heard >= 0:
			d.Changed++
			d.note("instead of "+strconv.Quote(want[p.Said].text)+" heard", got[p.Heard])
		case p.Said >= 0 && covered(want[p.Said], there):
			d.Changed++
			d.note("heard together", want[p.Said])
		case p.Said >= 0 && want[p.Said].in(d.same):
			d.Changed++
			d.note("not heard in the same audio", want[p.Said])
		case p.Said >= 0 && want[p.Said].in(d.silent):
			d.Unclear++
			d.note("not understood", want[p.Said])
		case p.Said >= 0:
			d.Lost++
			d.note("lost", want[p.Said])
		case repeats(got, p.Heard) && !explained(here, there, got[p.Heard]):
			d.Doubled++
			d.note("doubled", got[p.Heard])
		case covered(got[p.Heard], here):
			d.Changed++
			d.note("heard apart", got[p.Heard])
		default:
			d.Added++
			d.note("added", got[p.Heard])
		}
	}
}

// covered reports whether the other transcription has something else where a
// word is, such as "its" for "this is". Engines place words roughly.
func covered(w timedWord, others []timedWord) bool {
	if len(others) == 0 {
		return false
	}
	const slack = 0.5
	middle := (w.start + w.end) / 2
	return others[0].start-slack <= middle && middle <= others[len(others)-1].end+slack
}

// explained reports whether an added word is a part of what another was heard
// as: the letters of "faint in" are closer to "fainting" with "in" than without
// it.
func explained(here, there []timedWord, added timedWord) bool {
	letters := func(words []timedWord, without timedWord) (all []rune) {
		for _, w := range words {
			if w != without {
				all = append(all, []rune(w.text)...)
			}
		}
		return all
	}
	want := letters(here, timedWord{})
	return editdistance.Levenshtein(want, letters(there, timedWord{})) < editdistance.Levenshtein(want, letters(there, added))
}

// repeats reports whether a word occurs again close by.
func repeats(words []timedWord, j int) bool {
	const near = 8
	for k := max(0, j-near); k < min(len(words), j+near+1); k++ {
		if k != j && words[k].text == words[j].text && math.Abs(words[k].start-words[j].start) <= maxApart {
			return true
		}
	}
	return false
}

// alignTimed finds the alignment with the fewest changes, and of those the one
// with the least difference in time.
func alignTimed(want, got []timedWord) []Pair {
	const single, change, never = 6000, 10000, math.MaxInt / 2
	return Align(len(want), len(got), single, func(i, j int) int {
		a, b := want[i], got[j]
		apart := math.Abs(a.start - b.start)
		switch {
		case apart > maxApart:
			return never
		case a.text != b.text:
			return change + int(1000*apart)
		}
		return int(1000 * apart)
	})
}
