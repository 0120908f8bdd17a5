package hearken

import (
	"strings"
	"time"
)

// Origin says where the audio of an entry came from.
type Origin string

const (
	Microphone  Origin = "M" // You: the microphone, or the only channel
	System      Origin = "S" // Them: system audio, or the second channel
	EventOrigin Origin = "E" // no audio: an event that the hub wrote
)

// Side names the origin for people: "You", "Them", or nothing for an event.
func (o Origin) Side() string {
	switch o {
	case Microphone:
		return "You"
	case System:
		return "Them"
	}
	return ""
}

// Status says whether an entry is final, and of what sort it is.
type Status string

const (
	Unconfirmed Status = "U" // may still change; never stored
	Confirmed   Status = "C" // final
	Translated  Status = "T" // a translation of a confirmed entry
	NoSpeech    Status = "N" // audio without speech, or unintelligible speech
)

// An EventKind says what an event is about.
type EventKind string

// The events that the hub writes into a transcript.
const (
	EventGap       EventKind = "gap"       // audio was lost, or has no words yet
	EventDelay     EventKind = "delay"     // the engine failed; its audio waits for another attempt
	EventFilled    EventKind = "filled"    // audio that had to wait was transcribed
	EventFailover  EventKind = "failover"  // another engine continues
	EventForgotten EventKind = "forgotten" // entries were deleted on request
)

// A Segment is one entry of a session's transcript: a stretch of speech, a
// stretch without speech, or an event. A confirmed segment never changes.
type Segment struct {
	ID         string    `json:"id"`
	Line       int       `json:"line"` // 1 for the first entry; set when confirmed
	Origin     Origin    `json:"source"`
	Status     Status    `json:"status"`
	Text       string    `json:"text"`
	Words      []Word    `json:"words"`
	StartTime  float64   `json:"startTime"` // seconds on the session's clock
	EndTime    float64   `json:"endTime"`
	Confidence *float64  `json:"confidence,omitempty"` // expected word accuracy, 0 to 1
	Speaker    *int      `json:"speaker,omitempty"`
	Language   string    `json:"language,omitempty"`
	IsFinal    bool      `json:"isFinal"`
	Timestamp  time.Time `json:"timestamp"` // wall time of StartTime
	Echo       bool      `json:"echo,omitempty"`
	Durable    bool      `json:"durable"`         // false if it could not be journaled before it was shown
	Event      EventKind `json:"event,omitempty"` // what an event is about; empty for all other entries

	// Original is the engine's own text where a vocabulary corrected it.
	Original string `json:"original,omitempty"`
	// Estimated says that the word times were spread evenly over the segment
	// and not measured.
	Estimated bool `json:"estimated,omitempty"`
}

// Spoken reports whether the entry holds words that somebody said.
func (s *Segment) Spoken() bool {
	return s.Origin != EventOrigin && s.Status != NoSpeech && s.Text != ""
}

// SaidBetween reports whether the entry is about audio between two seconds of
// the session's clock. An event never is.
func (s *Segment) SaidBetween(from, to float64) bool {
	return s.Origin != EventOrigin && s.EndTime > from && s.StartTime < to
}

// EventKind returns the kind of an event, or "" for speech. Entries stored before
// events had a kind are recognised by their text.
func (s *Segment) EventKind() EventKind {
	switch {
	case s.Origin != EventOrigin:
		return ""
	case s.Event != "":
		return s.Event
	case strings.HasPrefix(s.Text, "[gap"):
		return EventGap
	case strings.HasSuffix(s.Text, "transcribed later]"):
		return EventFilled
	case strings.HasSuffix(s.Text, "wait to be transcribed]"):
		return EventDelay
	case strings.Contains(s.Text, " Going on with ") && strings.HasSuffix(s.Text, ".]"):
		return EventFailover
	case strings.HasSuffix(s.Text, "forgotten on request]"):
		return EventForgotten
	}
	return ""
}

// A Word is one word of a segment. Its times are on the session's clock.
type Word struct {
	Word       string   `json:"word"`
	StartTime  float64  `json:"startTime"`
	EndTime    float64  `json:"endTime"`
	Confidence *float64 `json:"confidence,omitempty"`
	Speaker    *int     `json:"speaker,omitempty"`
}
