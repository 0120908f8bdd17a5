package hearken

// An Input is the receiving end of a session, where a source puts its sound.
// It is made by the hub when a source attaches and belongs to one source at a
// time. Nothing that infers or stores runs inside Write.
type Input interface {
	// Received is how much sound of the session is safe with the hub, in
	// samples at [SampleRate]: a sender that returns goes on from there.
	Received() int64
	// Epoch is the session's epoch.
	Epoch() int
	// Describe tells the hub what the sender sends, before the first sound.
	// One channel is the microphone; of two, the first is the microphone and
	// the second the far side.
	Describe(encoding string, sampleRate, channels int) error
	// Write takes sound at [SampleRate], one slice for each channel, all of
	// the same length. It never waits for an engine. It fails when the
	// session has stopped or another sender took over.
	Write(channels ...[]int16) error
	// Events delivers what the sender is told about: text, lag, drops, the
	// end. It is closed when the input ends. Events are dropped, the oldest
	// partials first, when the sender does not take them.
	Events() <-chan InputEvent
	// Finalize asks for the words of everything sent so far on these channels,
	// or on all if none is named, without the pause that the engine would wait
	// for. They come as events like any others.
	Finalize(channels ...Origin) error
	// Finish says that the sound is complete: the session drains and stops.
	Finish() error
	// Detach leaves the session, which waits for a sender to return.
	Detach()
}

// InputEventKind is the "type" of an [InputEvent] on the wire.
type InputEventKind string

const (
	InputPartial       InputEventKind = "partial"       // Segment
	InputFinal         InputEventKind = "final"         // Segment; Seconds is how far the words are final with it
	InputSpeechStarted InputEventKind = "speechStarted" // Seconds is the time; Origin
	InputProgress      InputEventKind = "progress"      // Seconds is how far the words are final; Origin
	InputLag           InputEventKind = "lag"           // Seconds
	InputDropped       InputEventKind = "dropped"       // Seconds
	InputError         InputEventKind = "error"         // Err
	InputReplaced      InputEventKind = "replaced"      // the same principal came again
	InputClosed        InputEventKind = "closed"        // Reason; the last one
)

// An InputEvent is one thing a sender is told.
type InputEvent struct {
	Kind     InputEventKind
	Segment  *Segment
	Endpoint bool   // of a final: the speaker paused there
	Origin   Origin // whose speech or progress it is
	Seconds  float64
	Reason   string
	Err      error
}
