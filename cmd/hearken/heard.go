package main

import (
	"fmt"

	"github.com/hearken-dev/hearken"
)

// A heard counts what an engine made of a recording, so that a command can say
// why it prints nothing.
type heard struct {
	understood    int
	notUnderstood int
	seconds       float64 // of speech that was not understood
}

func (h *heard) add(segments []hearken.Segment) {
	for i := range segments {
		switch s := &segments[i]; {
		case s.Spoken() && s.Status != hearken.Unconfirmed:
			h.understood++
		case s.Status == hearken.NoSpeech && s.Origin != hearken.EventOrigin && s.Text != "":
			h.notUnderstood++
			h.seconds += s.EndTime - s.StartTime
		}
	}
}

// remark says what is missing, in one sentence. It is empty if nothing is.
func (h *heard) remark() string {
	switch {
	case h.notUnderstood > 0 && h.understood > 0:
		return fmt.Sprintf("%.1f seconds of speech were not understood; they may be in another language.", h.seconds)
	case h.notUnderstood > 0:
		return fmt.Sprintf("There are %.1f seconds of speech, but the engine understood none of it; it may be in another language.", h.seconds)
	case h.understood == 0:
		return "No words were heard: there is no speech, or it is in another language."
	}
	return ""
}
