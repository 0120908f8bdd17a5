package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrNoHub is wrapped by the error of [Dial] when no hub answers.
var ErrNoHub = errors.New("no hub runs")

const welcomeTimeout = 15 * time.Second

// Dial joins the hub of a data directory. The error wraps [ErrNoHub] if there
// is none, and is the hub's own [*hearken.Error] if it refused.
func Dial(ctx context.Context, dir string, hello Hello) (net.Conn, Welcome, error) {
	conn, err := dial(ctx, dir)
	if err != nil {
		return nil, Welcome{}, fmt.Errorf("%w: %w", ErrNoHub, err)
	}
	return Greet(ctx, conn, hello)
}

// Answers reports whether a hub takes connections for a data directory.
func Answers(ctx context.Context, dir string) bool {
	conn, err := dial(ctx, dir)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// Greet says hello on a fresh connection. It closes conn if that fails.
func Greet(ctx context.Context, conn net.Conn, hello Hello) (net.Conn, Welcome, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	hello.Hearken = Version
	line, err := json.Marshal(hello)
	if err != nil {
		conn.Close()
		return nil, Welcome{}, err
	}
	conn.SetDeadline(time.Now().Add(welcomeTimeout))
	r := bufio.NewReaderSize(conn, maxHello)
	if _, err = conn.Write(append(line, '\n')); err == nil {
		line, err = r.ReadSlice('\n')
	}
	if err != nil {
		// A hub that is just ending takes the connection and hangs up.
		conn.Close()
		return nil, Welcome{}, fmt.Errorf("%w: hello: %w", ErrNoHub, err)
	}
	conn.SetDeadline(time.Time{})

	var w Welcome
	if err := json.Unmarshal(line, &w); err != nil {
		conn.Close()
		return nil, Welcome{}, fmt.Errorf("welcome: %w", err)
	}
	if w.Error != nil {
		conn.Close()
		return nil, Welcome{}, w.Error.Err()
	}
	return &buffered{Conn: conn, r: r}, w, nil
}

// dial tries the socket that the hub wrote down, then the one it would use if
// it had this process's environment.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	var d net.Dialer
	holder, found := Find(dir)
	if found && holder.Socket != "" {
		conn, err := d.DialContext(ctx, "unix", holder.Socket)
		if err == nil {
			return verified(conn)
		}
	}
	path, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return verified(conn)
}

// verified makes sure that no other user's process took the hub's place: the
// hello may carry a key.
func verified(conn net.Conn) (net.Conn, error) {
	if err := samePeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
