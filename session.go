package hearken

import (
	"regexp"
	"time"
)

// SessionStatus says whether a session still grows.
type SessionStatus string

const (
	Active  SessionStatus = "active"
	Stopped SessionStatus = "stopped"
)

// Reasons why a session stopped.
const (
	StopRequested      = "requested"       // a caller stopped it
	StopFinished       = "finished"        // the sender said that it was done
	StopSenderGone     = "sender_gone"     // the sender disconnected and did not return
	StopNoAudio        = "no_audio"        // no sender ever connected
	StopProviderFailed = "provider_failed" // every engine failed
	StopShutdown       = "shutdown"        // the hub stopped
)

// A Session is one transcription: an append-only log of entries with
// increasing line numbers. It is active first and then stopped.
type Session struct {
	ID           string        `json:"id"` // a UUID in its canonical form
	Title        string        `json:"title,omitempty"`
	Status       SessionStatus `json:"status"`
	StopReason   string        `json:"stopReason,omitempty"`
	Language     string        `json:"language"`
	Provider     string        `json:"provider"`
	StartedAt    time.Time     `json:"startedAt"`
	StoppedAt    *time.Time    `json:"stoppedAt,omitempty"`
	Duration     float64       `json:"duration"`     // seconds of audio
	SegmentCount int           `json:"segmentCount"` // the highest line number so far
	Config       SessionConfig `json:"config"`

	// Epoch grows each time the session is picked up again after a crash.
	Epoch int `json:"epoch"`
	// Principal is who started the session: "local", "loopback" or a key's id.
	Principal string `json:"principal,omitempty"`
}

// SessionConfig is what a session was started with, and what its audio turned
// out to be.
type SessionConfig struct {
	Encoding   string   `json:"encoding,omitempty"`   // as the sender declared it, or as detected
	SampleRate int      `json:"sampleRate,omitempty"` // of the sender
	Channels   int      `json:"channels,omitempty"`
	Model      string   `json:"model,omitempty"`
	Vocabulary []string `json:"vocabulary,omitempty"`
	KeepAudio  bool     `json:"keepAudio,omitempty"`
	Translate  bool     `json:"translate,omitempty"` // add an English translation of every confirmed entry
	Recorded   bool     `json:"recorded,omitempty"`  // a recording, for whose words nobody waits
	Capture    bool     `json:"capture,omitempty"`   // the audio is this computer's own; see [Scribe]

	// Endpointing is the pause in milliseconds that ends a segment: 0 for the
	// engine's default, negative for none.
	Endpointing int `json:"endpointing,omitempty"`
	// Chain lists the engines that take over, in this order, when Provider
	// fails.
	Chain []string `json:"chain,omitempty"`
	// OutOfOrder says that some entries were confirmed after later ones, because
	// no engine was available when they were said.
	OutOfOrder bool `json:"filled,omitempty"`
}

// SessionFilter selects sessions. The zero value selects all.
type SessionFilter struct {
	Status SessionStatus // empty for all
	Since  time.Time     // started at or after
	Until  time.Time     // started before
	Limit  int           // 0 for no limit
}

// ValidID reports whether id is a UUID in the form that sessions use:
// lower-case hexadecimal with dashes. Such an id is safe as a file name.
func ValidID(id string) bool { return idForm.MatchString(id) }

var idForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// A Note is a markdown text saved with a session, such as an agent's summary.
type Note struct {
	Session string    `json:"sessionId"`
	Text    string    `json:"text"`
	SavedAt time.Time `json:"savedAt"`
	By      string    `json:"by,omitempty"` // the principal that saved it
}
