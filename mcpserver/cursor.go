package mcpserver

import (
	"fmt"
	"strconv"
	"strings"
)

// A cursor is a reader's place in a session. It is short, because models copy
// it by hand; the first eight digits of a session's id are enough to notice
// that it belongs to another.
type cursor struct {
	session string
	epoch   int
	line    int // entries passed
}

func (c cursor) String() string { return fmt.Sprintf("%.8s.%d.%d", c.session, c.epoch, c.line) }

func parseCursor(text, session string) (cursor, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || len(parts[0]) != 8 {
		return cursor{}, wrong("%q is not a cursor; leave it out to begin.", clip(text, 40))
	}
	epoch, err1 := strconv.Atoi(parts[1])
	line, err2 := strconv.Atoi(parts[2])
	if err1 != nil || err2 != nil || epoch < 0 || line < 0 {
		return cursor{}, wrong("%q is not a cursor; leave it out to begin.", clip(text, 40))
	}
	if !strings.HasPrefix(session, parts[0]) {
		return cursor{}, wrong("The cursor %q belongs to another session than %s.", text, session)
	}
	return cursor{session, epoch, line}, nil
}
