package listen

import (
	"slices"
	"sync/atomic"

	"github.com/hearken-dev/hearken"
)

// A speakerCheck remembers whether an engine tells speakers apart.
type speakerCheck struct {
	spoken   atomic.Bool // there were words
	speakers atomic.Bool // one of them had a speaker
}

// add looks at a confirmed segment.
func (s *speakerCheck) add(seg *hearken.Segment) {
	if seg.Status != hearken.Confirmed || !seg.Spoken() {
		return
	}
	s.spoken.Store(true)
	if seg.Speaker != nil || slices.ContainsFunc(seg.Words, func(w hearken.Word) bool { return w.Speaker != nil }) {
		s.speakers.Store(true)
	}
}

// warnings say what was asked for and not done. They are part of the metadata.
func (c *conn) warnings() []warning {
	var list []warning
	if c.opts.diarize && c.speakers.spoken.Load() && !c.speakers.speakers.Load() {
		list = append(list, warning{"diarize", "unsupported_model",
			"The engine " + c.session.Provider + " does not tell speakers apart, so no word has a speaker. Try: an engine that does, such as model=deepgram, or multichannel=true for a call with one side on each channel"})
	}
	if doubt := c.doubt.Load(); doubt != nil {
		list = append(list, warning{"encoding", "unsupported_encoding", *doubt})
	}
	return list
}
