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
	// Finish says that the sound is complete: the session drains and stops.
	Finish() error
	// Detach leaves the session, which waits for a sender to return.
	Detach()
}

// InputEventKind is the "type" of an [InputEvent] on the wire.
type InputEventKind string

const (
	InputPartial       InputEventKind = "partial"       // Segment
	InputFinal         InputEventKind = "final"         // Segment
	InputSpeechStarted InputEventKind = "speechStarted" // Seconds is the time
	InputLag           InputEventKind = "lag"           // Seconds
	InputDropped       InputEventKind = "dropped"       // Seconds
	InputError         InputEventKind = "error"         // Err
	InputReplaced      InputEventKind = "replaced"      // the same principal came again
	InputClosed        InputEventKind = "closed"        // Reason; the last one
)

// An InputEvent is one thing a sender is told.
type InputEvent struct {
	Kind    InputEventKind
	Segment *Segment
	Seconds float64
	Reason  string
	Err     error
}
