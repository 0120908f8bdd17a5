package hearken

import (
	"context"
	"time"
)

// SampleRate is the rate of all audio inside the hub. Sources convert to it,
// providers receive it, and positions are counted in it.
const SampleRate = 16000

// A Frame is a run of samples of one channel, with its position on the
// session's clock. The receiver may keep PCM only until Write returns.
type Frame struct {
	Pos int64 // position of the first sample, in samples at [SampleRate]
	PCM []int16
}

// StreamConfig is what a provider is asked to do for one channel of a session.
type StreamConfig struct {
	Session    string
	Origin     Origin
	Language   string // a BCP 47 tag such as "en" or "pt-BR"
	Model      string // the provider's own name for it; empty for its default
	Vocabulary []string
	Interim    bool   // whether the caller wants unconfirmed segments
	Start      int64  // position of the first frame
	APIKey     string // the session's own key; empty for the provider's

	// Endpointing is the pause that ends a segment: 0 for the provider's
	// default. If it is negative, pauses end no segment, only length does.
	Endpointing time.Duration
	// Recorded says that nobody waits for the words: a provider may
	// transcribe longer stretches at once.
	Recorded bool
	// Translate asks for an English translation of each confirmed segment
	// too. A provider that has none ignores it.
	Translate bool
}

// A Provider is an engine that turns one channel of audio into segments.
// All methods may be called concurrently.
type Provider interface {
	// Name is the word that configuration and tools use, such as "local".
	Name() string
	// Capabilities says what the provider's streams can do and how the hub
	// has to treat them. The answer is always the same, and asking is cheap.
	// A provider that wraps another one passes the other's answer on.
	Capabilities() Capabilities
	// Check reports whether a stream with cfg could be opened: key, language,
	// model. It is cheap and is called when a session starts. It returns an
	// [*Error] with [ProviderNotConfigured] for a language or model that it
	// does not have, and [APIKeyMissing] if it needs a key.
	Check(ctx context.Context, cfg StreamConfig) error
	// Open starts a stream; it is called on the first audio. Cancelling ctx
	// after Open has returned abandons the stream without flushing it.
	Open(ctx context.Context, cfg StreamConfig) (Stream, error)
}

// Capabilities are what the hub has to know about a [Provider]. The zero value
// describes a remote provider without limits whose streams cannot finalize.
type Capabilities struct {
	// Offline says that audio never leaves this computer: the hub may use the
	// provider without being told to.
	Offline bool
	// Finalize says that [Stream.Finalize] works. Otherwise closing a stream
	// is the only way to the words that it still holds.
	Finalize bool
	// MaxStream is how long a stream may stay open: before it is over the hub
	// opens a new one, in a pause. 0 is no limit.
	MaxStream time.Duration
	// Pace is how many times faster than it was spoken the provider takes
	// audio at most; 0 is as fast as it can.
	Pace float64
	// Probe reports whether the provider would answer now. If it is nil, the
	// hub opens a stream and abandons it to learn that.
	Probe func(ctx context.Context, cfg StreamConfig) error
}

// A Stream takes frames in order and returns the words in them.
type Stream interface {
	// Write takes the next frame. It may block while the provider is behind:
	// the caller keeps what it has not yet taken. It is not called
	// concurrently with itself, Finalize or Close.
	Write(f Frame) error
	// Finalize asks for the words of all audio so far, without the pause that
	// the stream would wait for. They come as events, and the stream stays
	// open. Without [Capabilities].Finalize it does nothing.
	Finalize() error
	// Events delivers the results, in order. The channel is closed after
	// Close has flushed, after a Failed event, or when the context of Open
	// ends. The caller always drains it.
	Events() <-chan StreamEvent
	// Close says that no more audio comes. It returns at once; what the
	// provider still holds comes as events, and then the channel is closed.
	Close() error
}

// StreamEventKind says what a [StreamEvent] holds.
type StreamEventKind int

const (
	Partial       StreamEventKind = iota + 1 // Segment, unconfirmed
	Final                                    // Segment, confirmed or no speech; FinalUntil
	SpeechStarted                            // Time
	Progress                                 // FinalUntil and Lag
	Failed                                   // Err; the last event of a stream
)

// A StreamEvent is one result of a stream. Times are on the session's clock.
// The hub gives segments their ID, Line, Origin and Timestamp.
type StreamEvent struct {
	Kind    StreamEventKind
	Segment Segment
	Time    float64 // when speech started
	// FinalUntil is the position before which all audio is done: its words
	// have been delivered as finals, and it is no longer needed.
	FinalUntil int64
	// Lag is how many seconds of audio are written but not done, beyond what
	// the provider always holds back.
	Lag float64
	// Endpoint says of a Final that the speaker paused there. Otherwise it
	// ends because it was long or because Finalize asked for it.
	Endpoint bool
	Err      error
}
