package upload

import (
	"net/http"
	"strings"

	"github.com/hearken-dev/hearken"
)

// verdict says whether the words are complete, once nothing more will come.
func (h *hearing) verdict() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	reason := h.end.Reason
	switch {
	case h.end.Kind == hearken.InputReplaced:
		return h.stopped("another sender took over its session")
	case reason == hearken.StopProviderFailed:
		return h.engineFailed()
	case reason == hearken.StopShutdown:
		return unavailable("shutdown", "The hub is shutting down. Try: the same request again in a moment")
	case reason == "":
		return unavailable("incomplete", "The hub let go of session %s before it had all words. Try: the same request again", h.id)
	case !h.complete:
		return h.stopped("its session ended: " + reason)
	case h.dropped || h.crowded || len(h.gaps) > 0:
		return unavailable("incomplete", "Some of the recording was not transcribed. What was is in session %s. Try: the same request again when the hub is less busy", h.id)
	}
	h.flush()
	if h.untranslated > 0 && h.translated == 0 {
		return unavailable("not_translated", "The engine gave no translation. The words as they were said are in session %s.", h.id)
	}
	return nil
}

// stopped is a recording that somebody stopped, on purpose.
func (h *hearing) stopped(why string) *failure {
	f := unavailable("stopped", "The recording was not heard to its end: %s. What was heard of it is in session %s.", why, h.id)
	f.status, f.after, f.settled = http.StatusConflict, 0, true
	return f
}

// engineFailed says why an engine failed, as far as that is for people.
func (h *hearing) engineFailed() *failure {
	why, try := "the engine failed", "the same request again, or another engine as the model"
	f := unavailable(string(hearken.ProviderConnectionFailed), "")
	if code := hearken.CodeOf(h.cause); code != "" {
		f.code, why, try = string(code), h.cause.Error(), ""
		switch code {
		case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
			f.settled, f.after = true, 0
		}
	}
	f.message = "The recording could not be transcribed: " + strings.TrimSuffix(why, ".") + ". What was heard of it is in session " + h.id + "."
	if try != "" {
		f.message += " Try: " + try
	}
	return f
}
