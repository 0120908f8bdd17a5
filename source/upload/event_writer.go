package upload

import (
	"bytes"
	"cmp"
	"net/http"

	"github.com/hearken-dev/hearken"
)

// An eventWriter writes a growing transcript as server-sent events. It writes
// the header with the first event, so that an earlier failure still gets its
// own status.
type eventWriter struct {
	w          http.ResponseWriter
	job        *job
	diarized   bool
	headerSent bool
	written    int    // segments so far
	turns      int    // parts of them, one per speaker
	last       string // text
}

// deltas writes the segments that are new.
func (e *eventWriter) deltas() error {
	e.job.mu.Lock()
	fresh := e.job.segments[e.written:]
	e.job.mu.Unlock()
	e.written += len(fresh)
	for _, s := range fresh {
		pieces := []hearken.Segment{s}
		if e.diarized {
			pieces = splitBySpeaker(s)
		}
		for i := range pieces {
			if err := e.writeText(&pieces[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeText writes one confirmed text.
func (e *eventWriter) writeText(s *hearken.Segment) error {
	text := oneLine(s.Text)
	language := cmp.Or(s.Language, e.job.request.Language)
	delta := struct {
		Type    string `json:"type"`
		Delta   string `json:"delta"`
		Segment string `json:"segment_id,omitempty"`
	}{Type: "transcript.text.delta", Delta: separator(e.last, text, language) + text}
	e.last = text
	if !e.diarized {
		return e.event(encode(delta))
	}
	turn := newDiarized(s, e.turns)
	e.turns++
	delta.Segment = turn.ID
	if err := e.event(encode(delta)); err != nil {
		return err
	}
	return e.event(encode(turn))
}

// done writes the whole text once more, with the usage.
func (e *eventWriter) done(t *transcript) error {
	return e.event(encode(struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Usage usage  `json:"usage"`
	}{"transcript.text.done", t.text(), t.usage()}))
}

// event writes one event. It has no name, because the official clients would
// misread an unknown one.
func (e *eventWriter) event(data []byte) error {
	return e.write(append(append([]byte("data: "), bytes.TrimSpace(data)...), "\n\n"...))
}

// comment keeps proxies and clients from closing a quiet connection.
func (e *eventWriter) comment() error { return e.write([]byte(": listening\n\n")) }

func (e *eventWriter) write(b []byte) error {
	if !e.headerSent {
		e.headerSent = true
		e.setRequestID()
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.Header().Set("Cache-Control", "no-cache")
	}
	if _, err := e.w.Write(b); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// setRequestID names the session in which the recording is stored.
func (e *eventWriter) setRequestID() {
	e.job.mu.Lock()
	defer e.job.mu.Unlock()
	if e.job.id != "" {
		e.w.Header().Set("X-Request-Id", e.job.id)
	}
}
