// Package wer compares transcripts: the word error rate against a reference,
// and whether a disturbed transcription lost or doubled words.
package wer

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hearken-dev/hearken/editdistance"
)

// A Score is the word errors of one recording.
type Score struct{ Errors, Words int }

// ScoreOf compares a text with its reference.
func ScoreOf(reference, text string) Score {
	said := Words(reference)
	return Score{editdistance.Levenshtein(said, Words(text)), len(said)}
}

// Percent is the word error rate of many recordings together.
func Percent(scores []Score) float64 {
	var sum Score
	for _, s := range scores {
		sum.Errors += s.Errors
		sum.Words += s.Words
	}
	return 100 * float64(sum.Errors) / float64(max(sum.Words, 1))
}

// Check fails the test if more than a fifth of the words are wrong. It compares
// words as they are written, without their punctuation.
func Check(t testing.TB, reference, text string) {
	t.Helper()
	want, got := written(reference), written(text)
	if wrong := float64(editdistance.Levenshtein(want, got)) / float64(len(want)); wrong > 0.2 {
		t.Errorf("%.0f %% of the words are wrong:\n%s\nwant\n%s", 100*wrong, text, reference)
	}
}

func written(s string) []string {
	s = strings.ReplaceAll(strings.ToLower(s), "'", "")
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// A Pair is two words that stand for each other, by their index. One of them is
// negative if a word has no counterpart.
type Pair struct{ Said, Heard int }

// Align finds the cheapest alignment of n words with m words. Change is what it
// costs to replace one by another, 0 if they are the same; single is the cost
// of a word without a counterpart.
func Align(n, m, single int, change func(i, j int) int) []Pair {
	cost := make([][]int, n+1)
	for i := range cost {
		cost[i] = make([]int, m+1)
		for j := range cost[i] {
			switch {
			case i == 0:
				cost[i][j] = single * j
			case j == 0:
				cost[i][j] = single * i
			default:
				cost[i][j] = min(cost[i-1][j]+single, cost[i][j-1]+single, cost[i-1][j-1]+change(i-1, j-1))
			}
		}
	}
	var pairs []Pair
	for i, j := n, m; i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && cost[i][j] == cost[i-1][j-1]+change(i-1, j-1):
			i, j = i-1, j-1
			pairs = append(pairs, Pair{i, j})
		case i > 0 && cost[i][j] == cost[i-1][j]+single:
			i--
			pairs = append(pairs, Pair{i, -1})
		default:
			j--
			pairs = append(pairs, Pair{-1, j})
		}
	}
	slices.Reverse(pairs)
	return pairs
}
