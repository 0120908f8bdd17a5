package hearken

import (
	"strings"
	"time"
)

// SessionStatus is where a session is in its life.
type SessionStatus string

const (
	Active  SessionStatus = "active"
	Stopped SessionStatus = "stopped"
)

// Reasons for which a session stopped.
const (
	StopRequested      = "requested"       // somebody asked for it
	StopFinished       = "finished"        // the sender said that it was done
	StopSenderGone     = "sender_gone"     // the sender left and did not return
	StopNoAudio        = "no_audio"        // no sender ever came
	StopProviderFailed = "provider_failed" // no engine was left
	StopShutdown       = "shutdown"        // the hub ended
)

// A Session is one transcription: an append-only log of entries with
// increasing line numbers, active first and then stopped.
type Session struct {
	ID           string        `json:"id"` // a UUID in its canonical form
	Title        string        `json:"title,omitempty"`
	Status       SessionStatus `json:"status"`
	StopReason   string        `json:"stopReason,omitempty"`
	Language     string        `json:"language"`
	Provider     string        `json:"provider"`
	StartedAt    time.Time     `json:"startedAt"`
	StoppedAt    *time.Time    `json:"stoppedAt,omitempty"`
	Duration     float64       `json:"duration"`     // seconds of sound heard
	SegmentCount int           `json:"segmentCount"` // entries in the log; the last one's line number
	Config       SessionConfig `json:"config"`

	// Epoch grows each time the session is picked up again after a crash.
	Epoch int `json:"epoch"`
	// Principal is who started the session: "local", "loopback" or a key's id.
	Principal string `json:"principal,omitempty"`
}

// SessionConfig is what a session was started with, and what its sound turned
// out to be.
type SessionConfig struct {
	Encoding   string   `json:"encoding,omitempty"`   // as the sender declared it, or as it was recognised
	SampleRate int      `json:"sampleRate,omitempty"` // of the sender
	Channels   int      `json:"channels,omitempty"`
	Model      string   `json:"model,omitempty"`
	Vocabulary []string `json:"vocabulary,omitempty"`
	KeepAudio  bool     `json:"keepAudio,omitempty"`
	Translate  bool     `json:"translate,omitempty"` // English beside every confirmed entry
	Recorded   bool     `json:"recorded,omitempty"`  // a recording: nobody waits for its words
	Capture    bool     `json:"capture,omitempty"`   // the sound is this computer's own; see [Scribe]

	// Endpointing is the pause in milliseconds that ends a segment: 0 for the
	// engine's own idea of it, negative for none.
	Endpointing int `json:"endpointing,omitempty"`
	// Chain is what the session goes on with, in this order, when Provider
	// fails.
	Chain []string `json:"chain,omitempty"`
	// OutOfOrder says that some entries were confirmed after later ones: an engine
	// was missing when they were said.
	OutOfOrder bool `json:"filled,omitempty"`
}

// SessionFilter chooses sessions. The zero value is every session.
type SessionFilter struct {
	Status SessionStatus // empty for all
	Since  time.Time     // started at or after
	Until  time.Time     // started before
	Limit  int           // 0 for no limit
}

// ValidID reports whether id is a UUID in the form that sessions use:
// lower-case hexadecimal with dashes. Everything that becomes a file name is
// checked with it.
func ValidID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, r := range id {
		switch i {
		case 8, 13, 18, 23:
			if r != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdef", r) {
				return false
			}
		}
	}
	return true
}

// A Note is a markdown text kept with a session: where an agent's summary
// lives.
type Note struct {
	Session string    `json:"sessionId"`
	Text    string    `json:"text"`
	SavedAt time.Time `json:"savedAt"`
	By      string    `json:"by,omitempty"` // the principal that saved it
}
