package pscribe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/hearken-dev/hearken"
)

const startFirst = "start transcription first: pscribe_start, or `pscribe start` in a terminal."

// startFailure explains why the program did not run to its end.
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

// failure returns what the program's message and exit status mean. Some programs
// report a failure and still exit with 0. A message that is known for one counts
// if nothing else was printed.
func failure(command string, out output) error {
	message := out.stderr
	if strings.TrimSpace(message) == "" && out.exit != 0 && !hasRows(out.stdout) {
		message = out.stdout
	}
	message = quote(message)
	if out.exit == 0 && (message == "" || strings.TrimSpace(out.stdout) != "") {
		return nil
	}
	if err := knownFailure(command, message); err != nil {
		return err
	}
	switch {
	case out.exit == 0:
		return nil
	case message == "" && command == "grep" && out.exit == 1 && out.stdout == "":
		return nil // grep found nothing
	case message == "":
		return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` failed with exit status %d and did not say why.", command, out.exit).
			WithTry("`pscribe status` in a terminal; if that fails too, restart ParrotScribe.")
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "`pscribe %s` failed with exit status %d: %s", command, out.exit, message).
		WithTry("`pscribe status` in a terminal.")
}

// knownFailure recognises failures that a person or an agent can fix.
func knownFailure(command, message string) error {
	lower := strings.ToLower(message)
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) })
	}
	denied := says("denied", "permission", "not authorized", "not authorised", "unauthorized", "not allowed", "not granted", "no access")
	switch {
	case denied && says("microphone", "audio input"):
		return hearken.Errorf(hearken.Forbidden, "macOS does not let ParrotScribe use the microphone: %s", message).
			WithTry("System Settings > Privacy & Security > Microphone: enable ParrotScribe and the program that runs Hearken, then start again.")
	case denied && says("screen", "system audio"):
		return hearken.Errorf(hearken.Forbidden, "macOS does not let ParrotScribe record system audio: %s", message).
			WithTry("System Settings > Privacy & Security > Screen & System Audio Recording: enable ParrotScribe, then start again.")
	case says("no active transcript", "no active session", "no current session"):
		return hearken.Errorf(hearken.SessionNotFound, "There is no active session: %s", message).WithTry("%s", startFirst)
	case says("not running", "isn't running") && (command == "start" || command == "new"):
		return hearken.Errorf(hearken.ProviderConnectionFailed, "ParrotScribe is not running: %s", message).
			WithTry("opening the ParrotScribe app, then start again.")
	case says("not running", "isn't running"):
		return hearken.Errorf(hearken.SessionAlreadyStopped, "ParrotScribe is not running: %s", message).WithTry("%s", startFirst)
	case says("session") && !says("option", "argument", "usage") && says("not found", "no such", "unknown", "does not exist", "doesn't exist", "invalid"):
		return hearken.Errorf(hearken.SessionNotFound, "ParrotScribe does not know this session: %s", message).
			WithTry("an id from pscribe_sessions.")
	}
	return nil
}

// quote puts a message on one line of at most 500 bytes.
func quote(message string) string {
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	const limit = 500
	if len(message) > limit {
		message = strings.ToValidUTF8(message[:limit], "") + "…"
	}
	return message
}
