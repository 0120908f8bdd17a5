package hearken

import "time"

// An Input is the hub's end of a source: where a source writes a session's
// audio. The hub creates it when a source attaches; it belongs to one source at
// a time. No inference and no storage happens inside Write.
type Input interface {
	// Received is how much of the session's audio the hub has safely stored,
	// in samples at [SampleRate]. A sender that reconnects continues there.
	Received() int64
	// Epoch returns the session's epoch.
	Epoch() int
	// Describe declares the sender's format before the first audio. One
	// channel is the microphone. Of two, the first is the microphone and the
	// second the far side.
	Describe(encoding string, sampleRate, channels int) error
	// Write takes audio at [SampleRate], one slice per channel, all of the same
	// length. It never waits for an engine. It fails if the session has stopped
	// or another sender took over.
	Write(channels ...[]int16) error
	// Events reports text, lag, drops and the end to the sender. The channel is
	// closed when the input ends. If the sender does not read them, events are
	// dropped, the oldest partials first.
	Events() <-chan InputEvent
	// Skip advances the session's clock over d of audio that was not recorded,
	// at most two minutes, and notes why as a gap. Before the first audio there
	// is no clock and nothing to skip.
	Skip(d time.Duration, why string) error
	// Finalize requests the words of all audio sent so far on these channels,
	// or on all channels if none is given, without waiting for a pause. They
	// arrive as events.
	Finalize(channels ...Origin) error
	// Finish ends the audio: the session transcribes the rest and stops.
	Finish() error
	// Detach leaves the session, which then waits for a sender to return.
	Detach()
}

// A StartRequest asks for a new session. All fields are optional.
type StartRequest struct {
	Provider   string // one name, or several separated by commas, in order of preference
	Language   string
	Title      string
	Model      string // the provider's own name for it
	Vocabulary []string
	KeepAudio  bool
	Principal  string
	APIKey     string // the caller's own key for the provider; empty for the hub's

	Endpointing time.Duration // see [StreamConfig]
	Translate   bool
	Recorded    bool
	Capture     bool // the audio is this computer's own; see [Scribe]

	// Named are the engines that the owner named for this computer's own audio,
	// separated by commas; empty for the hub's. No other remote engine gets it.
	Named string
}

// InputEventKind is the "type" of an [InputEvent] on the wire.
type InputEventKind string

const (
	InputPartial       InputEventKind = "partial"       // Segment
	InputFinal         InputEventKind = "final"         // Segment; Seconds is the time up to which words are final
	InputSpeechStarted InputEventKind = "speechStarted" // Seconds is the time; Origin
	InputProgress      InputEventKind = "progress"      // Seconds is the time up to which words are final; Origin
	InputLag           InputEventKind = "lag"           // Seconds
	InputDropped       InputEventKind = "dropped"       // Seconds
	InputError         InputEventKind = "error"         // Err
	InputReplaced      InputEventKind = "replaced"      // the same principal connected again
	InputClosed        InputEventKind = "closed"        // Reason; the last one
)

// An InputEvent is reported to a sender.
type InputEvent struct {
	Kind     InputEventKind
	Segment  *Segment
	Endpoint bool   // of a final: the speaker paused after it
	Origin   Origin // the channel
	Seconds  float64
	Reason   string
	Err      error
}
