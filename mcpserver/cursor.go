package mcpserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken/safetext"
)

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
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return cursor{}, invalid("%q is not a cursor. Leave it out to start from the beginning.", safetext.Clip(text, 40))
	}
	epoch, err1 := strconv.Atoi(parts[1])
	line, err2 := strconv.Atoi(parts[2])
	if err1 != nil || err2 != nil || epoch < 0 || line < 0 {
		return cursor{}, invalid("%q is not a cursor. Leave it out to start from the beginning.", safetext.Clip(text, 40))
	}
	if parts[0] != idSuffix(session) {
		return cursor{}, invalid("The cursor %q does not belong to session %s.", safetext.Clip(text, 40), session)
	}
	return cursor{session, epoch, line}, nil
}
