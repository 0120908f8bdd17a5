package moonshine

import (
	"time"

	"github.com/hearken-dev/hearken/stt/utterance"
	"github.com/hearken-dev/hearken/vad"
)

// A window is what the voice detector takes at once.
const window = utterance.Window

var _ [window]struct{} = [vad.FrameSize]struct{}{} // the same for both

// A mode is how a stream weighs accuracy against delay.
type mode struct {
	live  bool // somebody waits for the words
	rules utterance.Rules
}

// The times were chosen by measurement on recordings: a longer pause gives
// slightly better text and later finals, a shorter one cuts inside sentences.
var (
	// liveMode is for those who wait for the words. Tail is also how soon a
	// guess begins, and Pause how long unsure text waits at most. They were
	// chosen on one half of the English recordings, where base made 48 errors in
	// 774 words, against 51 with a tail of 192 ms and a pause of 900; on the
	// other half it made 71 in 650, against 70.
	liveMode = mode{live: true, rules: utterance.Rules{
		PreRoll: preRoll, Tail: 4, Pause: utterance.Windows(700), ClickPause: clickPause,
		Max: utterance.Windows(12_000), CutWindow: utterance.Windows(4_000),
		CompletePause: utterance.Windows(380), Long: utterance.Windows(8_000), LongPause: utterance.Windows(250),
	}}
	// recordedMode is for recordings, where nobody waits: as much at once as
	// the models are good at, cut where the speaker paused longest. On the
	// English recordings the base model makes 0.2 points more word errors so
	// than when it is given each in one piece; with 14 seconds it was 0.9, and
	// 24 were no better than 20.
	recordedMode = mode{rules: utterance.Rules{
		PreRoll: preRoll, Tail: 6, Pause: utterance.Windows(2_000), ClickPause: clickPause,
		Max: utterance.Windows(20_000), CutWindow: utterance.Windows(15_000),
	}}
)

const preRoll = 20 // 640 ms before the first speech go to the model as well

var clickPause = utterance.Windows(380)

// The pauses that a session may ask for. A shorter one is often inside a word,
// and the detector needs some windows to be sure; a segment is not much longer
// than the longest.
const (
	minEndpoint = 250 * time.Millisecond
	maxEndpoint = 5 * time.Second
)

// withEndpointing is the mode in which exactly this pause ends a segment,
// however sure the text is and however long. If d is negative, none does.
func (m mode) withEndpointing(d time.Duration) mode {
	r := &m.rules
	switch {
	case d < 0:
		r.Pause = utterance.Never
	case d > 0:
		r.Pause = utterance.Windows(int(min(max(d, minEndpoint), maxEndpoint).Milliseconds()))
		r.CompletePause, r.LongPause = r.Pause, r.Pause
	}
	return m
}
