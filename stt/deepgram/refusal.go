package deepgram

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

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

// explain makes the error that a person reads of a refusal. Its code tells the
// hub whether to retry.
func explain(r *stt.Refusal) error {
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
