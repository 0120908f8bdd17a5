package deepgram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	done := s.finalUntil >= s.clock.endPosition()
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

func errStalled(after time.Duration) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram got audio and did not answer for %s.", after)
}

// readRefusal reads what the server answered, without the key even if the
// server repeats it.
func readRefusal(resp *http.Response, key string) *stt.Refusal {
	r := &stt.Refusal{
		Status:    resp.StatusCode,
		Reason:    resp.Header.Get("dg-error"),
		RequestID: stt.Redact(resp.Header.Get("dg-request-id"), key),
		After:     stt.RetryAfter(resp.Header),
	}
	var body struct {
		Code      string `json:"err_code"`
		Message   string `json:"err_msg"`
		Reason    string `json:"reason"` // in newer answers
		RequestID string `json:"request_id"`
	}
	if b, err := io.ReadAll(resp.Body); err == nil && json.Unmarshal(b, &body) == nil {
		r.Code = stt.Redact(body.Code, key)
		r.Reason = cmp.Or(r.Reason, body.Message, body.Reason)
		r.RequestID = cmp.Or(r.RequestID, stt.Redact(body.RequestID, key))
	}
	r.Reason = stt.Redact(r.Reason, key)
	return r
}

// refusalError makes the error that a person reads of a refusal. Its code tells the
// hub whether to retry.
func refusalError(r *stt.Refusal) error {
	// Only Deepgram, or a server like it, says any of these.
	fromDeepgram := r.Code != "" || r.Reason != "" || r.RequestID != ""
	switch {
	case r.Status == http.StatusUnauthorized:
		return r.Explain(hearken.Unauthorized, "Deepgram refused the key", "another key in DEEPGRAM_API_KEY")
	case r.Status == http.StatusPaymentRequired:
		return r.Explain(hearken.Forbidden, "Deepgram refused the stream because its account is unpaid", "console.deepgram.com, or another provider")
	case r.Status == http.StatusForbidden:
		return r.Explain(hearken.Forbidden, "Deepgram does not allow this key to use the model or the service", "a key with more rights, or another model")
	case r.Status == http.StatusTooManyRequests:
		return r.Explain(hearken.Busy, "Deepgram already has too many streams of this account", "")
	case r.Status >= 500:
		return r.Explain(hearken.ProviderConnectionFailed, "Deepgram has a problem", "")
	case r.Status == http.StatusBadRequest && fromDeepgram:
		return r.Explain(hearken.ProviderNotConfigured, "Deepgram refused the stream", "another model or language, or no extra parameters")
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly:
		return r.Explain(hearken.ProviderConnectionFailed, "Deepgram did not accept the stream this time", "")
	}
	return r.Explain(hearken.ProviderNotConfigured, "The server at Deepgram's base URL does not speak its protocol", "DEEPGRAM_BASE_URL="+defaultBaseURL)
}
