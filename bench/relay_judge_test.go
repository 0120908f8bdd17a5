package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// entries make an entry of each word.
func entries(words []placed) (list []hearken.Segment) {
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
func said(text string) (words []placed) {
	for i, w := range strings.Fields(text) {
		words = append(words, placed{w, float64(i) / 2, float64(i)/2 + 0.4})
	}
	return words
}

func TestJudgeWords(t *testing.T) {
	const text = "we said that this is how every one of them went there in the end"
	words := said(text)
	heard := func(change func([]placed) []placed) []placed { return change(slices.Clone(words)) }
	for name, tt := range map[string]struct {
		got                                      []placed
		lost, doubled, added, otherwise, unclear int
	}{
		"Same": {got: words},
		"Lost": {lost: 1, got: heard(func(w []placed) []placed { return slices.Delete(w, 2, 3) })},
		"Many": {lost: 5, got: heard(func(w []placed) []placed { return slices.Delete(w, 4, 9) })},
		"Doubled": {doubled: 2, got: heard(func(w []placed) []placed {
			return slices.Insert(w, 6, placed{"is", 2.4, 2.6}, placed{"how", 2.6, 2.9})
		})},
		"Added": {added: 1, got: heard(func(w []placed) []placed {
			return slices.Insert(w, 6, placed{"mumble", 2.9, 3})
		})},
		"Misheard": {otherwise: 1, got: heard(func(w []placed) []placed {
			w[3].text = "thus"
			return w
		})},
		"Together": {otherwise: 2, got: heard(func(w []placed) []placed {
			w[6] = placed{"everyone", 3, 3.9}
			return slices.Delete(w, 7, 8)
		})},
		"Unclear": {unclear: 3, got: heard(func(w []placed) []placed {
			return slices.Replace(w, 2, 5, placed{"", 1, 2.4})
		})},
		"Late": {lost: 1, added: 1, got: heard(func(w []placed) []placed {
			w[14].start += 1.1
			w[14].end += 1.1
			return w
		})},
	} {
		t.Run(name, func(t *testing.T) {
			v := judgeWords(entries(words), entries(tt.got))
			got := [...]int{v.lost, v.doubled, v.added, v.otherwise, v.unclear}
			if want := [...]int{tt.lost, tt.doubled, tt.added, tt.otherwise, tt.unclear}; got != want {
				t.Errorf("lost, doubled, added, otherwise, unclear: %v, want %v: %v", got, want, v.notes)
			}
		})
	}
}

// A word that the engine leaves out of sound that it had in one piece is not
// lost on the way; one at a place where the sound was cut in two is.
func TestJudgeWords_SameSound(t *testing.T) {
	words := said("well the best on it is this")
	entry := func(words []placed, from, to float64) hearken.Segment {
		s := hearken.Segment{Origin: hearken.Microphone, Status: hearken.Confirmed, Text: "words", StartTime: from, EndTime: to}
		for _, w := range words {
			s.Words = append(s.Words, hearken.Word{Word: w.text, StartTime: w.start, EndTime: w.end})
		}
		return s
	}
	whole := []hearken.Segment{entry(words, 0, 3.4)}
	if v := judgeWords(whole, []hearken.Segment{entry(words[1:], 0.005, 3.405)}); v.lost != 0 || v.otherwise != 1 {
		t.Errorf("%d lost, %d otherwise: %v", v.lost, v.otherwise, v.notes)
	}
	if v := judgeWords(whole, []hearken.Segment{entry(words[:3], 0, 1.6), entry(words[4:], 1.7, 3.4)}); v.lost != 1 {
		t.Errorf("%d lost: %v", v.lost, v.notes)
	}
}

func TestJudgeScript(t *testing.T) {
	script, pcm := newScript(1, 20)
	if len(script) < 20 || pcm[script[5].from] != firstWord+5 {
		t.Fatalf("a script of %d words", len(script))
	}
	heard := func() hearken.Segment {
		s := hearken.Segment{Status: hearken.Confirmed, Origin: hearken.Microphone, Text: "words"}
		for i, w := range script {
			from, to := float64(w.from)/hearken.SampleRate, float64(w.to)/hearken.SampleRate
			s.Words = append(s.Words, hearken.Word{Word: fmt.Sprintf("w%d:%.0f", i, 1000*(to-from)), StartTime: from, EndTime: to})
		}
		return s
	}
	for name, tt := range map[string]struct {
		change                   func(s *hearken.Segment)
		lost, doubled, otherwise int
		late                     bool
	}{
		"Same":    {change: func(*hearken.Segment) {}},
		"Lost":    {lost: 1, change: func(s *hearken.Segment) { s.Words = slices.Delete(s.Words, 5, 6) }},
		"Doubled": {doubled: 1, change: func(s *hearken.Segment) { s.Words = slices.Insert(s.Words, 6, s.Words[5]) }},
		"Half":    {lost: 1, otherwise: 1, change: func(s *hearken.Segment) { s.Words[5].Word = "w5:60" }},
		"Late":    {late: true, change: func(s *hearken.Segment) { s.Words[5].StartTime += 0.15 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := heard()
			tt.change(&s)
			v := judgeScript(script, []hearken.Segment{s})
			if v.lost != tt.lost || v.doubled != tt.doubled || v.otherwise != tt.otherwise || (v.worst() > 100) != tt.late {
				t.Errorf("%d lost, %d doubled, %d otherwise, %.0f ms off: %v", v.lost, v.doubled, v.otherwise, v.worst(), v.notes)
			}
		})
	}
}
