package listen

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Refuse answers a request with an error in Deepgram's form. It is what the
// door in front uses too, so that clients find a 401 where they look for it.
// Only a [*hearken.Error] is shown; another is the hub's own affair.
func Refuse(w http.ResponseWriter, status int, err error) {
	id := w.Header().Get("dg-request-id")
	if id == "" {
		id = newID()
	}
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

// refuse answers what begin returned.
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

// statusOf is the status for an error of the hub's. Clients repeat what fails
// with 429 and 5xx, and nothing else.
func statusOf(err error) int {
	if errors.Is(err, errClosing) {
		return http.StatusServiceUnavailable
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
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

// headerText makes a sentence fit for a header: one line of ASCII.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// newID makes a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return formatID(b, 4)
}

// modelID makes the UUID of a model out of what it is called, so that it is
// the same wherever the model is.
func modelID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return formatID([16]byte(sum[:16]), 8)
}

func formatID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
