package export

import (
	"math"
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// A piece is a part of a text that stays together, with its time.
type piece struct {
	text       string
	width      int
	start, end float64
	glued      bool // no space before it: a script without spaces, or a word too long for a line
}

// split makes cues of a segment: as few as fit, of about the same length,
// ending at pauses and sentences where there are any.
func split(s *hearken.Segment, label string) []cue {
	pieces := piecesOf(s)
	var cues []cue
	for len(pieces) > 0 {
		// Each cue says whose words it holds: another's may come in between.
		pieces[0].text = label + pieces[0].text
		pieces[0].width += len(label)
		n := fill(pieces)
		cues = append(cues, cue{
			start: milliseconds(pieces[0].start),
			end:   milliseconds(pieces[n-1].end),
			lines: layout(pieces[:n]),
		})
		pieces = pieces[n:]
	}
	return cues
}

// milliseconds is a time as it is written.
func milliseconds(seconds float64) int64 {
	if !(seconds > 0) {
		return 0
	}
	return int64(math.Round(min(seconds, 1e9) * 1000))
}

// fill is how many pieces go into the next cue.
func fill(pieces []piece) int {
	total := lengthOf(pieces)
	cues := (total + lineWidth*cueLines - 5) / (lineWidth*cueLines - 4) // lines are rarely full
	target := total / max(1, cues)
	for n := 1; n < len(pieces); n++ {
		last, next := pieces[n-1], pieces[n]
		switch {
		case !fits(pieces[:n+1]),
			next.end-pieces[0].start > maxSeconds,
			next.start-last.end >= pause,
			lengthOf(pieces[:n]) >= target:
			return n
		case lengthOf(pieces[:n]) >= target/2 && endsSentence(last.text) && fits(pieces[n:]):
			return n
		}
	}
	return len(pieces)
}

func endsSentence(s string) bool {
	return strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "。") || strings.HasSuffix(s, "？")
}

// fits reports whether pieces go into the lines of one cue.
func fits(pieces []piece) bool {
	for range cueLines {
		n := lineOf(pieces)
		if n == len(pieces) {
			return true
		}
		pieces = pieces[n:]
	}
	return false
}

// lineOf is how many pieces go into one line, one at least.
func lineOf(pieces []piece) int {
	for n := 2; n <= len(pieces); n++ {
		if lengthOf(pieces[:n]) > lineWidth {
			return n - 1
		}
	}
	return len(pieces)
}

// layout makes lines of pieces that fit: one if it is enough, otherwise two of
// about the same length.
func layout(pieces []piece) []string {
	if lengthOf(pieces) <= lineWidth || len(pieces) == 1 {
		return []string{join(pieces)}
	}
	best, least := 0, math.MaxInt
	for n := 1; n < len(pieces); n++ {
		a, b := lengthOf(pieces[:n]), lengthOf(pieces[n:])
		if longer := max(a, b); longer < least {
			best, least = n, longer
		}
	}
	return []string{join(pieces[:best]), join(pieces[best:])}
}

func lengthOf(pieces []piece) int {
	length := 0
	for i, p := range pieces {
		if i > 0 && !p.glued {
			length++
		}
		length += p.width
	}
	return length
}

func join(pieces []piece) string {
	var b strings.Builder
	for i, p := range pieces {
		if i > 0 && !p.glued {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// piecesOf cuts a text at its spaces, and where it has none, wherever it must.
// Each piece has its word's time if the words are those of the text; otherwise
// the segment's time is shared out by length.
func piecesOf(s *hearken.Segment) []piece {
	words := strings.Fields(safetext.Line(s.Text))
	start, end := s.StartTime, max(s.EndTime, s.StartTime)
	measured := len(words) == len(s.Words) && ordered(s.Words)
	total, at := 0, 0
	for _, w := range words {
		total += widthOf(w)
	}
	var pieces []piece
	for i, w := range words {
		width := widthOf(w)
		from := start + (end-start)*float64(at)/float64(max(1, total))
		to := start + (end-start)*float64(at+width)/float64(max(1, total))
		if measured {
			from, to = s.Words[i].StartTime, s.Words[i].EndTime
		}
		at += width
		pieces = appendWord(pieces, w, width, from, to)
	}
	return pieces
}

// ordered reports whether words have times that make sense.
func ordered(words []hearken.Word) bool {
	last := 0.0
	for _, w := range words {
		if !(w.StartTime >= last) || !(w.EndTime >= w.StartTime) {
			return false
		}
		last = w.StartTime
	}
	return true
}

// maxPiece leaves room for a label in the line.
const maxPiece = lineWidth - 14

// appendWord appends a word, in several pieces if it is too long for a line
// or of a script without spaces.
func appendWord(pieces []piece, w string, width int, from, to float64) []piece {
	if width <= maxPiece && !strings.ContainsFunc(w, wide) {
		return append(pieces, piece{text: w, width: width, start: from, end: to})
	}
	var b strings.Builder
	had, size, first := 0, 0, true
	cut := func() {
		if size == 0 {
			return
		}
		share := (to - from) / float64(width)
		pieces = append(pieces, piece{
			text: b.String(), width: size, glued: !first,
			start: from + share*float64(had), end: from + share*float64(had+size),
		})
		had, size, first = had+size, 0, false
		b.Reset()
	}
	for _, r := range w {
		n := runeWidth(r)
		if size+n > maxPiece || wide(r) && !closing(r) {
			cut()
		}
		b.WriteRune(r)
		size += n
	}
	cut()
	return pieces
}

// wide reports whether a character takes two columns; such scripts may be
// broken anywhere.
func wide(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x30ff || r >= 0xff00 && r <= 0xff60)
}

// closing reports whether a line may not begin with r.
func closing(r rune) bool {
	return strings.ContainsRune("、。，．？！）」』】・ー：；", r)
}

func runeWidth(r rune) int {
	switch {
	case wide(r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	return 1
}

func widthOf(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}
