// Package live hears and remembers: it takes sound from sources, feeds it to
// an engine, and keeps what comes out, so that no confirmed word is ever lost.
//
// A [Hub] owns every active session. Sound arrives at an input, goes to a
// bounded spool and from there to a provider; confirmed segments go to the
// journal, then to readers, and periodically to the store. See
// docs/durability.md for what survives which failure.
package live

import (
	"log/slog"
	"time"

	"github.com/hearken-dev/hearken"
)

// Config is what a [Hub] is made of. Store and Providers are required.
type Config struct {
	Dir       string // holds journal/ and spool/
	Store     hearken.Store
	Providers []hearken.Provider
	// Chain names the providers of sessions that ask for none: the default,
	// and what to go on with when it fails. It is the first provider alone if
	// empty.
	Chain []string
	// ReturnAfter is when a session that had to go on with another provider
	// begins to ask whether the wanted one is well again; it never does if 0.
	ReturnAfter time.Duration

	// Languages maps a provider's name to the language of sessions that name
	// none. A provider that is missing gets DefaultLanguage.
	Languages       map[string]string
	DefaultLanguage string

	Vocabulary []string // names and terms for every session

	PersistSegments int           // write to the store after so many segments
	PersistInterval time.Duration // or after this long
	BufferChunks    int           // chunks of sound in memory before the disk
	SpoolSeconds    int           // seconds of sound on disk before any is dropped
	SpoolMemory     bool          // no sound on disk at all
	KeepAudio       bool          // keep every session's sound for Again
	ReturnWithin    time.Duration // how long a session waits for its sender to return
	ArriveWithin    time.Duration // how long a new session waits for its first sender
	MaxSessions     int           // active ones; more are refused as busy
	Retention       time.Duration // stopped sessions older than this are deleted; 0 keeps them

	Retries     int           // consecutive failures of a provider before it is given up
	DrainWithin time.Duration // how long stopping waits for the last words

	Log *slog.Logger
	Now func() time.Time // time.Now unless a test says otherwise
	// Fault is called inside confirm, journal and persist, at the places where
	// being killed would hurt most, so that a test can do just that.
	Fault func(place string)
}

// withDefaults fills what was left out.
func (c Config) withDefaults() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.PersistSegments, 10)
	def(&c.BufferChunks, 100)
	def(&c.SpoolSeconds, 600)
	def(&c.MaxSessions, 2000)
	def(&c.Retries, 3)
	span(&c.PersistInterval, 30*time.Second)
	span(&c.ReturnWithin, time.Minute)
	span(&c.ArriveWithin, 10*time.Minute)
	span(&c.DrainWithin, 30*time.Second)
	if len(c.Chain) == 0 && len(c.Providers) > 0 {
		c.Chain = []string{c.Providers[0].Name()}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Fault == nil {
		c.Fault = func(string) {}
	}
	return c
}

// StartRequest asks for a new session. All fields are optional.
type StartRequest struct {
	Provider   string // a name, or several with commas to go on with
	Language   string
	Title      string
	Model      string
	Vocabulary []string
	KeepAudio  bool
	Principal  string
	APIKey     string // the caller's own key for the provider; empty for the hub's

	Endpointing time.Duration // see [hearken.StreamConfig]
	Translate   bool
	Recorded    bool
	Capture     bool // the sound is this computer's own
}

// ReadRequest asks for entries of one session.
type ReadRequest struct {
	Session string
	// From is the number of entries to pass over; negative counts from the
	// end, so -50 is the newest 50.
	From    int
	Limit   int // at most this many; 0 for 50
	Words   bool
	Interim bool          // also what is not yet confirmed
	Wait    time.Duration // how long to wait if there is nothing from From on
}

// A Page is what a read returns.
type Page struct {
	Session  hearken.Session
	Segments []hearken.Segment // confirmed entries, in order
	Interim  []hearken.Segment // what is not yet confirmed, at most one for each channel
	Total    int               // confirmed entries in the session
	Next     int               // From of the read that goes on after this page
	More     bool              // whether there is something there already
}

// Status is what the evidence says about one session.
type Status struct {
	Session       hearken.Session
	Sender        string     // "connected", "waiting" or "none"
	LastAudio     *time.Time // when the last byte of sound came
	LastWord      *time.Time // when the last confirmed word came
	Lag           float64    // seconds of sound that the engine has not dealt with
	Dropped       float64    // seconds of sound that were lost for want of room
	SpoolBytes    int64
	Unsaved       int     // entries that the store does not have yet
	Durable       bool    // whether every shown entry is in the journal or the store
	StoreError    string  // why the last write to the store failed; empty if it did not
	Engine        string  // the provider in use, which may be another than the session's
	Owed          float64 // seconds of sound that wait for an engine to transcribe them later
	ProviderState string  // "idle", "open", "retrying" or "failed"
	// Health is the summary: "ok", "waiting_for_audio", "silent" (sound comes,
	// no words), "lagging", "storage_trouble", "provider_trouble", "stopped".
	Health string
}
