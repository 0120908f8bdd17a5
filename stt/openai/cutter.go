package openai

import (
	"math"
	"time"
)

// frames counts windows in a number of milliseconds, at least as many.
func frames(ms int) int { return (ms*16 + window - 1) / window }

// How speech is cut, in windows.
const (
	onThreshold  = 0.5  // at least this is speech
	offThreshold = 0.35 // less than this is not

	preRoll       = 16 // 512 ms before the first speech are sent as well
	tail          = 8  // and 256 ms after the last
	shortestPause = 3  // less is inside a word
	cutNeighbours = 2  // windows on each side that a cut looks at
)

var (
	minSpeech    = frames(250) // less is a click or a cough
	hangover     = frames(600) // a pause that ends an utterance if nobody says which
	maxUtterance = frames(25_000)
	cutWindow    = frames(5_000) // the end of one that is too long, where the best place is looked for
	cutMargin    = frames(200)   // the newest sound may be inside a word
)

// A span is a stretch of speech, counted in windows from where the cutter
// began.
type span struct {
	start, end  int    // the sound to send
	first, last int    // first window of speech, and the one after the last
	speech      []bool // which windows from start to end hold speech
	paused      bool   // the speaker paused; else it was long, or asked for
}

// A cutter cuts sound into utterances. It sees how likely each window is speech
// and how loud it is, and nothing of the sound itself. Each window that holds
// speech is in one span, and none is in two.
type cutter struct {
	pause int // windows without speech that end an utterance; none if zero

	n      int       // windows seen
	floor  int       // the end of the last span
	probs  []float32 // of the windows from base on
	levels []float64
	base   int

	onset    int // first window of the speech that goes on; -1 if there is none
	start    int // where its span starts
	last     int // after its last window of speech
	voiced   int // windows of speech in it
	speaking bool
}

// newCutter makes a cutter that ends utterances in pauses of this length: zero
// for the usual one, negative for none.
func newCutter(endpointing time.Duration) *cutter {
	c := &cutter{pause: hangover, onset: -1}
	switch {
	case endpointing < 0:
		c.pause = 0
	case endpointing > 0:
		ms := min(endpointing, time.Minute).Milliseconds()
		c.pause = max(shortestPause, frames(int(ms)))
	}
	return c
}

// push takes the next window. It tells whether speech began, not necessarily
// in this window, and the utterance that ended, if one did.
func (c *cutter) push(prob float32, level float64) (began bool, ended *span) {
	c.probs = append(c.probs, prob)
	c.levels = append(c.levels, level)
	c.n++
	if c.onset < 0 {
		if prob < onThreshold {
			c.trim()
			return false, nil
		}
		c.onset, c.voiced = c.n-1, 0
		c.start = max(c.onset-preRoll, c.floor)
	}
	switch {
	case prob >= onThreshold:
		c.voiced++
		c.last = c.n
	case prob >= offThreshold && c.last == c.n-1:
		c.last = c.n // the end of a word
	}
	if !c.speaking && c.voiced >= minSpeech {
		c.speaking, began = true, true
	}
	silence := c.n - c.last
	switch {
	case !c.speaking:
		if silence >= hangover || c.n-c.start >= maxUtterance {
			c.onset = -1
			c.trim()
		}
	case c.pause > 0 && silence >= c.pause:
		ended = c.finish()
		ended.paused = true
	case c.n-c.start >= maxUtterance:
		ended = c.cut()
	}
	return began, ended
}

// end ends what is being said, because no more sound comes or because somebody
// wants the words. A shorter word will do then than otherwise; what is too
// short even for that stays what it is, the beginning of something or nothing.
func (c *cutter) end() *span {
	if c.onset < 0 || !c.speaking && c.voiced < minSpeech/2 {
		return nil
	}
	return c.finish()
}

func (c *cutter) finish() *span {
	s := c.span(min(c.last+tail, c.n))
	c.floor = s.end
	c.onset, c.speaking = -1, false
	c.trim()
	return s
}

func (c *cutter) span(end int) *span {
	s := &span{start: c.start, end: end, first: c.onset, last: min(c.last, end), speech: make([]bool, end-c.start)}
	for i := range s.speech {
		s.speech[i] = c.probs[c.start+i-c.base] >= offThreshold
	}
	return s
}

// cut ends an utterance in which nobody pauses long enough: in its longest
// pause near the end, or at the quietest place there. What comes after that
// place begins the next one.
func (c *cutter) cut() *span {
	at := c.place()
	s := c.span(at)
	for s.last = at; s.last > s.first+1 && c.probs[s.last-1-c.base] < offThreshold; {
		s.last--
	}
	c.floor, c.start, c.onset, c.voiced = at, at, -1, 0
	for i := at; i < c.n; i++ {
		if c.probs[i-c.base] >= onThreshold {
			c.voiced++
			if c.onset < 0 {
				c.onset = i
			}
		}
	}
	c.speaking = c.onset >= 0 // however little: it belongs to what was said
	c.trim()
	return s
}

// place finds where to cut: in the middle of the longest run of windows
// without speech, if it is long enough to be between words.
func (c *cutter) place() int {
	from, to := c.n-cutWindow, c.n-cutMargin
	longest, at, run := shortestPause-1, -1, 0
	for i := from; i < to; i++ {
		if c.probs[i-c.base] >= offThreshold {
			run = 0
			continue
		}
		if run++; run > longest {
			longest, at = run, i-run/2
		}
	}
	if at >= 0 {
		return at
	}
	best := math.Inf(1)
	for i := from; i < to; i++ {
		if q := c.insideWord(i); q < best {
			best, at = q, i
		}
	}
	return at
}

// insideWord tells how much a window and its neighbours sound like the inside
// of a word. A stop consonant is as quiet as a pause but shorter, therefore the
// neighbours.
func (c *cutter) insideWord(i int) float64 {
	var sum float64
	for k := i - cutNeighbours - c.base; k <= i+cutNeighbours-c.base; k++ {
		sum += float64(c.probs[k]) + c.levels[k]/20
	}
	return sum
}

// needed is the first window that may still become part of a span.
func (c *cutter) needed() int {
	if c.onset >= 0 {
		return c.start
	}
	return max(c.n-preRoll, c.floor)
}

// trim forgets what no span can need any more, in batches, so that the cost of
// copying does not matter.
func (c *cutter) trim() {
	keep := c.needed()
	if keep-c.base < 256 {
		return
	}
	n := copy(c.probs, c.probs[keep-c.base:])
	copy(c.levels, c.levels[keep-c.base:])
	c.probs, c.levels, c.base = c.probs[:n], c.levels[:n], keep
}
