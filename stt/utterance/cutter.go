// Package utterance cuts a channel of audio into utterances for engines that
// transcribe one at a time, and gives the words of an utterance their times.
package utterance

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// Window is how many samples a voice detector takes at once: 32 ms.
const Window = 512

// Windows is how many windows hold so many milliseconds.
func Windows(ms int) int { return (ms*hearken.SampleRate/1000 + Window - 1) / Window }

// The thresholds are those of Silero.
const (
	// SpeechProb is the probability from which on a window is speech.
	SpeechProb = 0.5
	// silenceProb is the probability below which a window is none.
	silenceProb = 0.35

	// MinSpeech is how many windows of speech make an utterance. Less is a
	// click or a cough.
	MinSpeech = 8
	// MinPause is the shortest pause in windows. Less is inside a word.
	MinPause = 3

	cutNeighbours = 2 // windows on each side that are considered for a cut
)

// cutMargin is how many of the newest windows are not considered for a cut:
// they may be inside a word.
var cutMargin = Windows(200)

// Never is a number of windows that no pause reaches.
const Never = math.MaxInt

// Rules say where an utterance ends. All numbers are windows.
type Rules struct {
	PreRoll    int // audio before the first speech that belongs to an utterance
	Tail       int // audio after the last speech that belongs to it
	Pause      int // a pause that always ends an utterance, or Never
	ClickPause int // a pause after which too little speech for an utterance is forgotten
	Max        int // the longest utterance
	CutWindow  int // the end of a longest utterance, where the best cut is looked for

	// The rest counts only with [Cutter.Complete].
	CompletePause int // a pause that ends an utterance that is complete
	Long          int // an utterance that ends at CompletePause in any case
	LongPause     int // a pause that ends a long utterance that is complete
}

// A Span is an utterance, counted in windows from the first one of the cutter.
type Span struct {
	Start, End  int    // the audio that belongs to it
	First, Last int    // its first window of speech, and the one after its last
	Speech      []bool // which windows from Start to End hold speech
	Paused      bool   // the speaker paused after it
}

// Changes are what one window brought about.
type Changes struct {
	Began   bool  // speech has begun, at [Cutter.Onset]
	Paused  *Span // speech has probably ended: this would be the utterance
	Resumed bool  // the speaker continues after all
	Ended   *Span // an utterance has ended
}

// A Cutter cuts audio into utterances. It sees how likely each window is
// speech and how loud it is, not the audio itself. Every window of speech is
// in one utterance at most.
type Cutter struct {
	// Complete, if set, is asked after a short pause whether what was said
	// can stand alone. It is then also reported when a pause begins.
	Complete func() bool
	rules    Rules

	seen   int // windows
	floor  int // the end of the last utterance
	probs  []float32
	levels []float64
	base   int // the window of the first element of both

	onset    int // first window of the current speech; -1 if there is none
	start    int // where its utterance starts
	last     int // after its last window of speech
	voiced   int // its windows of speech
	speaking bool
	paused   bool // Paused was reported
	waiting  bool // what was said before the pause is not complete
}

// NewCutter makes a cutter that has not seen anything.
func NewCutter(r Rules) *Cutter { return &Cutter{rules: r, onset: -1} }

// Seen is how many windows were pushed.
func (c *Cutter) Seen() int { return c.seen }

// Onset is the first window of the current speech, -1 if there is none. Until
// [Cutter.Speaking] it may be a click.
func (c *Cutter) Onset() int { return c.onset }

// Speaking reports whether an utterance has begun.
func (c *Cutter) Speaking() bool { return c.speaking }

// Current is the utterance that has begun, as far as it has come.
func (c *Cutter) Current() *Span { return c.spanUntil(c.seen) }

// Needed is the first window that may still become part of an utterance.
func (c *Cutter) Needed() int {
	if c.onset >= 0 {
		return c.start
	}
	return max(c.seen-c.rules.PreRoll, c.floor)
}

// Push takes the next window: the probability that it is speech, and its level,
// the common logarithm of its root mean square.
func (c *Cutter) Push(prob float32, level float64) Changes {
	var ch Changes
	c.probs = append(c.probs, prob)
	c.levels = append(c.levels, level)
	c.seen++
	if c.onset < 0 {
		if prob < SpeechProb {
			c.trim()
			return ch
		}
		c.onset, c.voiced = c.seen-1, 0
		c.start = max(c.onset-c.rules.PreRoll, c.floor)
	}
	switch {
	case prob >= SpeechProb:
		c.voiced++
		c.last = c.seen
	case prob >= silenceProb && c.last == c.seen-1:
		c.last = c.seen // the end of a word
	}
	silence := c.seen - c.last
	if !c.speaking && c.voiced >= MinSpeech {
		c.speaking, ch.Began = true, true
	}
	if silence == 0 && c.paused {
		c.paused, c.waiting, ch.Resumed = false, false, true
	}
	switch {
	case !c.speaking:
		if silence >= c.rules.ClickPause || c.seen-c.start >= c.rules.Max {
			c.Discard()
		}
	case c.endsUtterance(silence):
		ch.Ended = c.finishUtterance()
		ch.Ended.Paused = true
	case silence >= c.rules.Tail && !c.paused && c.Complete != nil:
		c.paused = true
		ch.Paused = c.spanUntil(min(c.last+c.rules.Tail, c.seen))
		ch.Paused.Paused = true
	case c.seen-c.start >= c.rules.Max:
		ch.Ended = c.cutLongest()
	}
	return ch
}

// endsUtterance reports whether a pause of so many windows ends the utterance.
func (c *Cutter) endsUtterance(silence int) bool {
	long := c.last-c.start >= c.rules.Long
	switch {
	case silence >= c.rules.Pause:
		return true
	case c.Complete == nil:
		return false
	case long && silence >= c.rules.CompletePause:
		return true
	case c.waiting:
		return false
	case silence >= c.rules.CompletePause || long && silence >= c.rules.LongPause:
		c.waiting = !c.Complete()
		return !c.waiting
	}
	return false
}

// End ends the current utterance where the audio ends. Half of MinSpeech is
// enough for one then. If there is even less, End returns nil, and it stays
// what it is: the beginning of an utterance, or a click.
func (c *Cutter) End() *Span {
	if c.onset < 0 || !c.speaking && c.voiced < MinSpeech/2 {
		return nil
	}
	return c.finishUtterance()
}

// Discard forgets speech that is too short for an utterance.
func (c *Cutter) Discard() {
	if !c.speaking {
		c.onset = -1
		c.trim()
	}
}

func (c *Cutter) finishUtterance() *Span {
	s := c.spanUntil(min(c.last+c.rules.Tail, c.seen))
	c.floor = s.End
	c.onset, c.speaking, c.paused, c.waiting = -1, false, false, false
	c.trim()
	return s
}

func (c *Cutter) spanUntil(end int) *Span {
	s := &Span{Start: c.start, End: end, First: c.onset, Last: min(c.last, end), Speech: make([]bool, end-c.start)}
	for i := range s.Speech {
		s.Speech[i] = c.probs[c.start+i-c.base] >= silenceProb
	}
	return s
}

// cutLongest ends an utterance without a pause that is long enough: in its longest
// pause near the end, or at the quietest window there. What follows begins the
// next utterance.
func (c *Cutter) cutLongest() *Span {
	at := c.cutPoint()
	s := c.spanUntil(at)
	for s.Last = at; s.Last > s.First+1 && c.probs[s.Last-1-c.base] < silenceProb; {
		s.Last--
	}
	c.floor, c.start, c.onset, c.voiced, c.paused, c.waiting = at, at, -1, 0, false, false
	for i := at; i < c.seen; i++ {
		if c.probs[i-c.base] >= SpeechProb {
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

// cutPoint is the middle of the longest run of windows without speech, if one
// is long enough to be between words, or else the quietest window.
func (c *Cutter) cutPoint() int {
	from, to := c.seen-c.rules.CutWindow, c.seen-cutMargin
	longest, at, run := MinPause-1, -1, 0
	for i := from; i < to; i++ {
		if c.probs[i-c.base] >= silenceProb {
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

// insideWord is how much a window and its neighbours resemble the inside of a
// word. The neighbours count because a stop consonant is as quiet as a pause
// but shorter.
func (c *Cutter) insideWord(i int) float64 {
	var sum float64
	for k := i - cutNeighbours - c.base; k <= i+cutNeighbours-c.base; k++ {
		sum += float64(c.probs[k]) + c.levels[k]
	}
	return sum
}

// trim forgets what no utterance can need any more, in batches, so that the
// cost of copying does not matter.
func (c *Cutter) trim() {
	needed := c.Needed()
	if needed-c.base < 256 {
		return
	}
	n := copy(c.probs, c.probs[needed-c.base:])
	copy(c.levels, c.levels[needed-c.base:])
	c.probs, c.levels, c.base = c.probs[:n], c.levels[:n], needed
}
