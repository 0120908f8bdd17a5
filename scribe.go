package hearken

import (
	"context"
	"time"
)

// A Scribe transcribes this computer's own microphone and system audio: one
// capture at a time, each a session. All methods may be called concurrently,
// and none waits for another. What people see of a failure is an [*Error].
type Scribe interface {
	// Start begins a capture, or goes on with a paused one; a second Start
	// changes nothing.
	Start(ctx context.Context) (*ScribeStatus, error)
	// Stop ends the capture that runs. The words of the last sound follow.
	Stop(ctx context.Context) (*ScribeStatus, error)
	// New ends the session of now and goes on in a new one, losing no sound.
	New(ctx context.Context) (*ScribeStatus, error)
	Status(ctx context.Context) (*ScribeStatus, error)
	// Sessions lists the captures of this computer, the newest first.
	Sessions(ctx context.Context, limit int) ([]ScribeSession, error)
	Tail(ctx context.Context, req TailRequest) (*ScribePage, error)
	// Cat returns whole sessions, the oldest first.
	Cat(ctx context.Context, req CatRequest) ([]ScribePage, error)
	Grep(ctx context.Context, req GrepRequest) ([]ScribePage, error)
}

// A Capture is this computer's sound while somebody takes it.
type Capture interface {
	// Run delivers sound in real time, at [SampleRate], until ctx ends or
	// nothing can be captured any more: first the microphone and, if there are
	// two channels, then what the computer plays, both of the same length. A
	// device that is gone is silence until it comes back.
	Run(ctx context.Context, deliver func(channels ...[]int16) error) error
	// Notes say for people what is captured from where, and what is not.
	Notes() []string
	// Levels are how loud each channel is now, from 0 to 1.
	Levels() []float64
}

// ScribeStatus tells what a scribe is doing.
type ScribeStatus struct {
	Running bool
	Session string // the id of the current or last session; empty if there is none
	Since   time.Time
	Length  time.Duration // of the session so far
	// Notes are for people: what is recorded from where, what is missing, and
	// that everybody on the call should know of it.
	Notes []string
	Raw   string // what a foreign scribe said in its own words; may be empty
}

// A ScribeSession is one capture in a list.
type ScribeSession struct {
	ID        string
	StartedAt time.Time
	Length    time.Duration
	Entries   int // -1 if it is not known
	Running   bool
	Raw       string // what a foreign scribe said in its own words; may be empty
}

// A StatusFilter chooses entries by how settled they are.
type StatusFilter string

const (
	AllEntries       StatusFilter = "all"
	OnlyConfirmed    StatusFilter = "confirmed"
	OnlyUnconfirmed  StatusFilter = "unconfirmed"
	OnlyTranslations StatusFilter = "translated"
	OnlySpeech       StatusFilter = "speech" // all but stretches without speech
)

// Matches reports whether the filter lets an entry through.
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

// TailRequest asks for the newest entries of a session, or for those from a
// line on.
type TailRequest struct {
	Session   string // empty for the current one, or else the last
	N         int    // at most so many; with SinceLine the oldest of them
	SinceLine int    // 0 for the newest
	Filter    StatusFilter
	Wait      time.Duration // how long to wait for news if there is none
	Echo      bool          // also what the microphone heard of the far side
}

// CatRequest chooses whole sessions: by id, by when they started, or the last
// so many.
type CatRequest struct {
	Sessions     []string
	Since, Until time.Time // zero for no bound
	Last         int       // 0 for no bound
	Filter       StatusFilter
	Echo         bool
}

// GrepRequest looks for a regular expression in what was said.
type GrepRequest struct {
	Pattern       string
	Since, Until  time.Time // of when a session started; zero for no bound
	Filter        StatusFilter
	IgnoreCase    bool
	Before, After int // entries around a match
	Limit         int // matches at most; 0 for no bound
}

// A ScribePage is entries of one session.
type ScribePage struct {
	Session string
	Entries []Segment
	Next    int    // the line to go on from
	Raw     string // what a foreign scribe said that could not be read
}
