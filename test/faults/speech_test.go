package faults_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// A spoken is a word of a script with its place in the sound, in samples.
type spoken struct {
	text     string
	from, to int64
}

// firstWord is the value of the samples of a script's first word; the second
// word's are one more. So what is heard depends on the sound alone: whoever
// loses a part of it, or sends it twice, is heard to do so.
const firstWord = 300

// speech makes a script of so many seconds, in which no word comes twice, and
// its sound: phrases of a few words or of many, words without a gap between
// them, pauses short and long.
func speech(seed uint64, seconds int) (script []spoken, pcm []int16) {
	r := rand.New(rand.NewPCG(seed, 1))
	between := func(from, to float64) int64 { return int64((from + r.Float64()*(to-from)) * hearken.SampleRate) }
	pcm = make([]int16, seconds*hearken.SampleRate)
	at := between(0.2, 1)
	for {
		words := 2 + r.IntN(10)
		if r.IntN(6) == 0 {
			words = 30 + r.IntN(20) // in one breath
		}
		for range words {
			end := at + between(0.15, 0.45)
			if end+hearken.SampleRate > int64(len(pcm)) {
				return script, pcm
			}
			value := int16(firstWord + len(script))
			for i := at; i < end; i++ {
				pcm[i] = value
			}
			script = append(script, spoken{fmt.Sprintf("w%d", len(script)), at, end})
			if at = end; r.IntN(3) > 0 {
				at += between(0.02, 0.12)
			}
		}
		at += between(0.35, 2.5)
		if r.IntN(8) == 0 {
			at += between(3, 8)
		}
	}
}

// judge holds what was heard against what was said: no word lost, none
// doubled, none misheard, all in order and in their place.
func judge(t *testing.T, script []spoken, heard []hearken.Word) {
	t.Helper()
	times := map[string]int{}
	place := map[string]int{}
	for i, w := range script {
		place[w.text] = i
	}
	var lost, doubled, misheard, displaced []string
	last := -1
	for _, w := range heard {
		text := strings.ToLower(w.Word)
		i, known := place[text]
		if !known {
			misheard = append(misheard, fmt.Sprintf("%s at %.2f", w.Word, w.StartTime))
			continue
		}
		if times[text]++; times[text] > 1 {
			doubled = append(doubled, fmt.Sprintf("%s at %.2f", text, w.StartTime))
			continue
		}
		const most = 0.1
		from, to := float64(script[i].from)/hearken.SampleRate, float64(script[i].to)/hearken.SampleRate
		if i < last || w.StartTime < from-most || w.StartTime > from+most || w.EndTime < to-most || w.EndTime > to+most {
			displaced = append(displaced, fmt.Sprintf("%s from %.2f to %.2f instead of %.2f to %.2f", text, w.StartTime, w.EndTime, from, to))
		}
		last = i
	}
	for _, w := range script {
		if times[w.text] == 0 {
			lost = append(lost, fmt.Sprintf("%s at %.2f", w.text, float64(w.from)/hearken.SampleRate))
		}
	}
	for what, words := range map[string][]string{"lost": lost, "doubled": doubled, "misheard": misheard, "out of place": displaced} {
		if len(words) > 0 {
			t.Errorf("%d of %d words %s: %s", len(words), len(script), what, strings.Join(words[:min(len(words), 12)], ", "))
		}
	}
}

// The judge sees what is wrong.
func TestJudge(t *testing.T) {
	script, _ := speech(1, 20)
	said := func() (heard []hearken.Word) {
		for _, w := range script {
			heard = append(heard, hearken.Word{Word: w.text, StartTime: float64(w.from) / hearken.SampleRate, EndTime: float64(w.to) / hearken.SampleRate})
		}
		return heard
	}
	if len(script) < 20 {
		t.Fatalf("a script of %d words", len(script))
	}
	judge(t, script, said())
	for name, change := range map[string]func([]hearken.Word) []hearken.Word{
		"Lost":     func(w []hearken.Word) []hearken.Word { return slices.Delete(w, 5, 6) },
		"Doubled":  func(w []hearken.Word) []hearken.Word { return slices.Insert(w, 6, w[5]) },
		"Misheard": func(w []hearken.Word) []hearken.Word { return slices.Insert(w, 6, hearken.Word{Word: "mumble"}) },
		"Swapped": func(w []hearken.Word) []hearken.Word {
			w[5], w[6] = w[6], w[5]
			return w
		},
		"Late": func(w []hearken.Word) []hearken.Word {
			w[5].StartTime += 0.11
			return w
		},
	} {
		var probe testing.T
		if judge(&probe, script, change(said())); !probe.Failed() {
			t.Errorf("%s is not seen", name)
		}
	}
}
