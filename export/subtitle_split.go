package export

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// A piece is a part of a text that stays on one line, with its time.
type piece struct {
	text       string
	width      int // columns
	start, end float64
	noSpace    bool // before it: a script without spaces, or a word too long for a line
}

// splitCues makes cues of a segment: as few as fit, of about the same length,
// ending at pauses and sentences if possible.
func splitCues(s *hearken.Segment, label string) []cue {
	pieces := piecesOf(s)
	var cues []cue
	for len(pieces) > 0 {
		// Each cue has the label: the other side's may come in between.
		pieces[0].text = label + pieces[0].text
		pieces[0].width += len(label)
		n := cueSize(pieces)
		c := cue{start: milliseconds(pieces[0].start), lines: breakLines(pieces[:n])}
		if len(cues) > 0 {
			c.start = max(c.start, cues[len(cues)-1].end) // one voice, one after the other
		}
		c.end = max(milliseconds(pieces[n-1].end), c.start+shortest)
		cues = append(cues, c)
		pieces = pieces[n:]
	}
	return cues
}

func milliseconds(seconds float64) int64 {
	if !(seconds > 0) {
		return 0
	}
	return int64(math.Round(min(seconds, 1e9) * 1000))
}

// cueSize is how many pieces go into the next cue.
func cueSize(pieces []piece) int {
	total := widthOf(pieces)
	cues := (total + lineWidth*cueLines - 5) / (lineWidth*cueLines - 4) // lines are rarely full
	target := total / max(1, cues)
	for n := 1; n < len(pieces); n++ {
		last, next := pieces[n-1], pieces[n]
		switch {
		case !fitInCue(pieces[:n+1]),
			next.end-pieces[0].start > maxSeconds,
			next.start-last.end >= pause,
			widthOf(pieces[:n]) >= target:
			return n
		case widthOf(pieces[:n]) >= target/2 && endsSentence(last.text) && fitInCue(pieces[n:]):
			return n
		}
	}
	return len(pieces)
}

func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".?!。？", last)
}

// fitInCue reports whether pieces fit into one cue.
func fitInCue(pieces []piece) bool {
	for range cueLines {
		n := lineSize(pieces)
		if n == len(pieces) {
			return true
		}
		pieces = pieces[n:]
	}
	return false
}

// lineSize is how many pieces go into one line, at least one.
func lineSize(pieces []piece) int {
	for n := 2; n <= len(pieces); n++ {
		if widthOf(pieces[:n]) > lineWidth {
			return n - 1
		}
	}
	return len(pieces)
}

// breakLines makes one line of pieces, or two of about the same width if one is
// not enough.
func breakLines(pieces []piece) []string {
	if widthOf(pieces) <= lineWidth || len(pieces) == 1 {
		return []string{joinPieces(pieces)}
	}
	best, narrowest := 0, math.MaxInt
	for n := 1; n < len(pieces); n++ {
		a, b := widthOf(pieces[:n]), widthOf(pieces[n:])
		if wider := max(a, b); wider < narrowest {
			best, narrowest = n, wider
		}
	}
	return []string{joinPieces(pieces[:best]), joinPieces(pieces[best:])}
}

func widthOf(pieces []piece) int {
	width := 0
	for i, p := range pieces {
		if i > 0 && !p.noSpace {
			width++
		}
		width += p.width
	}
	return width
}

func joinPieces(pieces []piece) string {
	var b strings.Builder
	for i, p := range pieces {
		if i > 0 && !p.noSpace {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// piecesOf splits a text at its spaces, and elsewhere where it must. A piece has
// its word's time if the segment's words match the text. Otherwise the pieces
// share the segment's time by their width.
func piecesOf(s *hearken.Segment) []piece {
	words := strings.Fields(oneLine(s.Text))
	start, end := s.StartTime, max(s.EndTime, s.StartTime)
	timed := len(words) == len(s.Words) && hasValidTimes(s.Words)
	total, at := 0, 0
	for _, w := range words {
		total += textWidth(w)
	}
	var pieces []piece
	for i, w := range words {
		width := textWidth(w)
		from := start + (end-start)*float64(at)/float64(max(1, total))
		to := start + (end-start)*float64(at+width)/float64(max(1, total))
		if timed {
			from, to = s.Words[i].StartTime, s.Words[i].EndTime
		}
		at += width
		pieces = appendWord(pieces, w, width, from, to)
	}
	return pieces
}

func hasValidTimes(words []hearken.Word) bool {
	last := 0.0
	for _, w := range words {
		if !(w.StartTime >= last) || !(w.EndTime >= w.StartTime) {
			return false
		}
		last = w.StartTime
	}
	return true
}

// maxPiece leaves space for a label in the line.
const maxPiece = lineWidth - 14

// appendWord appends a word, in several pieces if it is too long for a line or in
// a script without spaces.
func appendWord(pieces []piece, w string, width int, from, to float64) []piece {
	if width <= maxPiece && !strings.ContainsFunc(w, isWide) {
		return append(pieces, piece{text: w, width: width, start: from, end: to})
	}
	var b strings.Builder
	before, size, first := 0, 0, true
	cut := func() {
		if size == 0 {
			return
		}
		share := (to - from) / float64(width)
		pieces = append(pieces, piece{
			text: b.String(), width: size, noSpace: !first,
			start: from + share*float64(before), end: from + share*float64(before+size),
		})
		before, size, first = before+size, 0, false
		b.Reset()
	}
	for _, r := range w {
		n := runeWidth(r)
		if size+n > maxPiece || isWide(r) && !isClosing(r) {
			cut()
		}
		b.WriteRune(r)
		size += n
	}
	cut()
	return pieces
}

// isWide reports whether a character takes two columns. Lines of such scripts may
// break anywhere.
func isWide(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x30ff || r >= 0xff00 && r <= 0xff60)
}

// isClosing reports whether a line may not begin with r.
func isClosing(r rune) bool {
	return strings.ContainsRune("、。，．？！）」』】・ー：；", r)
}

func runeWidth(r rune) int {
	switch {
	case isWide(r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	return 1
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}
