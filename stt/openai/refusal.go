package openai

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

// A Refusal is the cause of an error when the server answered, but not with
// what was said.
type Refusal struct {
	Status    int    // of HTTP
	Code      string // the server's own, such as invalid_api_key; may be empty
	Param     string // what it dislikes, such as response_format; may be empty
	Reason    string // in its words; may be empty
	RequestID string // by which the server's people find the request

	after time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("server answered %d %s %s (request %s)", r.Status, r.Code, r.Reason, r.RequestID)
}

// RetryAfter is how long the server asked to be left alone; zero if it did not
// say.
func (r *Refusal) RetryAfter() time.Duration { return r.after }

// newRefusal reads what the server answered. The key is kept out of it even if
// the server repeats it.
func newRefusal(resp *http.Response, key string, now time.Time) *Refusal {
	r := &Refusal{
		Status:    resp.StatusCode,
		RequestID: stt.Plain(resp.Header.Get("x-request-id"), key),
		after:     retryAfter(resp.Header, now),
	}
	const enough = 64 << 10
	if b, err := io.ReadAll(io.LimitReader(resp.Body, enough)); err == nil {
		r.parse(b, key)
	}
	return r
}

// parse finds the reason in the body of an answer, in OpenAI's form or in that
// of the frameworks in which others are written.
func (r *Refusal) parse(b []byte, key string) {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
		Param   any             `json:"param"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(b, &body) != nil {
		return
	}
	var object struct {
		Message string `json:"message"`
		Param   any    `json:"param"`
		Code    any    `json:"code"`
		Type    string `json:"type"`
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	var text string
	switch {
	case json.Unmarshal(body.Error, &text) == nil, json.Unmarshal(body.Detail, &text) == nil:
	case json.Unmarshal(body.Detail, &list) == nil && len(list) > 0:
		text = list[0].Msg
		for _, l := range list[0].Loc {
			object.Param = l // the last is the most precise
		}
	case json.Unmarshal(body.Error, &object) == nil || json.Unmarshal(body.Detail, &object) == nil:
	}
	word := func(values ...any) string {
		for _, v := range values {
			if s, ok := v.(string); ok && s != "" {
				return stt.Plain(s, key)
			}
		}
		return ""
	}
	r.Code = word(object.Code, body.Code, object.Type)
	r.Param = word(object.Param, body.Param)
	r.Reason = stt.Plain(cmp.Or(text, object.Message, body.Message), key)
}

// aboutSound tells whether the server dislikes the file, and not how it was
// asked.
func (r *Refusal) aboutSound() bool {
	if r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity {
		return false
	}
	if r.Param == "file" {
		return true
	}
	about := strings.ToLower(r.Code + " " + r.Reason)
	for _, word := range []string{"too short", "too_short", "audio", "duration", "invalid file", "decode"} {
		if strings.Contains(about, word) {
			return true
		}
	}
	return false
}

// unpaid tells whether the account has no money left, which OpenAI tells with
// the status of those who ask too often.
func (r *Refusal) unpaid() bool {
	return r.Status == http.StatusPaymentRequired || strings.Contains(r.Code, "insufficient_quota") || strings.Contains(r.Code, "billing")
}

// explain makes of the refusal what a person is told, with a code by which
// the hub knows whether to try again.
func (r *Refusal) explain(server string) error {
	e := &hearken.Error{Err: r}
	say := func(code hearken.Code, message, try string) {
		e.Code, e.Message, e.Try = code, server+" "+message, try
	}
	switch s := r.Status; {
	case s == http.StatusUnauthorized:
		say(hearken.Unauthorized, "refused the key", "another key in OPENAI_API_KEY")
	case r.unpaid():
		say(hearken.Forbidden, "refused because its account is unpaid", "the account's billing, or another provider")
	case s == http.StatusForbidden:
		say(hearken.Forbidden, "does not allow this key to use the model or the service", "a key with more rights, or another model")
	case s == http.StatusTooManyRequests:
		say(hearken.Busy, "has had too many requests of this account", "")
	case s == http.StatusNotImplemented, s == http.StatusMethodNotAllowed:
		say(hearken.ProviderNotConfigured, "has no transcription endpoint there", "OPENAI_BASE_URL="+defaultBaseURL)
	case s >= 500:
		say(hearken.ProviderConnectionFailed, "is not well", "")
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly:
		say(hearken.ProviderConnectionFailed, "did not take the sound this time", "")
	case s == http.StatusRequestEntityTooLarge:
		say(hearken.ProviderNotConfigured, "takes no file of the size of an utterance", "a larger limit there: an utterance has up to 1 MB")
	case s == http.StatusNotFound && strings.Contains(strings.ToLower(r.Code+" "+r.Reason), "model"):
		say(hearken.ProviderNotConfigured, "has no such model", "another model in OPENAI_MODEL")
	case r.aboutSound():
		say(hearken.ProviderConnectionFailed, "could not use the sound", "")
	case s == http.StatusBadRequest, s == http.StatusUnprocessableEntity:
		say(hearken.ProviderNotConfigured, "refused what it was asked for", "another model or language")
	default:
		say(hearken.ProviderNotConfigured, "has no transcription endpoint there", "OPENAI_BASE_URL="+defaultBaseURL)
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

// retryAfter is how long the server asks to be left alone: by the header of
// that name, in seconds or as a date; in milliseconds, as OpenAI tells its own
// clients; or until the allowance that is used up is there again.
func retryAfter(h http.Header, now time.Time) time.Duration {
	after := time.Duration(0)
	value := h.Get("Retry-After")
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		after = bounded(ms / 1000)
	} else if s, err := strconv.ParseFloat(value, 64); err == nil {
		after = bounded(s)
	} else if t, err := http.ParseTime(value); err == nil {
		after = t.Sub(now)
	} else {
		for _, what := range []string{"requests", "tokens", "audio-seconds"} {
			if left := h.Get("x-ratelimit-remaining-" + what); left != "0" {
				continue
			}
			if d, err := time.ParseDuration(h.Get("x-ratelimit-reset-" + what)); err == nil {
				after = max(after, d)
			}
		}
	}
	return min(max(0, after), time.Hour)
}

// bounded is a time of so many seconds, at most an hour.
func bounded(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 3600) * float64(time.Second))
}
