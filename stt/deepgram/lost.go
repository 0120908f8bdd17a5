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

// lost says what the end of the connection means: nil if the server had
// nothing more to say.
func (s *stream) lost(err error) error {
	s.mu.Lock()
	cause := s.cause
	finishing := !s.closedAt.IsZero()
	done := s.through >= s.clock.pos()
	s.mu.Unlock()
	if cause != nil {
		return cause
	}
	code := websocket.CloseStatus(err)
	if finishing && (code == websocket.StatusNormalClosure || done) {
		return nil
	}
	why := s.closeReason(code, err)
	if s.complaint != "" {
		why += " after the error: " + strings.TrimSuffix(s.complaint, ".")
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "%s.", why)
}

// closeReason says in plain words why the server ended the connection.
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
		return "Deepgram could not decode the sound (" + said + ")"
	case strings.Contains(reason, "NET-0000"):
		return "Deepgram ended the stream because it had nothing to say for too long (" + said + ")"
	case strings.Contains(reason, "NET-0001"):
		return "Deepgram ended the stream because it got no sound in time (" + said + ")"
	case code == websocket.StatusNormalClosure, code == websocket.StatusGoingAway, code == websocket.StatusNoStatusRcvd:
		return "Deepgram ended the stream before its time (" + said + ")"
	}
	return "Deepgram broke off the stream (" + said + ")"
}

func errGarbled() error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram sent something that is not in its protocol.")
}

func errStalled(after time.Duration) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram got sound and did not stir for %s.", after)
}

func errDrain(after time.Duration) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram did not finish the stream and said nothing for %s.", after)
}
