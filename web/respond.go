package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hearken-dev/hearken"
)

// maxBody bounds what the page sends, such as a PIN or a reason.
const maxBody = 16 << 10

// decode reads a request's JSON body, or answers that it cannot.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, hearken.Errorf(hearken.Invalid, "Cannot read the request: %w.", err))
		return false
	}
	return true
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the browser may have gone
}

// errorForPage returns an error as the page shows it, without internal texts.
func errorForPage(err error) *hearken.Error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e
	}
	return &hearken.Error{Message: "The hub could not do that."}
}

func refuse(w http.ResponseWriter, err error) {
	respond(w, statusOf(hearken.CodeOf(err)), map[string]*hearken.Error{"error": errorForPage(err)})
}

// fail answers with an error of the hub. The page does not show the text of an
// internal error, so fail logs it.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if hearken.CodeOf(err) == "" && !errors.Is(err, context.Canceled) {
		h.log.Error("page request failed", "path", r.URL.Path, "error", err)
	}
	refuse(w, err)
}

func statusOf(code hearken.Code) int {
	switch code {
	case hearken.Unauthorized:
		return http.StatusUnauthorized
	case hearken.Forbidden:
		return http.StatusForbidden
	case hearken.NotFound, hearken.SessionNotFound:
		return http.StatusNotFound
	case hearken.RateLimited:
		return http.StatusTooManyRequests
	case hearken.Invalid, hearken.DurationOutOfRange:
		return http.StatusBadRequest
	case hearken.AuditUnavailable, hearken.ActionsPaused, hearken.Busy:
		return http.StatusServiceUnavailable
	case "", hearken.RepositoryError:
		return http.StatusInternalServerError
	}
	return http.StatusConflict // the action has changed since the page showed it
}
