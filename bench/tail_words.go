package main

import (
	"maps"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/wer"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

// A spokenWord is a word of a tape and when pscribe_tail showed it.
type spokenWord struct {
	word       string        // as words are compared
	at         time.Duration // when it was over
	shown      time.Duration // when a row first had it; 0 if none did
	confirmed  time.Duration // when a confirmed row had it
	understood bool          // whether that row had it as it was said
}

// spokenWords are the words of segments in the order of speech. A word that is
// compared as several counts as several.
func spokenWords(segments []hearken.Segment) []spokenWord {
	var all []spokenWord
	for i := range segments {
		for _, w := range segments[i].Words {
			for _, n := range wer.Words(w.Word) {
				all = append(all, spokenWord{word: n, at: time.Duration(w.EndTime * float64(time.Second))})
			}
		}
	}
	return all
}

// A tailRow is a row of pscribe_tail.
type tailRow struct{ source, status, text string }

// tailRows reads the answer of pscribe_tail, and the line to continue with.
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
	// maxAge is how long before a row its words may have been spoken.
	maxAge = 20 * time.Second
	// inexact is how much earlier a word may have been over than estimated.
	inexact = 400 * time.Millisecond
)

// noteRow notes the words that a row has and no row had before. A row can only
// have what was spoken before.
func noteRow(spoken []spokenWord, row tailRow, now time.Duration) {
	from := slices.IndexFunc(spoken, func(w spokenWord) bool { return w.at > now-maxAge })
	if from < 0 {
		return
	}
	to := from
	for to < len(spoken) && spoken[to].at <= now+inexact {
		to++
	}
	said, heard := make([]string, to-from), wer.Words(row.text)
	for i := range said {
		said[i] = spoken[from+i].word
	}
	for i, j := range matchWords(said, heard) {
		w := &spoken[from+i]
		if w.shown == 0 {
			w.shown = now
		}
		if w.confirmed == 0 && row.status == string(hearken.Confirmed) {
			w.confirmed, w.understood = now, said[i] == heard[j]
		}
	}
}

// matchWords aligns a row with what was said, wherever it fits best: what was
// said before and after costs nothing, and of positions that fit equally well
// the last one counts. It returns the words that the row has, and those between
// them that it has otherwise, each with its index in the row.
func matchWords(said, heard []string) map[int]int {
	differ := func(i, j int) int {
		if said[i] == heard[j] {
			return 0
		}
		return 1
	}
	d := make([][]int, len(said)+1)
	end := 0
	for i := range d {
		d[i] = make([]int, len(heard)+1)
		for j := 1; j <= len(heard); j++ {
			d[i][j] = d[i][j-1] + 1
			if i > 0 {
				d[i][j] = min(d[i][j], d[i-1][j]+1, d[i-1][j-1]+differ(i-1, j-1))
			}
		}
		if d[i][len(heard)] <= d[end][len(heard)] {
			end = i
		}
	}
	matches := map[int]int{}
	first := end
	for i, j := end, len(heard); i > 0 && j > 0; {
		switch {
		case d[i][j] == d[i-1][j-1]+differ(i-1, j-1):
			i, j = i-1, j-1
			if alike := said[i] == heard[j]; alike || len(matches) > 0 {
				if matches[i] = j; alike {
					first = i
				}
			}
		case d[i][j] == d[i-1][j]+1:
			i--
		default:
			j--
		}
	}
	maps.DeleteFunc(matches, func(i, _ int) bool { return i < first })
	return matches
}

// shownDelays are how long after they were spoken words were shown. A word that
// was misheard in the end says nothing about time.
func shownDelays(spoken []spokenWord) (times durations) {
	for _, w := range spoken {
		if w.understood {
			times = append(times, w.shown-w.at)
		}
	}
	return times
}

// confirmedDelays are how long after each end of speech the last words before
// it were confirmed.
func confirmedDelays(spoken []spokenWord, ends []time.Duration) (times durations) {
	for _, end := range ends {
		var last time.Duration
		for _, w := range spoken {
			if w.at > end-3*time.Second && w.at <= end+inexact {
				last = max(last, w.confirmed)
			}
		}
		if last > 0 {
			times = append(times, last-end)
		}
	}
	return times
}
