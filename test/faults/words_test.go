package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/deepgramtest"
)

// checkWords compares a transcript with its script: no word lost, none doubled,
// none misheard, all in order and within 100 ms of their position.
func checkWords(t *testing.T, script []deepgramtest.Word, got []hearken.Word) {
	t.Helper()
	counts := map[string]int{}
	index := map[string]int{}
	for i, w := range script {
		index[w.Text] = i
	}
	var lost, doubled, misheard, misplaced []string
	last := -1
	for _, w := range got {
		text := strings.ToLower(w.Word)
		i, known := index[text]
		if !known {
			misheard = append(misheard, fmt.Sprintf("%s at %.2f", w.Word, w.StartTime))
			continue
		}
		if counts[text]++; counts[text] > 1 {
			doubled = append(doubled, fmt.Sprintf("%s at %.2f", text, w.StartTime))
			continue
		}
		const most = 0.1
		from, to := float64(script[i].From)/hearken.SampleRate, float64(script[i].To)/hearken.SampleRate
		if i < last || w.StartTime < from-most || w.StartTime > from+most || w.EndTime < to-most || w.EndTime > to+most {
			misplaced = append(misplaced, fmt.Sprintf("%s from %.2f to %.2f instead of %.2f to %.2f", text, w.StartTime, w.EndTime, from, to))
		}
		last = i
	}
	for _, w := range script {
		if counts[w.Text] == 0 {
			lost = append(lost, fmt.Sprintf("%s at %.2f", w.Text, float64(w.From)/hearken.SampleRate))
		}
	}
	for what, words := range map[string][]string{"lost": lost, "doubled": doubled, "misheard": misheard, "out of place": misplaced} {
		if len(words) > 0 {
			t.Errorf("%d of %d words %s: %s", len(words), len(script), what, strings.Join(words[:min(len(words), 12)], ", "))
		}
	}
}

// checkWords notices what is wrong.
func TestCheckWords(t *testing.T) {
	script, _ := deepgramtest.Script(1, 20)
	said := func() (got []hearken.Word) {
		for _, w := range script {
			got = append(got, hearken.Word{Word: w.Text, StartTime: float64(w.From) / hearken.SampleRate, EndTime: float64(w.To) / hearken.SampleRate})
		}
		return got
	}
	if len(script) < 20 {
		t.Fatalf("a script of %d words", len(script))
	}
	checkWords(t, script, said())
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
		if checkWords(&probe, script, change(said())); !probe.Failed() {
			t.Errorf("%s is not seen", name)
		}
	}
}
