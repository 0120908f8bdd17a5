package upload

import (
	"net/http"
	"strings"

	"github.com/hearken-dev/hearken"
)

// checkComplete returns an error if the words are not complete. It is called
// when no more events come.
func (j *job) checkComplete() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	reason := j.endEvent.Reason
	switch {
	case j.endEvent.Kind == hearken.InputReplaced:
		return j.stopped("another sender took over its session")
	case reason == hearken.StopProviderFailed:
		return j.engineFailed()
	case reason == hearken.StopShutdown:
		return unavailable("shutdown", "The hub is shutting down. Try: the same request again in a moment")
	case reason == "":
		return unavailable("incomplete", "The hub closed session %s before it had all words. Try: the same request again", j.id)
	case !j.complete:
		return j.stopped("its session ended: " + reason)
	case j.dropped || j.mayHaveMissed || len(j.gaps) > 0:
		return unavailable("incomplete", "Some of the recording was not transcribed. The words so far are in session %s. Try: the same request again when the hub is less busy", j.id)
	}
	j.flushUntranslated()
	if j.untranslated > 0 && j.translated == 0 {
		return unavailable("not_translated", "The engine gave no translation. The words as they were said are in session %s.", j.id)
	}
	return nil
}

// stopped is the error for a recording that was stopped on purpose.
func (j *job) stopped(why string) *failure {
	f := unavailable("stopped", "The recording was not transcribed to its end: %s. The words so far are in session %s.", why, j.id)
	f.status, f.retryAfter, f.noRetry = http.StatusConflict, 0, true
	return f
}

// engineFailed explains why an engine failed, if the reason may be shown.
func (j *job) engineFailed() *failure {
	why, try := "the engine failed", "the same request again, or another engine as the model"
	f := unavailable(string(hearken.ProviderConnectionFailed), "")
	if code := hearken.CodeOf(j.cause); code != "" {
		f.code, why, try = string(code), j.cause.Error(), ""
		switch code {
		case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
			f.noRetry, f.retryAfter = true, 0
		}
	}
	f.message = "The recording could not be transcribed: " + strings.TrimSuffix(why, ".") + ". The words so far are in session " + j.id + "."
	if try != "" {
		f.message += " Try: " + try
	}
	return f
}
