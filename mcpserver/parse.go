package mcpserver

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// normalizeSessionID checks the field SessionID of a tool's arguments, unless
// there is none or it was left out. Some systems write UUIDs in upper case.
func normalizeSessionID(args any) error {
	id := reflect.ValueOf(args).Elem().FieldByName("SessionID")
	if !id.IsValid() || id.String() == "" {
		return nil
	}
	lower := strings.ToLower(id.String())
	if !hearken.ValidID(lower) {
		return hearken.Errorf(hearken.SessionNotFound, "%q is not a session ID.", safetext.Clip(id.String(), 64)).WithTry("list_sessions")
	}
	id.SetString(lower)
	return nil
}

// A cursor is a reader's position in a session. It is short, because models copy
// it letter by letter. The last eight digits of a session's id are random and
// so enough to notice that a cursor belongs to another session.
type cursor struct {
	session string
	epoch   int
	line    int // the last line that was read
}

func (c cursor) String() string { return fmt.Sprintf("%s.%d.%d", idSuffix(c.session), c.epoch, c.line) }

func idSuffix(id string) string { return id[max(0, len(id)-8):] }

func parseCursor(text, session string) (cursor, error) {
	suffix, rest, _ := strings.Cut(text, ".")
	epochText, lineText, _ := strings.Cut(rest, ".")
	epoch, err1 := strconv.Atoi(epochText)
	line, err2 := strconv.Atoi(lineText)
	if err1 != nil || err2 != nil || epoch < 0 || line < 0 {
		return cursor{}, invalid("%q is not a cursor. Leave it out to start from the beginning.", safetext.Clip(text, 40))
	}
	if suffix != idSuffix(session) {
		return cursor{}, invalid("The cursor %q does not belong to session %s.", safetext.Clip(text, 40), session)
	}
	return cursor{session, epoch, line}, nil
}

// parseTimeRange reads the two ends of a time range; either may be empty.
func parseTimeRange(since, until string) (from, to time.Time, err error) {
	if from, err = parseTime("since", since); err != nil {
		return from, to, err
	}
	if to, err = parseTime("until", until); err != nil {
		return from, to, err
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, invalid("since must be before until.")
	}
	return from, to, nil
}

// parseTime reads a time as models and people write it. Without an offset it is
// in the hub's time zone.
func parseTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	last := len(text) - 1
	if n, err := strconv.ParseUint(text[:last], 10, 16); err == nil && units[text[last]] != 0 {
		return time.Now().Add(-time.Duration(n) * units[text[last]]), nil
	}
	return time.Time{}, invalid("%s must be a time such as 2026-11-05T09:30:00Z, a date, or an age such as 90m, 2h or 7d, got %q.", name, safetext.Clip(text, 40))
}
