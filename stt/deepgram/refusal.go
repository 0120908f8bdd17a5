package deepgram

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// A Refusal is the cause of an error of [Provider.Open] when the server
// answered, but did not want the stream.
type Refusal struct {
	Status    int    // of HTTP
	Code      string // Deepgram's own, such as INVALID_AUTH; may be empty
	Reason    string // what the server said; may be empty
	RequestID string // by which Deepgram's support finds the request

	after time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("deepgram answered %d %s %s (request %s)", r.Status, r.Code, r.Reason, r.RequestID)
}

// RetryAfter is how long the server asked to be left alone; zero if it did not
// say.
func (r *Refusal) RetryAfter() time.Duration { return r.after }

// newRefusal reads what the server answered. The key is kept out of it even
// if the server repeats it.
func newRefusal(resp *http.Response, key string, now time.Time) *Refusal {
	// A date is meant by the server's clock, which need not be ours.
	if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now = t
	}
	r := &Refusal{
		Status:    resp.StatusCode,
		Reason:    resp.Header.Get("dg-error"),
		RequestID: stt.Plain(resp.Header.Get("dg-request-id"), key),
		after:     retryAfter(resp.Header.Get("Retry-After"), now),
	}
	var body struct {
		Code      string `json:"err_code"`
		Message   string `json:"err_msg"`
		Reason    string `json:"reason"` // in newer answers
		RequestID string `json:"request_id"`
	}
	if b, err := io.ReadAll(resp.Body); err == nil && json.Unmarshal(b, &body) == nil {
		r.Code = stt.Plain(body.Code, key)
		r.Reason = cmp.Or(r.Reason, body.Message, body.Reason)
		r.RequestID = cmp.Or(r.RequestID, stt.Plain(body.RequestID, key))
	}
	r.Reason = stt.Plain(r.Reason, key)
	return r
}

// signed reports whether the answer has anything that only Deepgram, or a
// server like it, would say.
func (r *Refusal) signed() bool { return r.Code != "" || r.Reason != "" || r.RequestID != "" }

// explain makes of the refusal what a person is told, with a code by which
// the hub knows whether to try again.
func (r *Refusal) explain() error {
	e := &hearken.Error{Code: hearken.ProviderConnectionFailed, Err: r}
	say := func(code hearken.Code, message, try string) {
		e.Code, e.Message, e.Try = code, message, try
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		say(hearken.Unauthorized, "Deepgram refused the key", "another key in DEEPGRAM_API_KEY")
	case r.Status == http.StatusPaymentRequired:
		say(hearken.Forbidden, "Deepgram refused the stream: its account is unpaid", "console.deepgram.com, or another provider")
	case r.Status == http.StatusForbidden:
		say(hearken.Forbidden, "Deepgram does not allow this key to use the model or the service", "a key with more rights, or another model")
	case r.Status == http.StatusTooManyRequests:
		say(hearken.Busy, "Deepgram has too many streams of this account already", "")
	case r.Status >= 500:
		say(hearken.ProviderConnectionFailed, "Deepgram is not well", "")
	case r.Status == http.StatusBadRequest && r.signed():
		say(hearken.ProviderNotConfigured, "Deepgram refused the stream", "another model or language, or no extra parameters")
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly:
		say(hearken.ProviderConnectionFailed, "Deepgram did not take the stream this time", "")
	default:
		say(hearken.ProviderNotConfigured, "What is at the base URL of Deepgram does not speak its protocol", "DEEPGRAM_BASE_URL="+defaultBaseURL)
	}
	e.Message += fmt.Sprintf(" (%d", r.Status)
	if r.Code != "" {
		e.Message += " " + r.Code
	}
	e.Message += ")"
	if r.Reason != "" {
		e.Message += ": " + strings.TrimSuffix(r.Reason, ".")
	}
	e.Message += "."
	return e
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	const most = time.Hour
	after := time.Duration(0)
	if n, err := strconv.Atoi(value); err == nil {
		after = time.Duration(min(n, 3600)) * time.Second
	} else if t, err := http.ParseTime(value); err == nil {
		after = t.Sub(now)
	}
	return min(max(0, after), most)
}
