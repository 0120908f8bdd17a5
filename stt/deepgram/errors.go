package deepgram

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// connectionError is what the end of the connection means: nil if the server
// had sent everything.
func (s *stream) connectionError(err error) error {
	s.mu.Lock()
	cause := s.cause
	finishing := !s.closedAt.IsZero()
	done := s.finalUntil >= s.clock.pos()
	s.mu.Unlock()
	if cause != nil {
		return cause
	}
	code := websocket.CloseStatus(err)
	if finishing && (code == websocket.StatusNormalClosure || done) {
		return nil
	}
	why := s.closeReason(code, err)
	if s.serverError != "" {
		why += " after the error: " + strings.TrimSuffix(s.serverError, ".")
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "%s.", why)
}

// closeReason says why the server ended the connection.
func (s *stream) closeReason(code websocket.StatusCode, err error) string {
	if code == -1 { // no close frame: what others call 1006
		return "The connection to Deepgram was lost"
	}
	said := fmt.Sprintf("%d", code)
	reason := ""
	if e, ok := errors.AsType[websocket.CloseError](err); ok {
		reason = stt.Redact(e.Reason, s.key)
	}
	if reason != "" {
		said += " " + reason
	}
	switch {
	case strings.Contains(reason, "DATA-0000"):
		return "Deepgram could not decode the audio (" + said + ")"
	case strings.Contains(reason, "NET-0000"):
		return "Deepgram ended the stream because nothing was said for too long (" + said + ")"
	case strings.Contains(reason, "NET-0001"):
		return "Deepgram ended the stream because it got no audio in time (" + said + ")"
	case code == websocket.StatusNormalClosure, code == websocket.StatusGoingAway, code == websocket.StatusNoStatusRcvd:
		return "Deepgram ended the stream too early (" + said + ")"
	}
	return "Deepgram aborted the stream (" + said + ")"
}

func errGarbled() error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram sent something that is not part of its protocol.")
}

func errStalled(after time.Duration) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram got audio and did not answer for %s.", after)
}

func errDrain(after time.Duration) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram did not finish the stream and sent nothing for %s.", after)
}
