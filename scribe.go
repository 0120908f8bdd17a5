package hearken

import (
	"context"
	"time"
)

// A Scribe transcribes this computer's own microphone and system audio: one
// capture at a time, each a session. All methods may be called concurrently.
// Failures that a person should see are an [*Error].
type Scribe interface {
	// Start begins a capture, or continues a paused one. If one is running, it
	// changes nothing.
	Start(ctx context.Context, req CaptureRequest) (*ScribeStatus, error)
	// Stop ends the running capture. Its last words may still follow.
	Stop(ctx context.Context) (*ScribeStatus, error)
	// New ends the current session and continues in a new one without losing
	// audio. What req leaves out stays as before.
	New(ctx context.Context, req CaptureRequest) (*ScribeStatus, error)
	Status(ctx context.Context) (*ScribeStatus, error)
	// Sessions lists this computer's captures, newest first.
	Sessions(ctx context.Context, limit int) ([]ScribeSession, error)
	Tail(ctx context.Context, req TailRequest) (*ScribePage, error)
	// Cat returns whole sessions, oldest first.
	Cat(ctx context.Context, req CatRequest) ([]ScribePage, error)
	Grep(ctx context.Context, req GrepRequest) ([]ScribePage, error)
}

// A CaptureRequest says how to transcribe a capture. All fields are optional. A
// foreign scribe ignores them.
type CaptureRequest struct {
	// Provider is an engine that the owner named, or several separated by
	// commas; empty for the hub's.
	Provider string
	Language string
	APIKey   string // the caller's own key for Provider
}

// A Capture records this computer's audio.
type Capture interface {
	// Run delivers audio in real time, at [SampleRate], until ctx ends or
	// nothing can be captured any more. The first channel is the microphone;
	// the second, if there is one, is what the computer plays. A device that
	// disappears is silent until it returns.
	Run(ctx context.Context, deliver func(channels ...[]int16) error) error
	// Notes describes what is captured from where, and what is not.
	Notes() []string
	// Levels returns how loud each channel is now, from 0 to 1.
	Levels() []float64
}

// ScribeStatus describes what a scribe is doing.
type ScribeStatus struct {
	Running bool
	Session string // id of the current or last session; empty if none
	Since   time.Time
	Length  time.Duration // of the session so far
	// Engine is what transcribes the running capture, in Language. Both are
	// empty if nothing is being captured or the scribe does not know.
	Engine   string
	Language string
	// Notes are sentences for people: what is recorded from where, whether it
	// leaves this computer, what is missing, and that everyone on the call
	// should know.
	Notes []string
	// Levels is how loud each channel is now, from 0 to 1. It is nil if nothing
	// is being captured or the scribe does not know.
	Levels []float64
	Raw    string // the foreign scribe's own output; may be empty
	// Unclear says that Raw does not tell whether it runs.
	Unclear bool
}

// A ScribeSession is one capture in a list.
type ScribeSession struct {
	ID        string
	StartedAt time.Time
	Length    time.Duration
	Entries   int // -1 if unknown
	Running   bool
	Raw       string // the foreign scribe's own output; may be empty
}

// A StatusFilter selects entries by [Status].
type StatusFilter string

const (
	AllEntries       StatusFilter = "all"
	OnlyConfirmed    StatusFilter = "confirmed"
	OnlyUnconfirmed  StatusFilter = "unconfirmed"
	OnlyTranslations StatusFilter = "translated"
	OnlySpeech       StatusFilter = "speech" // everything except stretches without speech
)

// Matches reports whether the filter selects entries with this status.
func (f StatusFilter) Matches(s Status) bool {
	switch f {
	case OnlyConfirmed:
		return s == Confirmed
	case OnlyUnconfirmed:
		return s == Unconfirmed
	case OnlyTranslations:
		return s == Translated
	case OnlySpeech:
		return s != NoSpeech
	}
	return true
}

// TailRequest requests the newest entries of a session, or those from a given
// line.
type TailRequest struct {
	Session   string // empty for the current or the last one
	N         int    // maximum; with SinceLine the oldest are returned
	SinceLine int    // 0 for the newest
	Filter    StatusFilter
	Wait      time.Duration // how long to wait for new entries if there are none
	Echo      bool          // include echo
}

// CatRequest selects whole sessions: by id, by start time, or the last few.
type CatRequest struct {
	Sessions     []string
	Since, Until time.Time // zero for no limit
	Last         int       // 0 for no limit
	Filter       StatusFilter
	Echo         bool
}

// GrepRequest searches transcripts with a regular expression.
type GrepRequest struct {
	Pattern       string
	Since, Until  time.Time // of when a session started; zero for no bound
	Filter        StatusFilter
	IgnoreCase    bool
	Before, After int // entries around a match
	Limit         int // most matches; 0 for no limit
}

// A ScribePage holds entries of one session.
type ScribePage struct {
	Session string
	Entries []Segment
	Next    int    // the line to continue from
	Raw     string // a foreign scribe's output that could not be parsed
}
