package wer

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// entries makes an entry of each word.
func entries(words []timedWord) (list []hearken.Segment) {
	for _, w := range words {
		s := hearken.Segment{Origin: hearken.Microphone, Status: hearken.Confirmed, Text: w.text, StartTime: w.start, EndTime: w.end}
		if w.text == "" {
			s.Status = hearken.NoSpeech
		}
		s.Words = []hearken.Word{{Word: w.text, StartTime: w.start, EndTime: w.end}}
		list = append(list, s)
	}
	return list
}

// said places words half a second apart.
func said(text string) (words []timedWord) {
	for i, w := range strings.Fields(text) {
		words = append(words, timedWord{w, float64(i) / 2, float64(i)/2 + 0.4})
	}
	return words
}

func TestCompare(t *testing.T) {
	const text = "we said that this is how every one of them went there in the end"
	words := said(text)
	heard := func(change func([]timedWord) []timedWord) []timedWord { return change(slices.Clone(words)) }
	for name, tt := range map[string]struct {
		got                                    []timedWord
		lost, doubled, added, changed, unclear int
	}{
		"Same": {got: words},
		"Lost": {lost: 1, got: heard(func(w []timedWord) []timedWord { return slices.Delete(w, 2, 3) })},
		"Many": {lost: 5, got: heard(func(w []timedWord) []timedWord { return slices.Delete(w, 4, 9) })},
		"Doubled": {doubled: 2, got: heard(func(w []timedWord) []timedWord {
			return slices.Insert(w, 6, timedWord{"is", 2.4, 2.6}, timedWord{"how", 2.6, 2.9})
		})},
		"Added": {added: 1, got: heard(func(w []timedWord) []timedWord {
			return slices.Insert(w, 6, timedWord{"mumble", 2.9, 3})
		})},
		"Misheard": {changed: 1, got: heard(func(w []timedWord) []timedWord {
			w[3].text = "thus"
			return w
		})},
		"Together": {changed: 2, got: heard(func(w []timedWord) []timedWord {
			w[6] = timedWord{"everyone", 3, 3.9}
			return slices.Delete(w, 7, 8)
		})},
		"Apart": {changed: 2, got: heard(func(w []timedWord) []timedWord {
			w[3].text = "th"
			return slices.Insert(w, 4, timedWord{"is", 1.7, 1.9})
		})},
		"DoubledBesideChange": {changed: 1, doubled: 1, got: heard(func(w []timedWord) []timedWord {
			w[4].text = "was"
			return slices.Insert(w, 4, timedWord{"this", 1.8, 1.95})
		})},
		"Unclear": {unclear: 3, got: heard(func(w []timedWord) []timedWord {
			return slices.Replace(w, 2, 5, timedWord{"", 1, 2.4})
		})},
		"Late": {lost: 1, added: 1, got: heard(func(w []timedWord) []timedWord {
			w[14].start += 1.1
			w[14].end += 1.1
			return w
		})},
	} {
		t.Run(name, func(t *testing.T) {
			v := Compare(entries(words), entries(tt.got))
			got := [...]int{v.Lost, v.Doubled, v.Added, v.Changed, v.Unclear}
			if want := [...]int{tt.lost, tt.doubled, tt.added, tt.changed, tt.unclear}; got != want {
				t.Errorf("lost, doubled, added, changed, unclear: %v, want %v: %v", got, want, v.Notes)
			}
		})
	}
}

// A word that the engine leaves out of audio that it had in one piece was not
// lost on the way; one where the audio was cut in two was.
func TestCompare_SameAudio(t *testing.T) {
	words := said("well the best on it is this")
	entry := func(words []timedWord, from, to float64) hearken.Segment {
		s := hearken.Segment{Origin: hearken.Microphone, Status: hearken.Confirmed, Text: "words", StartTime: from, EndTime: to}
		for _, w := range words {
			s.Words = append(s.Words, hearken.Word{Word: w.text, StartTime: w.start, EndTime: w.end})
		}
		return s
	}
	whole := []hearken.Segment{entry(words, 0, 3.4)}
	if v := Compare(whole, []hearken.Segment{entry(words[1:], 0.005, 3.405)}); v.Lost != 0 || v.Changed != 1 {
		t.Errorf("%d lost, %d changed: %v", v.Lost, v.Changed, v.Notes)
	}
	if v := Compare(whole, []hearken.Segment{entry(words[:3], 0, 1.6), entry(words[4:], 1.7, 3.4)}); v.Lost != 1 {
		t.Errorf("%d lost: %v", v.Lost, v.Notes)
	}
}
