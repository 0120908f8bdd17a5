package pscribe

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"unicode"

	"github.com/hearken-dev/hearken"
)

const startFirst = "start transcription first: pscribe_start, or `pscribe start` in a terminal."

// startFailure says why the program did not run to its end.
func (s *Scribe) startFailure(command string, err error) error {
	if _, ok := errors.AsType[*hearken.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return hearken.Errorf(hearken.Busy, "`pscribe %s` was cancelled: %w.", command, err)
	case errors.Is(err, errTimeout):
		return hearken.Errorf(hearken.Busy, "`pscribe %s` did not finish within %s and was stopped: %w.", command, s.timeout, err).
			WithTry("again; if it hangs again, restart ParrotScribe.")
	case errors.Is(err, errFlood):
		return hearken.Errorf(hearken.BufferOverflow, "`pscribe %s` printed more than %d MiB and was stopped: %w.", command, maxOutput>>20, err).
			WithTry("asking for less: fewer sessions, a smaller n, or a later since_line.")
	case errors.Is(err, errKilled):
		return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` was %w by a signal.", command, err).
			WithTry("again; if it happens again, reinstall ParrotScribe.")
	case errors.Is(err, syscall.E2BIG):
		return hearken.Errorf(hearken.Invalid, "The arguments of `pscribe %s` are too long: %w.", command, err).
			WithTry("fewer session ids, or a shorter pattern.")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC):
		return notExecutable(s.path, err)
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` could not finish: %w.", command, err).
		WithTry("`pscribe status` in a terminal.")
}

// failure tells what the program's words and exit status mean. Some programs
// report a failure and end as if all was well: words that are known for one
// count if they are all that was said.
func failure(command string, out output) error {
	words := out.stderr
	if strings.TrimSpace(words) == "" && out.exit != 0 && !hasRows(out.stdout) {
		words = out.stdout
	}
	words = quote(words)
	if out.exit == 0 && (words == "" || strings.TrimSpace(out.stdout) != "") {
		return nil
	}
	if err := known(command, words); err != nil {
		return err
	}
	switch {
	case out.exit == 0:
		return nil
	case words == "" && command == "grep" && out.exit == 1 && out.stdout == "":
		return nil // as grep says that there is no match
	case words == "":
		return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` failed with exit status %d and did not say why.", command, out.exit).
			WithTry("`pscribe status` in a terminal; if that fails too, restart ParrotScribe.")
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` failed with exit status %d: %s", command, out.exit, words).
		WithTry("`pscribe status` in a terminal.")
}

// known recognises the failures that a person or an agent can do something
// about.
func known(command, words string) error {
	low := strings.ToLower(words)
	says := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(low, p) {
				return true
			}
		}
		return false
	}
	denied := says("denied", "permission", "not authorized", "not authorised", "unauthorized", "not allowed", "not granted", "no access")
	switch {
	case denied && says("microphone", "audio input"):
		return hearken.Errorf(hearken.Forbidden, "macOS does not let ParrotScribe use the microphone: %s", words).
			WithTry("System Settings > Privacy & Security > Microphone: enable ParrotScribe and the program that runs Hearken, then start again.")
	case denied && says("screen", "system audio"):
		return hearken.Errorf(hearken.Forbidden, "macOS does not let ParrotScribe record system audio: %s", words).
			WithTry("System Settings > Privacy & Security > Screen & System Audio Recording: enable ParrotScribe, then start again.")
	case says("no active transcript", "no active session", "no current session"):
		return hearken.Errorf(hearken.SessionNotFound, "There is no active session: %s", words).WithTry("%s", startFirst)
	case says("not running", "isn't running") && (command == "start" || command == "new"):
		return hearken.Errorf(hearken.ProviderConnectionFailed, "ParrotScribe is not running: %s", words).
			WithTry("opening the ParrotScribe app, then start again.")
	case says("not running", "isn't running"):
		return hearken.Errorf(hearken.SessionAlreadyStopped, "ParrotScribe is not running: %s", words).WithTry("%s", startFirst)
	case says("session") && !says("option", "argument", "usage") && says("not found", "no such", "unknown", "does not exist", "doesn't exist", "invalid"):
		return hearken.Errorf(hearken.SessionNotFound, "ParrotScribe does not know this session: %s", words).
			WithTry("an id from pscribe_sessions.")
	}
	return nil
}

// quote makes a message of at most a few hundred bytes on one line of what
// the program said.
func quote(words string) string {
	words = strings.Join(strings.FieldsFunc(words, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	const most = 500
	if len(words) > most {
		words = strings.ToValidUTF8(words[:most], "") + "…"
	}
	return words
}
