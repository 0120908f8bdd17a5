package export

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// What makes a cue easy to read: lines that fit, time enough, not too much.
const (
	lineWidth  = 42  // columns
	cueLines   = 2   //
	maxSeconds = 7.0 // on the screen at once
	minSeconds = 1.0 // on the screen at least, if the next one leaves the time
	pause      = 1.0 // a silence that ends a cue
	// lookAhead is how far apart in time entries may be that come in the
	// wrong order, as they do when two sides speak at once.
	lookAhead = 60.0
)

// A cue is one subtitle.
type cue struct {
	start, end int64 // milliseconds
	lines      []string
}

// A cueStyle is what differs between the two formats.
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

// writeCues writes all that was said as cues that never overlap.
func writeCues(b *bufio.Writer, style cueStyle, s *hearken.Session, segments Segments) error {
	both, err := bothSides(s, segments)
	if err != nil {
		return err
	}
	b.WriteString(style.head)
	w := cueWriter{b: b, style: style}
	for seg, err := range segments {
		if err != nil {
			return err
		}
		if !settled(&seg) || seg.Status == hearken.Translated {
			continue
		}
		for _, c := range split(&seg, label(&seg, both)) {
			w.add(c)
		}
	}
	w.flush()
	return nil
}

// A cueWriter puts cues in the order of their time and writes them.
type cueWriter struct {
	b       *bufio.Writer
	style   cueStyle
	pending []cue // in order
	count   int
	last    int64 // where the cue before ended
}

func (w *cueWriter) add(c cue) {
	i, _ := slices.BinarySearchFunc(w.pending, c, func(a, b cue) int {
		if a.start <= b.start {
			return -1
		}
		return 1
	})
	w.pending = slices.Insert(w.pending, i, c)
	newest := w.pending[len(w.pending)-1].start
	for len(w.pending) > 1 && w.pending[0].start < newest-lookAhead*1000 {
		w.first()
	}
}

func (w *cueWriter) flush() {
	for len(w.pending) > 0 {
		w.first()
	}
}

// first writes the first cue after making room between it and the next.
func (w *cueWriter) first() {
	c := w.pending[0]
	w.pending = w.pending[1:]
	c.start = max(c.start, w.last) // for entries that come far too late
	c.end = max(c.end, c.start+minSeconds*1000)
	if len(w.pending) > 0 {
		next := &w.pending[0]
		const least = minSeconds * 1000 / 2
		switch {
		case next.start >= c.end:
		case next.start >= c.start+least:
			c.end = next.start // enough was seen of this one
		default: // both at once: one after the other
			c.end = max(c.start+least, min(c.end, (c.start+max(c.end, next.end))/2))
			next.start = c.end
			next.end = max(next.end, next.start+least)
			w.reorder()
		}
	}
	w.last = c.end
	w.count++
	if w.style.numbered {
		fmt.Fprintf(w.b, "%d\n", w.count)
	}
	fmt.Fprintf(w.b, "%s --> %s\n", w.stamp(c.start), w.stamp(c.end))
	for _, line := range c.lines {
		w.b.WriteString(w.style.escape.Replace(line))
		w.b.WriteByte('\n')
	}
	w.b.WriteByte('\n')
}

// reorder moves the first cue, whose start has changed, to its place. Cues
// that would now come before its start wait for it.
func (w *cueWriter) reorder() {
	for i := 1; i < len(w.pending) && w.pending[i].start < w.pending[i-1].start; i++ {
		w.pending[i].start = w.pending[i-1].start
		w.pending[i].end = max(w.pending[i].end, w.pending[i].start+1)
	}
}

func (w *cueWriter) stamp(ms int64) string {
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, w.style.point, ms%1000)
}
