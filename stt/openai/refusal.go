package openai

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// readRefusal reads what the server answered, without the key even if the
// server repeats it.
func readRefusal(resp *http.Response, key string) *stt.Refusal {
	r := &stt.Refusal{
		Status:    resp.StatusCode,
		RequestID: stt.Redact(resp.Header.Get("x-request-id"), key),
		After:     stt.RetryAfter(resp.Header),
	}
	const enough = 64 << 10
	if b, err := io.ReadAll(io.LimitReader(resp.Body, enough)); err == nil {
		parseRefusal(r, b, key)
	}
	return r
}

// parseRefusal finds the reason in the body of an answer, in OpenAI's form or
// in that of the frameworks that other servers use.
func parseRefusal(r *stt.Refusal, b []byte, key string) {
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
		if loc := list[0].Loc; len(loc) > 0 {
			object.Param = loc[len(loc)-1] // the last is the most precise
		}
	case json.Unmarshal(body.Error, &object) == nil || json.Unmarshal(body.Detail, &object) == nil:
	}
	word := func(values ...any) string {
		for _, v := range values {
			if s, ok := v.(string); ok && s != "" {
				return stt.Redact(s, key)
			}
		}
		return ""
	}
	r.Code = word(object.Code, body.Code, object.Type)
	r.Param = word(object.Param, body.Param)
	r.Reason = stt.Redact(cmp.Or(text, object.Message, body.Message), key)
}

// rejectsAudio reports whether the server rejects the file, not how it was
// asked.
func rejectsAudio(r *stt.Refusal) bool {
	if r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity {
		return false
	}
	if r.Param == "file" {
		return true
	}
	about := strings.ToLower(r.Code + " " + r.Reason)
	return slices.ContainsFunc([]string{"too short", "too_short", "audio", "duration", "invalid file", "decode"},
		func(word string) bool { return strings.Contains(about, word) })
}

// isUnpaid reports whether the account has no money left. OpenAI says so with
// the status for too many requests.
func isUnpaid(r *stt.Refusal) bool {
	return r.Status == http.StatusPaymentRequired || strings.Contains(r.Code, "insufficient_quota") || strings.Contains(r.Code, "billing")
}

// refusalError makes the error that a person reads of a refusal. Its code tells the
// hub whether to retry.
func (p *Provider) refusalError(r *stt.Refusal) error {
	explain := func(code hearken.Code, message, try string) error {
		return r.Explain(code, p.server+" "+message, try)
	}
	switch s := r.Status; {
	case s == http.StatusUnauthorized:
		return explain(hearken.Unauthorized, "refused the key", "another key in OPENAI_API_KEY")
	case isUnpaid(r):
		return explain(hearken.Forbidden, "refused because its account is unpaid", "the account's billing, or another provider")
	case s == http.StatusForbidden:
		return explain(hearken.Forbidden, "does not allow this key to use the model or the service", "a key with more rights, or another model")
	case s == http.StatusTooManyRequests:
		return explain(hearken.Busy, "has had too many requests of this account", "")
	case s == http.StatusNotImplemented, s == http.StatusMethodNotAllowed:
		return explain(hearken.ProviderNotConfigured, "has no transcription endpoint there", "OPENAI_BASE_URL="+defaultBaseURL)
	case s >= 500:
		return explain(hearken.ProviderConnectionFailed, "has a problem", "")
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly:
		return explain(hearken.ProviderConnectionFailed, "did not accept the audio this time", "")
	case s == http.StatusRequestEntityTooLarge:
		return explain(hearken.ProviderNotConfigured, "takes no file of the size of an utterance", "a larger limit there: an utterance has up to 1 MB")
	case s == http.StatusNotFound && strings.Contains(strings.ToLower(r.Code+" "+r.Reason), "model"):
		return explain(hearken.ProviderNotConfigured, "has no such model", "another model in OPENAI_MODEL")
	case rejectsAudio(r):
		return explain(hearken.ProviderConnectionFailed, "could not use the audio", "")
	case s == http.StatusBadRequest, s == http.StatusUnprocessableEntity:
		return explain(hearken.ProviderNotConfigured, "refused what it was asked for", "another model or language")
	}
	return explain(hearken.ProviderNotConfigured, "has no transcription endpoint there", "OPENAI_BASE_URL="+defaultBaseURL)
}
