package hearken

import (
	"context"
	"time"
)

// SampleRate is the rate of all sound inside the hub: sources convert to it,
// engines are fed with it, and positions are counted in it.
const SampleRate = 16000

// A Frame is a run of samples of one channel, with its place on the session's
// clock. The receiver may keep PCM only until Write returns.
type Frame struct {
	Pos int64 // position of the first sample, in samples at [SampleRate]
	PCM []int16
}

// StreamConfig is what an engine is asked to do for one channel of a session.
type StreamConfig struct {
	Session    string
	Origin     Origin
	Language   string // a BCP 47 tag such as "en" or "pt-BR"
	Model      string // the provider's own name for it; empty for its default
	Vocabulary []string
	Interim    bool   // whether unconfirmed segments are wanted
	Start      int64  // position of the first frame that will come
	APIKey     string // the session's own key; empty for the provider's

	// Endpointing is the pause that ends a segment: 0 for the engine's own
	// idea of it, negative for none, so that only length ends one.
	Endpointing time.Duration
	// Recorded says that nobody waits for the words: an engine may take the
	// time to hear more at once.
	Recorded bool
	// Translate asks for an English translation of each confirmed segment
	// too. An engine that has none ignores it.
	Translate bool
}

// A Provider is an engine that turns one channel of sound into segments.
// All methods may be called concurrently.
type Provider interface {
	// Name is the word that configuration and tools use, such as "local".
	Name() string
	// Check tells whether a stream with cfg could be opened: key, language,
	// model. It is cheap and is called when a session starts. It returns an
	// [*Error] with [ProviderNotConfigured] for a language or model that it
	// does not have and [APIKeyMissing] where a key is wanted.
	Check(ctx context.Context, cfg StreamConfig) error
	// Open starts a stream; it is called on the first sound. Cancelling ctx
	// after Open has returned abandons the stream without flushing it.
	Open(ctx context.Context, cfg StreamConfig) (Stream, error)
}

// A Stream takes frames in order and tells what it heard in them.
type Stream interface {
	// Write takes the next frame. It may block while the engine is behind:
	// the caller keeps what it has not yet taken. It is not called
	// concurrently with itself or with Close.
	Write(f Frame) error
	// Events delivers what was heard, in order. The channel is closed after
	// Close has flushed, after a Failed event, or when the context of Open
	// ends. The caller always drains it.
	Events() <-chan StreamEvent
	// Close says that no more sound comes. It returns at once; what is still
	// in the engine comes out as events, and then the channel is closed.
	Close() error
}

// A Finalizer is a [Stream] that can be asked for the words of the sound it
// has so far, without the pause it would wait for. It stays open. Finalize is
// not called concurrently with Write or Close; the words come as events.
type Finalizer interface {
	Finalize() error
}

// A Prober is a [Provider] that can tell whether it would answer now. One that
// is not is asked by opening a stream and abandoning it.
type Prober interface {
	Probe(ctx context.Context, cfg StreamConfig) error
}

// A Limited is a [Provider] whose streams may not stay open for ever: the hub
// goes on with a new one, in a pause, before that time is over.
type Limited interface {
	MaxStream() time.Duration
}

// An Offline is a [Provider] whose sound never leaves this computer: the hub
// may go on with it without being told to.
type Offline interface {
	Offline()
}

// A Paced is a [Provider] that takes sound at most so many times faster than
// it was spoken; 0 is as fast as it can.
type Paced interface {
	Pace() float64
}

// StreamEventKind tells what a [StreamEvent] holds.
type StreamEventKind int

const (
	Partial       StreamEventKind = iota + 1 // Segment, unconfirmed
	Final                                    // Segment, confirmed or no speech; Through
	SpeechStarted                            // Time
	Progress                                 // Through and Lag
	Failed                                   // Err; the last event of a stream
)

// A StreamEvent is one thing an engine tells. Times are on the session's
// clock. The hub gives segments their ID, Line, Origin and Timestamp.
type StreamEvent struct {
	Kind    StreamEventKind
	Segment Segment
	Time    float64 // when speech started
	// FinalUntil is the position before which all sound is dealt with: its words
	// have come out as finals, and it will not be needed again.
	FinalUntil int64
	Lag        float64 // seconds of sound written but not yet dealt with beyond what the engine always holds
	// Endpoint says of a Final that the speaker paused there, in contrast to
	// one that ends because it was long or because Finalize asked for it.
	Endpoint bool
	Err      error
}
