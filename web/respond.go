package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hearken-dev/hearken"
)

// maxBody bounds what the page sends, such as a PIN, a reason, or the digests of
// all that it shows.
const maxBody = 16 << 10

// A handlerFunc returns what to answer as JSON. Both results are nil if it has
// answered.
type handlerFunc func(w http.ResponseWriter, r *http.Request) (any, error)

// handle registers a handler.
func (h *Handler) handle(pattern string, run handlerFunc) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		answer, err := run(w, r)
		status := http.StatusOK
		switch {
		case err != nil:
			h.logInternal(r, err)
			status, answer = statusOf(hearken.CodeOf(err)), map[string]*hearken.Error{"error": errorForPage(err)}
		case answer == nil:
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // the browser may have gone
	})
}

// logInternal logs an internal error, whose text the page does not show.
func (h *Handler) logInternal(r *http.Request, err error) {
	if hearken.CodeOf(err) == "" && !errors.Is(err, context.Canceled) {
		h.log.Error("page request failed", "path", r.URL.Path, "error", err)
	}
}

// decode reads a request's JSON body.
func decode[T any](w http.ResponseWriter, r *http.Request) (in T, err error) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, hearken.Errorf(hearken.Invalid, "Cannot read the request: %w.", err)
	}
	return in, nil
}

// errorForPage returns an error as the page shows it, without internal texts.
func errorForPage(err error) *hearken.Error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e
	}
	return &hearken.Error{Message: "The hub could not do that."}
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
