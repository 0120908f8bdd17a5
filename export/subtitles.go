package export

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
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
	// shortest is for how many milliseconds a cue is on the screen even if the
	// next one leaves no time.
	shortest = 500
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

// writeCues writes the speech as cues in the order of their start. Each is shown
// for as long as its words took: two of them overlap if people talk at the same
// time, and players show one above the other.
func writeCues(b *bufio.Writer, style cueStyle, both bool, segments []hearken.Segment) {
	b.WriteString(style.head)
	var cues []cue
	for i := range segments {
		seg := &segments[i]
		if isFinalSpeech(seg) && seg.Status != hearken.Translated {
			cues = append(cues, splitCues(seg, speakerLabel(seg, both))...)
		}
	}
	slices.SortStableFunc(cues, func(a, b cue) int { return cmp.Compare(a.start, b.start) })
	for i, c := range cues {
		next := int64(math.MaxInt64)
		if i+1 < len(cues) {
			next = cues[i+1].start
		}
		c.end = c.readableEnd(next)
		if style.numbered {
			fmt.Fprintf(b, "%d\n", i+1)
		}
		fmt.Fprintf(b, "%s --> %s\n", style.timestamp(c.start), style.timestamp(c.end))
		for _, line := range c.lines {
			b.WriteString(style.escape.Replace(line))
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
}

// readableEnd is when a cue leaves the screen: never before its last word ends,
// and later if that is too soon to read it. Next is the start of the next cue.
func (c *cue) readableEnd(next int64) int64 {
	return max(c.end, min(c.start+minSeconds*1000, next))
}

func (s *cueStyle) timestamp(ms int64) string {
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3600000, ms/60000%60, ms/1000%60, s.point, ms%1000)
}
