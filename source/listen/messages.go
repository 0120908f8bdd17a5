package listen

import (
	"cmp"

	"github.com/hearken-dev/hearken"
)

// Deepgram's messages, in its order of fields.
type (
	results struct {
		Type         string   `json:"type"`
		ChannelIndex [2]int   `json:"channel_index"`
		Duration     float64  `json:"duration"`
		Start        float64  `json:"start"`
		IsFinal      bool     `json:"is_final"`
		SpeechFinal  bool     `json:"speech_final"`
		Channel      channel  `json:"channel"`
		Metadata     metadata `json:"metadata"`
		FromFinalize bool     `json:"from_finalize"`
	}
	channel struct {
		Alternatives [1]alternative `json:"alternatives"`
	}
	alternative struct {
		Transcript string      `json:"transcript"`
		Confidence float64     `json:"confidence"`
		Languages  []string    `json:"languages,omitempty"`
		Words      []word      `json:"words"`
		Paragraphs *paragraphs `json:"paragraphs,omitempty"`
	}
	paragraphs struct {
		Transcript string      `json:"transcript"`
		Paragraphs []paragraph `json:"paragraphs"`
	}
	paragraph struct {
		Sentences []sentence `json:"sentences"`
		Speaker   *int       `json:"speaker,omitempty"`
		NumWords  int        `json:"num_words"`
		Start     float64    `json:"start"`
		End       float64    `json:"end"`
	}
	sentence struct {
		Text  string  `json:"text"`
		Start float64 `json:"start"`
		End   float64 `json:"end"`
	}
	word struct {
		Word       string  `json:"word"`
		Start      float64 `json:"start"`
		End        float64 `json:"end"`
		Confidence float64 `json:"confidence"`
		Punctuated string  `json:"punctuated_word,omitempty"`
		Speaker    *int    `json:"speaker,omitempty"`
		Language   string  `json:"language,omitempty"`
	}
	metadata struct {
		RequestID string            `json:"request_id"`
		ModelInfo modelInfo         `json:"model_info"`
		ModelUUID string            `json:"model_uuid"`
		Extra     map[string]string `json:"extra,omitempty"`
	}
	modelInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Arch    string `json:"arch"`
	}
	speechStarted struct {
		Type      string  `json:"type"`
		Channel   [2]int  `json:"channel"`
		Timestamp float64 `json:"timestamp"`
	}
	// An answer is the response to a whole recording.
	answer struct {
		Metadata summary  `json:"metadata"`
		Results  recorded `json:"results"`
	}
	recorded struct {
		Channels   []channel   `json:"channels"`
		Utterances []utterance `json:"utterances,omitempty"`
	}
	utterance struct {
		Start      float64 `json:"start"`
		End        float64 `json:"end"`
		Confidence float64 `json:"confidence"`
		Channel    int     `json:"channel"`
		Transcript string  `json:"transcript"`
		Words      []word  `json:"words"`
		Speaker    *int    `json:"speaker,omitempty"`
		ID         string  `json:"id"`

		languages []string
	}
	utteranceEnd struct {
		Type        string  `json:"type"`
		Channel     [2]int  `json:"channel"`
		LastWordEnd float64 `json:"last_word_end"`
	}
	summary struct {
		Type           string               `json:"type,omitempty"`
		TransactionKey string               `json:"transaction_key"`
		RequestID      string               `json:"request_id"`
		SHA256         string               `json:"sha256"`
		Created        string               `json:"created"`
		Duration       float64              `json:"duration"`
		Channels       int                  `json:"channels"`
		Models         []string             `json:"models"`
		ModelInfo      map[string]modelInfo `json:"model_info"`
		Warnings       []warning            `json:"warnings,omitempty"`
		Extra          map[string]string    `json:"extra,omitempty"`
	}
	// A warning says which parameter had no effect, and why.
	warning struct {
		Parameter string `json:"parameter"`
		Type      string `json:"type"` // one of Deepgram's
		Message   string `json:"message"`
	}
)

// metadataOf is the metadata of every result of a session.
func metadataOf(s *hearken.Session, version string, extra map[string]string) metadata {
	info := modelInfo{Name: cmp.Or(s.Config.Model, s.Provider), Version: version, Arch: s.Provider}
	return metadata{
		RequestID: s.ID,
		ModelInfo: info,
		ModelUUID: modelID(info.Arch + "/" + info.Name + "/" + info.Version),
		Extra:     extra,
	}
}

// summaryOf describes a stream as a whole.
func (c *conn) summaryOf(meta metadata) summary {
	s := summary{
		TransactionKey: "deprecated",
		RequestID:      meta.RequestID,
		SHA256:         c.audioHash(),
		Created:        c.startedAt.UTC().Format("2006-01-02T15:04:05.000Z"),
		Duration:       millis(c.seconds()),
		Models:         []string{meta.ModelUUID},
		ModelInfo:      map[string]modelInfo{meta.ModelUUID: meta.ModelInfo},
		Warnings:       c.warnings(),
		Extra:          meta.Extra,
	}
	if s.Duration > 0 {
		s.Channels = int(c.channels.Load())
	}
	return s
}

// A control is a sender's text message.
type control struct {
	Type    string `json:"type"`
	Channel *int   `json:"channel"`
}
