package deepgram

import (
	"cmp"
	"encoding/json"
	"errors"
)

// What is sent besides audio, always as text.
const (
	keepAlive   = `{"type":"KeepAlive"}`
	finalize    = `{"type":"Finalize"}`
	closeStream = `{"type":"CloseStream"}`
)

const results = "Results"

// A message is what the server sends: the fields of all kinds of messages that
// matter here. Times are seconds on the connection's clock.
type message struct {
	Type string `json:"type"`

	// Results
	Start        float64 `json:"start"`
	Duration     float64 `json:"duration"`
	IsFinal      bool    `json:"is_final"`
	SpeechFinal  bool    `json:"speech_final"`  // somebody paused
	FromFinalize bool    `json:"from_finalize"` // the answer to Finalize
	Channel      struct {
		Alternatives []alternative `json:"alternatives"`
	} `json:"channel"`

	Timestamp   float64 `json:"timestamp"`     // SpeechStarted
	LastWordEnd float64 `json:"last_word_end"` // UtteranceEnd

	// Error; servers that are like Deepgram's use one or the other.
	Description string `json:"description"`
	Message     string `json:"message"`
}

func parseMessage(b []byte) (message, error) {
	var m message
	err := json.Unmarshal(b, &m)
	// Only in Results is "channel" an object. Elsewhere it is a pair of numbers
	// that is not needed; the rest of the message is valid.
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && m.Type != "" && m.Type != results {
		err = nil
	}
	return m, err
}

func (m *message) end() float64 { return m.Start + max(0, m.Duration) }

// bestAlternative is the server's first choice.
func (m *message) bestAlternative() alternative {
	if len(m.Channel.Alternatives) == 0 {
		return alternative{}
	}
	return m.Channel.Alternatives[0]
}

type alternative struct {
	Transcript string   `json:"transcript"`
	Confidence float64  `json:"confidence"`
	Languages  []string `json:"languages"`
	Words      []word   `json:"words"`
}

type word struct {
	Word       string   `json:"word"`
	Punctuated string   `json:"punctuated_word"`
	Start      float64  `json:"start"`
	End        float64  `json:"end"`
	Confidence *float64 `json:"confidence"`
	Speaker    *int     `json:"speaker"`
	Language   string   `json:"language"`
}

// text is the word as it is written.
func (w *word) text() string { return cmp.Or(w.Punctuated, w.Word) }
