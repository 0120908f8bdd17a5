package main

import (
	"maps"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

// A saidWord is one of a tape, with the moment at which its last sound was
// spoken.
type saidWord struct {
	word    string // as words are compared
	at      time.Duration
	seen    time.Duration // when a row first held it; 0 if none did
	settled time.Duration // when a confirmed row did
	heard   bool          // and that one as it was said
}

// saidWords are the words of segments in the order in which they were said.
// A word that is compared as several counts as several.
func saidWords(segments []hearken.Segment) []saidWord {
	var all []saidWord
	for i := range segments {
		for _, w := range segments[i].Words {
			for _, n := range normal(w.Word) {
				all = append(all, saidWord{word: n, at: time.Duration(w.EndTime * float64(time.Second))})
			}
		}
	}
	return all
}

// A tailRow is a row of pscribe_tail.
type tailRow struct{ source, status, text string }

// tailRows reads an answer of pscribe_tail, and where to go on.
func tailRows(answer []byte) (rows []tailRow, next int, err error) {
	o, err := toontest.Decode(answer)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range o {
		switch v := f.Value.(type) {
		case toon.Table:
			column := func(row []any, name string) string {
				text, _ := row[slices.Index(v.Columns, name)].(string)
				return text
			}
			for _, row := range v.Rows {
				rows = append(rows, tailRow{column(row, "source"), column(row, "status"), column(row, "text")})
			}
		case float64:
			if f.Key == "next_since_line" {
				next = int(v)
			}
		}
	}
	return rows, next, nil
}

const (
	// reach is how long before a row the words in it may have been spoken.
	reach = 20 * time.Second
	// blur is how much earlier a word may have been over than was estimated.
	blur = 400 * time.Millisecond
)

// see marks the words that a row holds and no row held before. A row can hold
// only what was spoken before it came.
func see(spoken []saidWord, row tailRow, now time.Duration) {
	from := slices.IndexFunc(spoken, func(w saidWord) bool { return w.at > now-reach })
	if from < 0 {
		return
	}
	to := from
	for to < len(spoken) && spoken[to].at <= now+blur {
		to++
	}
	said, heard := make([]string, to-from), normal(row.text)
	for i := range said {
		said[i] = spoken[from+i].word
	}
	for i, j := range common(said, heard) {
		w := &spoken[from+i]
		if w.seen == 0 {
			w.seen = now
		}
		if w.settled == 0 && row.status == string(hearken.Confirmed) {
			w.settled, w.heard = now, said[i] == heard[j]
		}
	}
}

// common are the places of the words that a row shares with what was said, and
// of those between them that it heard otherwise, each with its place in the
// row, when that is laid where it fits best: what was said before and after
// costs nothing, and of places that fit as well the last one counts.
func common(said, heard []string) map[int]int {
	d := make([][]int, len(said)+1)
	end := 0
	for i := range d {
		d[i] = make([]int, len(heard)+1)
		for j := 1; j <= len(heard); j++ {
			d[i][j] = d[i][j-1] + 1
			if i > 0 {
				d[i][j] = min(d[i][j], d[i-1][j]+1, d[i-1][j-1]+differ(said[i-1], heard[j-1]))
			}
		}
		if d[i][len(heard)] <= d[end][len(heard)] {
			end = i
		}
	}
	places := map[int]int{}
	first := end
	for i, j := end, len(heard); i > 0 && j > 0; {
		switch {
		case d[i][j] == d[i-1][j-1]+differ(said[i-1], heard[j-1]):
			i, j = i-1, j-1
			if alike := said[i] == heard[j]; alike || len(places) > 0 {
				if places[i] = j; alike {
					first = i
				}
			}
		case d[i][j] == d[i-1][j]+1:
			i--
		default:
			j--
		}
	}
	maps.DeleteFunc(places, func(i, _ int) bool { return i < first })
	return places
}

// seenAfter are how long after they were spoken words were seen. What was
// misheard in the end says nothing about time.
func seenAfter(spoken []saidWord) (times sample) {
	for _, w := range spoken {
		if w.heard {
			times = append(times, w.seen-w.at)
		}
	}
	return times
}

// settledAfter are how long after each end of speech the last words before it
// were confirmed.
func settledAfter(spoken []saidWord, ends []time.Duration) (times sample) {
	for _, end := range ends {
		var last time.Duration
		for _, w := range spoken {
			if w.at > end-3*time.Second && w.at <= end+blur {
				last = max(last, w.settled)
			}
		}
		if last > 0 {
			times = append(times, last-end)
		}
	}
	return times
}
