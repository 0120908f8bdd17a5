// Package editdistance counts how many changes turn one sequence into another:
// letters of a name, words of a transcript.
package editdistance

// Levenshtein is the least number of elements to insert, delete or replace.
func Levenshtein[T comparable](a, b []T) int { return distance(a, b, false, len(a)+len(b)) }

// Within reports whether the [Levenshtein] distance is at most limit. It stops
// early if it is not.
func Within[T comparable](a, b []T, limit int) bool { return distance(a, b, false, limit) <= limit }

// Damerau also counts two swapped neighbours as one change. It stops early and
// returns limit+1 if the distance is above limit.
func Damerau[T comparable](a, b []T, limit int) int { return distance(a, b, true, limit) }

func distance[T comparable](a, b []T, swaps bool, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	// Three rows of the table; only swaps need the one before the last.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range a {
		row[0] = i + 1
		least := row[0]
		for j, y := range b {
			change := 1
			if x == y {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if swaps && i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
