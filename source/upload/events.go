package upload

import (
	"bytes"
	"net/http"

	"github.com/hearken-dev/hearken"
)

// An output writes a transcript while it grows, as server-sent events. The
// header waits for the first of them, so that what goes wrong before still has
// a status of its own.
type output struct {
	w        http.ResponseWriter
	hearing  *hearing
	diarized bool
	begun    bool
	told     int    // segments so far
	turns    int    // pieces of them
	last     string // piece
}

// deltas writes the segments that have come since.
func (o *output) deltas() error {
	o.hearing.mu.Lock()
	fresh := o.hearing.segments[o.told:]
	o.hearing.mu.Unlock()
	o.told += len(fresh)
	for _, s := range fresh {
		pieces := []hearken.Segment{s}
		if o.diarized {
			pieces = turns(s)
		}
		for i := range pieces {
			if err := o.piece(&pieces[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece writes one confirmed piece of text.
func (o *output) piece(s *hearken.Segment) error {
	text := oneLine(s.Text)
	language := s.Language
	if language == "" {
		language = o.hearing.request.Language
	}
	delta := struct {
		Type    string `json:"type"`
		Delta   string `json:"delta"`
		Segment string `json:"segment_id,omitempty"`
	}{Type: "transcript.text.delta", Delta: between(o.last, text, language) + text}
	o.last = text
	if !o.diarized {
		return o.event(encode(delta))
	}
	turn := newDiarized(s, o.turns)
	o.turns++
	delta.Segment = turn.ID
	if err := o.event(encode(delta)); err != nil {
		return err
	}
	return o.event(encode(turn))
}

// done writes the whole text once more, and for how long it was listened to.
func (o *output) done(t *transcript) error {
	return o.event(encode(struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Usage usage  `json:"usage"`
	}{"transcript.text.done", t.text(), t.usage()}))
}

// event writes one event. It has no name: the official clients would take a
// name that they do not know for something else.
func (o *output) event(data []byte) error {
	return o.write(append(append([]byte("data: "), bytes.TrimSpace(data)...), "\n\n"...))
}

// comment keeps proxies and clients from taking the connection for dead.
func (o *output) comment() error { return o.write([]byte(": listening\n\n")) }

func (o *output) write(b []byte) error {
	if !o.begun {
		o.begun = true
		o.identify()
		o.w.Header().Set("Content-Type", "text/event-stream")
		o.w.Header().Set("Cache-Control", "no-cache")
	}
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

// identify says under which session the recording is remembered.
func (o *output) identify() {
	o.hearing.mu.Lock()
	defer o.hearing.mu.Unlock()
	if o.hearing.id != "" {
		o.w.Header().Set("X-Request-Id", o.hearing.id)
	}
}
