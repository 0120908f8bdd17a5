package export

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// What makes a cue easy to read.
const (
	lineWidth  = 42  // columns
	cueLines   = 2   // lines of a cue
	maxSeconds = 7.0 // on the screen
	minSeconds = 1.0 // on the screen, if the next cue leaves the time
	pause      = 1.0 // seconds of silence that end a cue
	// lookAhead is by how many seconds entries may be out of order, as they are
	// when both sides speak at once.
	lookAhead = 60.0
)

// A cue is one subtitle.
type cue struct {
	start, end int64 // milliseconds
	lines      []string
}

// A cueStyle is what differs between srt and vtt.
type cueStyle struct {
	head     string
	numbered bool
	point    string // between seconds and milliseconds
	escape   *strings.Replacer
}

var (
	srtStyle = cueStyle{numbered: true, point: ",", escape: strings.NewReplacer("-->", "→")}
	vttStyle = cueStyle{head: "WEBVTT\n\n", point: ".", escape: strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")}
)

// writeCues writes the speech as cues that never overlap.
func writeCues(b *bufio.Writer, style cueStyle, both bool, segments Segments) error {
	b.WriteString(style.head)
	w := cueWriter{b: b, style: style}
	for seg, err := range segments {
		if err != nil {
			return err
		}
		if !isFinalSpeech(&seg) || seg.Status == hearken.Translated {
			continue
		}
		for _, c := range splitCues(&seg, speakerLabel(&seg, both)) {
			w.add(c)
		}
	}
	for len(w.pending) > 0 {
		w.writeFirst()
	}
	return nil
}

// A cueWriter sorts cues by their start and writes them.
type cueWriter struct {
	b       *bufio.Writer
	style   cueStyle
	pending []cue // sorted
	count   int
	lastEnd int64 // of the cue before
}

func (w *cueWriter) add(c cue) {
	i, _ := slices.BinarySearchFunc(w.pending, c.start+1, func(a cue, start int64) int { return cmp.Compare(a.start, start) })
	w.pending = slices.Insert(w.pending, i, c) // after those with the same start
	newest := w.pending[len(w.pending)-1].start
	for len(w.pending) > 1 && w.pending[0].start < newest-lookAhead*1000 {
		w.writeFirst()
	}
}

// writeFirst writes the first pending cue, so that it does not overlap the next.
func (w *cueWriter) writeFirst() {
	c := w.pending[0]
	w.pending = w.pending[1:]
	c.start = max(c.start, w.lastEnd) // for entries that come far too late
	c.end = max(c.end, c.start+minSeconds*1000)
	if len(w.pending) > 0 {
		next := &w.pending[0]
		const shortest = minSeconds * 1000 / 2
		switch {
		case next.start >= c.end:
		case next.start >= c.start+shortest:
			c.end = next.start // this one was long enough on the screen
		default: // they overlap: one after the other
			c.end = max(c.start+shortest, min(c.end, (c.start+max(c.end, next.end))/2))
			next.start = c.end
			next.end = max(next.end, next.start+shortest)
			w.reorder()
		}
	}
	w.lastEnd = c.end
	w.count++
	if w.style.numbered {
		fmt.Fprintf(w.b, "%d\n", w.count)
	}
	fmt.Fprintf(w.b, "%s --> %s\n", w.timestamp(c.start), w.timestamp(c.end))
	for _, line := range c.lines {
		w.b.WriteString(w.style.escape.Replace(line))
		w.b.WriteByte('\n')
	}
	w.b.WriteByte('\n')
}

// reorder keeps pending sorted after the start of its first cue has changed: cues
// that would begin before it begin with it.
func (w *cueWriter) reorder() {
	for i := 1; i < len(w.pending) && w.pending[i].start < w.pending[i-1].start; i++ {
		w.pending[i].start = w.pending[i-1].start
		w.pending[i].end = max(w.pending[i].end, w.pending[i].start+1)
	}
}

func (w *cueWriter) timestamp(ms int64) string {
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, w.style.point, ms%1000)
}
