package pipe

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hearken-dev/hearken"
)

// joinTimeout is how long two starters may need to settle who is the hub, or a
// hub that is ending to drain its sessions.
const joinTimeout = 20 * time.Second

// Join dials the hub of a data directory and calls start where none answers.
// Of several processes that start one at once the lock lets one through; the
// others find start refused as busy and wait for that one to answer.
func Join(ctx context.Context, dir string, hello Hello, start func(context.Context) error) (net.Conn, Welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		conn, welcome, err := Dial(ctx, dir, hello)
		if !errors.Is(err, ErrNoHub) {
			// The dial's context must not cut the connection later on.
			return conn, welcome, err
		}
		serr := start(ctx)
		if serr != nil && hearken.CodeOf(serr) != hearken.Busy {
			return nil, Welcome{}, serr
		}
		if serr == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, Welcome{}, serr
		case <-time.After(wait):
		}
	}
}
