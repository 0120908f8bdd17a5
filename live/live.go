// Package live transcribes and remembers: it takes audio from sources, feeds it
// to an engine and keeps the results, so that no confirmed word is ever lost.
//
// A [Hub] owns every active session. Audio arrives at an input, goes to a
// bounded spool and from there to a provider. Confirmed segments go to the
// journal, then to readers, and periodically to the store. See
// docs/durability.md for what survives which failure.
package live

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/hearken-dev/hearken"
)

// Config configures a [Hub]. Store and Providers are required.
type Config struct {
	Dir       string // holds journal/ and spool/
	Store     hearken.Store
	Providers []hearken.Provider
	// Chain names the providers of sessions that ask for none: the default, and
	// those to use when it fails. If it is empty, only the first provider is
	// used.
	Chain []string
	// Captures names the providers of sessions with this computer's own audio,
	// in the same way: those that the owner named, or one that is offline. If it
	// is empty, they are those of Chain.
	Captures []string
	// ReturnAfter is how long a session that had to switch to another provider
	// waits before it first probes the preferred one. If it is 0, the session
	// never returns.
	ReturnAfter time.Duration

	// Languages maps a provider's name to the language of sessions that name
	// none. Other providers get DefaultLanguage.
	Languages       map[string]string
	DefaultLanguage string

	Vocabulary []string // names and terms for every session

	PersistSegments int           // segments after which the store is written
	PersistInterval time.Duration // time after which the store is written
	BufferChunks    int           // chunks of audio in memory before the disk
	SpoolSeconds    int           // seconds of audio on disk before any is dropped
	SpoolMemory     bool          // no audio on disk at all
	KeepAudio       bool          // keep every session's audio for Retranscribe
	ReturnWithin    time.Duration // how long a session waits for its sender to return
	ArriveWithin    time.Duration // how long a new session waits for its first sender
	MaxSessions     int           // more active ones are refused as busy
	Retention       time.Duration // stopped sessions older than this are deleted; 0 keeps them

	Retries     int           // consecutive failures before a provider is given up
	DrainWithin time.Duration // how long stopping waits for the last words

	// OnDeleted deletes what others have stored of a session's words: all that
	// was said between two seconds of its clock. It returns how many copies it
	// deleted. A deletion succeeds only if this does, and calls it after the
	// hub's own copy is gone. It may be called again for the same words.
	OnDeleted func(ctx context.Context, session string, from, to float64) (int, error)

	Log *slog.Logger
	Now func() time.Time // time.Now unless a test says otherwise
	// Fault is called inside confirm, journal and persist, where being killed
	// would hurt most. Tests use it to do just that.
	Fault func(point string)
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	c.PersistSegments = cmp.Or(c.PersistSegments, 10)
	c.BufferChunks = cmp.Or(c.BufferChunks, 100)
	c.SpoolSeconds = cmp.Or(c.SpoolSeconds, 600)
	c.MaxSessions = cmp.Or(c.MaxSessions, 2000)
	c.Retries = cmp.Or(c.Retries, 3)
	c.PersistInterval = cmp.Or(c.PersistInterval, 30*time.Second)
	c.ReturnWithin = cmp.Or(c.ReturnWithin, time.Minute)
	c.ArriveWithin = cmp.Or(c.ArriveWithin, 10*time.Minute)
	c.DrainWithin = cmp.Or(c.DrainWithin, 30*time.Second)
	if len(c.Chain) == 0 && len(c.Providers) > 0 {
		c.Chain = []string{c.Providers[0].Name()}
	}
	if len(c.Captures) == 0 {
		c.Captures = c.Chain
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.OnDeleted == nil {
		c.OnDeleted = func(context.Context, string, float64, float64) (int, error) { return 0, nil }
	}
	if c.Fault == nil {
		c.Fault = func(string) {}
	}
	return c
}

// ReadRequest asks for entries of one session.
type ReadRequest struct {
	Session string
	// From is the number of entries to skip. A negative one counts from the
	// end: -50 is the newest 50.
	From    int
	Limit   int // at most this many; 0 for 50
	Words   bool
	Interim bool          // also unconfirmed segments
	Wait    time.Duration // how long to wait if there is nothing after From
}

// A Page is what a read returns.
type Page struct {
	Session  hearken.Session
	Segments []hearken.Segment // confirmed entries, in order
	Interim  []hearken.Segment // unconfirmed segments, at most one per channel
	Total    int               // confirmed entries in the session
	Next     int               // From of the read that continues after this page
	More     bool              // whether more entries exist already
}

// Status describes how one session is doing.
type Status struct {
	Session       hearken.Session
	Sender        string     // "connected", "waiting" or "none"
	LastAudio     *time.Time // when the last audio arrived
	LastWord      *time.Time // when the last word was confirmed
	Lag           float64    // seconds of audio that the engine has not processed
	Dropped       float64    // seconds of audio that were lost because the spool was full
	SpoolBytes    int64
	Unsaved       int      // entries that the store does not have yet
	Durable       bool     // every shown entry is in the journal or the store
	StoreError    string   // why the last write to the store failed; empty if it succeeded
	Engine        string   // the provider in use, perhaps not the session's own
	Remote        []string // the session's providers that take its audio to another computer
	Backlog       float64  // seconds of audio that wait for an engine
	ProviderState string   // "idle", "open", "retrying" or "failed"
	// Health is the summary: "ok", "waiting_for_audio", "silent" (audio but no
	// words), "lagging", "storage_trouble", "provider_trouble" or "stopped".
	Health string
}
