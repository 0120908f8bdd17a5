package pscribe

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

const maxID = 255 // bytes of a session id

// checkSession refuses what cannot be a session id. The program might read it as a
// flag, or the file system as a path.
func checkSession(id string) error {
	var why string
	switch {
	case id == "":
		why = "is empty"
	case strings.HasPrefix(id, "-"):
		why = "begins with a dash"
	case strings.ContainsAny(id, `/\`):
		why = "has a slash"
	case id == "." || id == "..":
		why = "is a directory"
	case !printable(id) || strings.TrimSpace(id) != id:
		why = "has characters that no id has"
	case len(id) > maxID:
		id, why = id[:20]+"…", "is too long"
	default:
		return nil
	}
	return hearken.Errorf(hearken.Invalid, "The session id %q %s.", id, why).WithTry("an id from pscribe_sessions.")
}

func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return hearken.Errorf(hearken.Invalid, "The pattern is empty.")
	case strings.HasPrefix(pattern, "-"):
		return hearken.Errorf(hearken.Invalid, "The pattern %q begins with a dash and would be read as a flag.", pattern).
			WithTry("[-]%s", pattern[1:])
	case !printable(pattern):
		return hearken.Errorf(hearken.Invalid, "The pattern %q has control characters or is not UTF-8.", pattern)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// atLeast checks a number that the caller chose.
func atLeast(name string, value, least int) error {
	if value < least {
		return hearken.Errorf(hearken.Invalid, "%s must be at least %d, not %d.", name, least, value)
	}
	return nil
}

// withFilter adds the flag for a filter, unless it selects everything.
func withFilter(args []string, filter hearken.StatusFilter) ([]string, error) {
	switch filter {
	case "", hearken.AllEntries:
		return args, nil
	case hearken.OnlyConfirmed, hearken.OnlyUnconfirmed, hearken.OnlyTranslations, hearken.OnlySpeech:
		return append(args, "--status", string(filter)), nil
	}
	return nil, hearken.Errorf(hearken.Invalid, "Unknown status %q.", string(filter)).
		WithTry("all, confirmed, unconfirmed, translated or speech.")
}

// withTimes adds the flags for when sessions started.
func withTimes(args []string, since, until time.Time) ([]string, error) {
	if !since.IsZero() && !until.IsZero() && since.After(until) {
		return nil, hearken.Errorf(hearken.Invalid, "since (%s) is after until (%s).", since.Format(time.RFC3339), until.Format(time.RFC3339)).
			WithTry("the earlier time as since.")
	}
	for _, bound := range []struct {
		flag string
		t    time.Time
	}{{"--since", since}, {"--until", until}} {
		if bound.t.IsZero() {
			continue
		}
		if _, err := bound.t.MarshalText(); err != nil {
			return nil, hearken.Errorf(hearken.Invalid, "%s is not a valid time: %w.", bound.flag[2:], err).
				WithTry("a timestamp such as 2026-01-15T09:00:00+01:00.")
		}
		args = append(args, bound.flag, bound.t.Format(time.RFC3339))
	}
	return args, nil
}

// tailArgs asks for the last n lines, or for those from a line on.
func tailArgs(session string, n, from int, filter hearken.StatusFilter) ([]string, error) {
	args := []string{"tail", "-n", strconv.Itoa(n)}
	if from > 0 {
		args[2] = "+" + strconv.Itoa(from)
	}
	args, err := withFilter(args, filter)
	if err == nil && session != "" {
		args, err = append(args, "--session", session), checkSession(session)
	}
	return args, err
}

func catArgs(req hearken.CatRequest) ([]string, error) {
	if err := atLeast("last", req.Last, 0); err != nil {
		return nil, err
	}
	args, err := withTimes([]string{"cat"}, req.Since, req.Until)
	if err != nil {
		return nil, err
	}
	if req.Last > 0 {
		args = append(args, "--last", strconv.Itoa(req.Last))
	}
	if args, err = withFilter(args, req.Filter); err != nil {
		return nil, err
	}
	for _, id := range req.Sessions {
		if err := checkSession(id); err != nil {
			return nil, err
		}
	}
	if len(req.Sessions) > 0 {
		args = append(append(args, "--"), req.Sessions...)
	}
	return args, nil
}

func grepArgs(req hearken.GrepRequest) ([]string, error) {
	if err := checkPattern(req.Pattern); err != nil {
		return nil, err
	}
	args, err := withTimes([]string{"grep"}, req.Since, req.Until)
	if err != nil {
		return nil, err
	}
	if args, err = withFilter(args, req.Filter); err != nil {
		return nil, err
	}
	if req.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	for _, number := range []struct {
		name, flag string
		value      int
	}{{"after", "-A", req.After}, {"before", "-B", req.Before}, {"limit", "", req.Limit}} {
		if err := atLeast(number.name, number.value, 0); err != nil {
			return nil, err
		}
		if number.flag != "" && number.value > 0 {
			args = append(args, number.flag, strconv.Itoa(number.value))
		}
	}
	return append(args, "--", req.Pattern), nil
}
