package listen

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/hearken-dev/hearken"
)

// Refuse answers a request with an error in Deepgram's form. The server uses it
// too, so that clients find a 401 where they look for it. Only the text of a
// [*hearken.Error] is shown.
func Refuse(w http.ResponseWriter, status int, err error) {
	id := cmp.Or(w.Header().Get("dg-request-id"), uuid.NewString())
	message := "The hub failed; its log says why."
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		message = e.Error()
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("dg-request-id", id)
	h.Set("dg-error", headerText(message))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Code    string `json:"err_code"`
		Message string `json:"err_msg"`
		Request string `json:"request_id"`
	}{errorCode(status), message, id})
}

// refuse answers with an error that begin returned.
func (h *Handler) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		h.cfg.Log.Error("stream not started", "error", err)
	}
	Refuse(w, status, err)
}

// errorCode is Deepgram's name for a status.
func errorCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "INVALID_AUTH"
	case http.StatusPaymentRequired:
		return "ASR_PAYMENT_REQUIRED"
	case http.StatusForbidden:
		return "INSUFFICIENT_PERMISSIONS"
	case http.StatusTooManyRequests:
		return "TOO_MANY_REQUESTS"
	}
	return http.StatusText(status)
}

// statusOf is the status for an error of the hub. Clients retry only 429 and
// 5xx.
func statusOf(err error) int {
	if errors.Is(err, errClosing) {
		return http.StatusServiceUnavailable
	}
	if isTooLarge(err) {
		return http.StatusRequestEntityTooLarge
	}
	switch hearken.CodeOf(err) {
	case hearken.Invalid, hearken.ProviderNotConfigured, hearken.APIKeyMissing:
		return http.StatusBadRequest
	case hearken.Unauthorized:
		return http.StatusUnauthorized
	case hearken.Forbidden, hearken.SessionAlreadyActive:
		return http.StatusForbidden
	case hearken.Busy:
		return http.StatusTooManyRequests
	case hearken.ProviderConnectionFailed:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// isTooLarge reports whether a body had more bytes than it may.
func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}

// headerText makes a sentence one line of ASCII for a header.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// modelID derives a UUID from a model's name, so that it is the same everywhere.
func modelID(name string) string {
	sum := sha256.Sum256([]byte(name))
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 8<<4 // version 8: of our own making
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
