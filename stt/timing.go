package stt

import (
	"math"

	"github.com/hearken-dev/hearken"
)

// When a stretch without speech gets an entry of its own, in samples.
const (
	MinSilence = 5 * hearken.SampleRate  // a shorter one gets none
	MaxSilence = 60 * hearken.SampleRate // a longer one gets an entry each minute
)

// Seconds is the time of a position on the session's clock.
func Seconds(pos int64) float64 { return float64(pos) / hearken.SampleRate }

// Position is the position at a time on the session's clock.
func Position(seconds float64) int64 { return int64(math.Round(seconds * hearken.SampleRate)) }

// Silence is the event for a stretch without speech between two positions.
func Silence(from, to, finalUntil int64, language string) hearken.StreamEvent {
	return hearken.StreamEvent{Kind: hearken.Final, FinalUntil: finalUntil, Segment: hearken.Segment{
		Status: hearken.NoSpeech, IsFinal: true, StartTime: Seconds(from), EndTime: Seconds(to), Language: language,
	}}
}
