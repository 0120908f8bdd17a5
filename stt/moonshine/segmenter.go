package moonshine

import (
	"math"
	"time"

	"github.com/hearken-dev/hearken/vad"
)

// A window is what the voice detector takes at once.
const window = vad.FrameSize

// frames counts windows in a number of milliseconds, at least as many.
func frames(ms int) int { return (ms*16 + window - 1) / window }

// How speech is cut, in windows of 32 ms. The thresholds are Silero's own; the
// times were chosen by measurement on recordings: a longer hangover gives
// slightly better text and later finals, a shorter one cuts inside sentences.
const (
	onThreshold  = 0.5  // at least this is speech
	offThreshold = 0.35 // less than this is not

	preRoll = 20 // 640 ms before the first speech go to the model as well
)

var (
	minSpeech     = frames(250)
	clickPause    = frames(380)   // after it, too little for a word was none
	longSegment   = frames(8_000) // from here on a shorter pause will do
	shortestPause = 3             // less is inside a word
	cutMargin     = frames(200)   // the newest sound may be inside a word
	cutNeighbours = 2             // windows on each side that a cut looks at
)

// A pace is how long somebody may speak before their speech is cut.
type pace struct {
	hurry      bool // somebody waits: a segment may end at the first pause
	tail       int  // how much after the last speech goes to the model as well
	hangover   int  // a pause that may end a segment
	breath     int  // and one that may end a long segment
	patience   int  // a pause that ends a segment in any case
	maxSegment int  // and the end even of one without any pause
	cutWindow  int  // before which the longest pause or the quietest place is looked for
}

var (
	// live is for those who wait for the words. The tail is also how soon a
	// guess begins, and patience how long unsure text waits at most. They were
	// chosen on one half of the English recordings, where base made 48 errors in
	// 774 words, against 51 with a tail of 192 ms and patience of 900; on the
	// other half it made 71 in 650, against 70.
	live = pace{
		hurry: true, tail: 4, hangover: frames(380), breath: frames(250), patience: frames(700),
		maxSegment: frames(12_000), cutWindow: frames(4_000),
	}
	// whole is for recordings, where nobody waits: as much at once as the models
	// are good at, cut where the speaker paused longest. On the English
	// recordings the base model makes 0.2 points more word errors so than when
	// it is given each in one piece; with 14 seconds it was 0.9, and 24 were no
	// better than 20.
	whole = pace{tail: 6, patience: frames(2_000), maxSegment: frames(20_000), cutWindow: frames(15_000)}
)

// The pauses that may be asked for. Less than the shortest is inside a word as
// often as not, and the detector itself needs some windows to be sure; a
// segment is not much longer than the longest.
const (
	shortestEndpoint = 250 * time.Millisecond
	longestEndpoint  = 5 * time.Second

	never = math.MaxInt // windows
)

// endpointing is the pace of those who say which pause ends a segment: that
// one, however sure the text is and however long. With a negative one, none.
func (p pace) endpointing(d time.Duration) pace {
	switch {
	case d < 0:
		p.patience = never
	case d > 0:
		d = min(max(d, shortestEndpoint), longestEndpoint)
		p.patience = frames(int(d.Milliseconds()))
		p.hangover, p.breath = p.patience, p.patience
	}
	return p
}

// A span is a stretch of speech, counted in windows from where the segmenter
// began.
type span struct {
	start, end  int       // the sound to decode
	first, last int       // first window of speech, and the one after the last
	pause       bool      // the speaker paused after it
	more        int64     // samples after its last window
	probs       []float32 // how likely each window from start to end is speech
}

// changes is what one window brought about.
type changes struct {
	began  bool  // speech has begun; its span is in speech
	paused *span // speech has probably ended: this would be the span
	spoke  bool  // and now goes on
	ended  *span // speech has ended
}

// A segmenter cuts sound into stretches of speech. It sees one number for how
// likely each window is speech and one for how loud it is, and nothing of the
// sound itself.
type segmenter struct {
	// enough tells whether what was said before a pause can stand alone. What
	// cannot gets more time to go on. Where it is nil, nobody is in a hurry.
	enough func() bool
	pace   pace

	n      int       // windows seen
	floor  int       // the end of the last span: nothing before it is used again
	probs  []float32 // of the windows from base on
	levels []float32
	base   int

	onset    int // first window of the speech that goes on; -1 if there is none
	start    int // where its span starts
	last     int // after its last window of speech
	voiced   int // windows of speech in it
	speaking bool
	paused   bool // a pause was told
	waiting  bool // the pause was found not to be enough
}

func newSegmenter(p pace) *segmenter { return &segmenter{pace: p, onset: -1} }

// push takes the next window.
func (g *segmenter) push(prob, level float32) changes {
	var c changes
	g.probs = append(g.probs, prob)
	g.levels = append(g.levels, level)
	g.n++
	if g.onset < 0 {
		if prob < onThreshold {
			g.trim()
			return c
		}
		g.onset, g.voiced = g.n-1, 0
		g.start = max(g.onset-preRoll, g.floor)
	}
	switch {
	case prob >= onThreshold:
		g.voiced++
		g.last = g.n
	case prob >= offThreshold && g.last == g.n-1:
		g.last = g.n // the end of a word
	}
	silence := g.n - g.last
	if !g.speaking && g.voiced >= minSpeech {
		g.speaking, c.began = true, true
	}
	if silence == 0 && g.paused {
		g.paused, g.waiting, c.spoke = false, false, true
	}
	switch {
	case !g.speaking:
		if silence >= clickPause {
			g.onset = -1 // a click, a cough
			g.trim()
		}
	case g.over(silence):
		c.ended = g.finish(min(g.last+g.pace.tail, g.n))
		c.ended.pause = true
	case silence >= g.pace.tail && !g.paused && g.enough != nil:
		g.paused = true
		c.paused = g.span(min(g.last+g.pace.tail, g.n))
		c.paused.pause = true
	case g.n-g.start >= g.pace.maxSegment:
		c.ended = g.cut()
	}
	return c
}

// over tells whether a pause of so many windows ends the segment.
func (g *segmenter) over(silence int) bool {
	long := g.last-g.start >= longSegment
	switch {
	case silence >= g.pace.patience:
		return true
	case g.enough == nil:
		return false
	case long && silence >= g.pace.hangover:
		return true
	case g.waiting:
		return false
	case silence >= g.pace.hangover || long && silence >= g.pace.breath:
		g.waiting = !g.enough()
		return !g.waiting
	}
	return false
}

// flush ends the sound: what is being said is complete.
func (g *segmenter) flush() *span {
	if g.onset < 0 {
		return nil
	}
	// At the end of the sound a shorter word will do: nothing more comes that
	// could make it longer.
	if !g.speaking && g.voiced < minSpeech/2 {
		g.onset = -1
		return nil
	}
	return g.finish(min(g.last+g.pace.tail, g.n))
}

func (g *segmenter) finish(end int) *span {
	s := g.span(end)
	g.floor = end
	g.onset, g.speaking, g.paused, g.waiting = -1, false, false, false
	g.trim()
	return s
}

func (g *segmenter) span(end int) *span {
	return &span{
		start: g.start, end: end, first: g.onset, last: min(g.last, end),
		probs: append([]float32(nil), g.probs[g.start-g.base:end-g.base]...),
	}
}

// cut ends a segment in which nobody pauses long enough: in its longest pause,
// or at its quietest place. What comes after that place begins the next one.
func (g *segmenter) cut() *span {
	at := g.pauseBefore(g.n - cutMargin)
	s := g.span(at)
	for s.last = at; s.last > s.first+1 && g.probs[s.last-1-g.base] < offThreshold; {
		s.last--
	}
	g.floor, g.start, g.onset, g.voiced, g.paused, g.waiting = at, at, -1, 0, false, false
	for i := at; i < g.n; i++ {
		if g.probs[i-g.base] >= onThreshold {
			g.voiced++
			if g.onset < 0 {
				g.onset = i
			}
		}
	}
	if g.onset < 0 {
		g.speaking = false
	}
	g.trim()
	return s
}

// pauseBefore finds where to cut: in the middle of the longest run of windows
// without speech, if it is long enough to be between words.
func (g *segmenter) pauseBefore(to int) int {
	from := g.n - g.pace.cutWindow
	longest, at, run := shortestPause-1, -1, 0
	for i := from; i < to; i++ {
		if g.probs[i-g.base] >= offThreshold {
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
		if q := g.loudness(i); q < best {
			best, at = q, i
		}
	}
	return at
}

// loudness tells how much a window and its neighbours sound like the inside of
// a word. A stop consonant is as quiet as a pause but shorter, therefore the
// neighbours.
func (g *segmenter) loudness(i int) float64 {
	var sum float64
	for j := i - cutNeighbours; j <= i+cutNeighbours; j++ {
		k := j - g.base
		sum += float64(g.probs[k]) + math.Log10(float64(g.levels[k])+1e-5)
	}
	return sum
}

// trim forgets what no span can need any more.
func (g *segmenter) trim() {
	keep := g.start
	if g.onset < 0 {
		keep = max(g.n-preRoll, g.floor)
	}
	// In batches, so that the cost of copying does not matter.
	if keep-g.base < 256 {
		return
	}
	n := copy(g.probs, g.probs[keep-g.base:])
	copy(g.levels, g.levels[keep-g.base:])
	g.probs, g.levels, g.base = g.probs[:n], g.levels[:n], keep
}

// needed is the first window that may still become part of a span.
func (g *segmenter) needed() int {
	if g.onset >= 0 {
		return g.start
	}
	return max(g.n-preRoll, g.floor)
}
