package upload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
)

// A failure is an error in the form of OpenAI's API.
type failure struct {
	status     int
	message    string
	kind       string // "invalid_request_error", "requests" or "server_error"
	param      string // the wrong field; may be empty
	code       string // may be empty
	retryAfter time.Duration
	noRetry    bool // the same request would fail again, so clients should not retry
	cause      error
}

func (f *failure) Error() string { return f.message }
func (f *failure) Unwrap() error { return f.cause }

// invalid is a mistake of the client.
func invalid(param, code, format string, args ...any) *failure {
	return &failure{
		status: http.StatusBadRequest, kind: "invalid_request_error", param: param, code: code,
		message: fmt.Sprintf(format, args...),
	}
}

// unavailableFailure is a failure of the hub that may pass.
func unavailableFailure(code, format string, args ...any) *failure {
	return &failure{
		status: http.StatusServiceUnavailable, kind: "server_error", code: code, retryAfter: 10 * time.Second,
		message: fmt.Sprintf(format, args...),
	}
}

// busyFor is how long clients should wait for a busy hub.
const busyFor = 5 * time.Second

// failureOf converts an error of the hub to OpenAI's form.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	he, ok := errors.AsType[*hearken.Error](err)
	if !ok {
		return &failure{
			status: http.StatusInternalServerError, kind: "server_error", cause: err,
			message: "The server had an error while processing your request. Sorry about that!",
		}
	}
	f := &failure{status: http.StatusBadRequest, kind: "invalid_request_error", message: he.Error(), code: string(he.Code), cause: err}
	switch he.Code {
	case hearken.Invalid:
	case hearken.ProviderNotConfigured:
		f.param = "model"
	case hearken.Undecodable:
		f.param = "file"
	case hearken.Unauthorized:
		f.status, f.code = http.StatusUnauthorized, "invalid_api_key"
	case hearken.Forbidden:
		f.status = http.StatusForbidden
	case hearken.NotFound, hearken.SessionNotFound:
		f.status = http.StatusNotFound
	case hearken.Busy:
		f.status, f.kind, f.code, f.retryAfter = http.StatusTooManyRequests, "requests", "rate_limit_exceeded", busyFor
	case hearken.APIKeyMissing: // the engine's key, which the client cannot change
		f.status, f.kind, f.noRetry = http.StatusServiceUnavailable, "server_error", true
	case hearken.ProviderConnectionFailed:
		f.status, f.kind, f.retryAfter = http.StatusServiceUnavailable, "server_error", 10*time.Second
	default:
		f.status, f.kind = http.StatusInternalServerError, "server_error"
	}
	return f
}

// WriteError answers with an error in OpenAI's form. The server uses it for
// requests that it refuses before the [Handler] sees them. If status is 0, it
// follows from the error's code.
func WriteError(w http.ResponseWriter, status int, err error) {
	f := *failureOf(err)
	if status != 0 && status != f.status {
		f.status = status
		f.kind, f.code = "invalid_request_error", string(hearken.CodeOf(err))
		switch {
		case status == http.StatusUnauthorized:
			f.code = "invalid_api_key"
		case status == http.StatusTooManyRequests:
			f.kind, f.code = "requests", "rate_limit_exceeded"
		case status >= 500:
			f.kind = "server_error"
		}
	}
	f.write(w)
}

func (f *failure) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if f.retryAfter > 0 && h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	if f.noRetry {
		h.Set("X-Should-Retry", "false")
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(f.body())
}

// body is the JSON of the error, with a final newline.
func (f *failure) body() []byte {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	d := detail{Message: f.message, Type: f.kind}
	if f.param != "" {
		d.Param = &f.param
	}
	if f.code != "" {
		d.Code = &f.code
	}
	return encode(map[string]detail{"error": d})
}

// encode returns JSON with a final newline.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // nothing that is encoded here can fail
	return b.Bytes()
}

// fail answers with an error, and logs it if clients do not get its text.
func (h *Handler) fail(w http.ResponseWriter, err error) {
	f := failureOf(err)
	if f.status == http.StatusInternalServerError {
		h.cfg.Log.Error("upload failed", "err", err)
	}
	f.write(w)
}

// Unknown answers requests for addresses that are not part of the API, with
// OpenAI's error. The server mounts it beside the [Routes].
func Unknown(w http.ResponseWriter, r *http.Request) {
	f := invalid("", "unknown_url", "Unknown request URL: %s %.200s.", r.Method, r.URL.Path)
	f.status = http.StatusNotFound
	if slices.Contains(UnknownRoutes, r.URL.Path) {
		f.message += " Try: a base URL that ends in /v1"
	}
	switch r.URL.Path {
	case "/v1/audio/transcriptions", "/v1/audio/translations":
		f = invalid("", "method_not_supported", "Not allowed to %s on %s. Use POST.", r.Method, r.URL.Path)
		f.status = http.StatusMethodNotAllowed
		w.Header().Set("Allow", "POST")
	}
	f.write(w)
}
