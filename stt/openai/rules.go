package openai

import (
	"time"

	"github.com/hearken-dev/hearken/stt/utterance"
)

// window is what a voice detector takes at once, in samples.
const window = utterance.Window

// usualPause ends an utterance if the session does not say which one does.
var usualPause = utterance.Windows(600)

// rules say how audio is cut, with pauses of this length: zero for the usual
// one, negative for none.
func rules(endpointing time.Duration) utterance.Rules {
	r := utterance.Rules{
		PreRoll: 16, Tail: 8, Pause: usualPause, ClickPause: usualPause,
		Max: utterance.Windows(25_000), CutWindow: utterance.Windows(5_000),
	}
	switch {
	case endpointing < 0:
		r.Pause = utterance.Never
	case endpointing > 0:
		ms := min(endpointing, time.Minute).Milliseconds()
		r.Pause = max(utterance.MinPause, utterance.Windows(int(ms)))
	}
	return r
}
