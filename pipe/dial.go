package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hearken-dev/hearken"
)

// ErrNoHub is wrapped by the error of [Dial] when no hub answers.
var ErrNoHub = errors.New("no hub runs")

const (
	welcomeTimeout = 15 * time.Second
	// startTimeout bounds how long several starters need until one of them is
	// the hub, or how long a hub that stops drains its sessions.
	startTimeout = 20 * time.Second
)

// Dial connects to the hub of a data directory. The error wraps [ErrNoHub] if
// there is none, and is the hub's own [*hearken.Error] if it refused.
func Dial(ctx context.Context, dir string, hello Hello) (net.Conn, Welcome, error) {
	conn, err := dial(ctx, dir)
	if err != nil {
		return nil, Welcome{}, fmt.Errorf("%w: %w", ErrNoHub, err)
	}
	return Handshake(ctx, conn, hello)
}

// DialOrStart dials the hub of a data directory and calls start if none
// answers. If several processes start one at once, the lock lets one through.
// For the others start fails with [hearken.Busy], and they wait for that hub.
func DialOrStart(ctx context.Context, dir string, hello Hello, start func(context.Context) error) (net.Conn, Welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		conn, welcome, err := Dial(ctx, dir, hello)
		if !errors.Is(err, ErrNoHub) {
			return conn, welcome, err
		}
		startErr := start(ctx)
		if startErr == nil {
			continue
		}
		if hearken.CodeOf(startErr) != hearken.Busy {
			return nil, Welcome{}, startErr
		}
		select {
		case <-ctx.Done():
			return nil, Welcome{}, startErr
		case <-time.After(wait):
		}
	}
}

// Reachable reports whether a hub accepts connections for a data directory.
func Reachable(ctx context.Context, dir string) bool {
	conn, err := dial(ctx, dir)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// Handshake sends hello on a new connection and reads the hub's answer. It
// closes conn if that fails. ctx bounds only the handshake.
func Handshake(ctx context.Context, conn net.Conn, hello Hello) (_ net.Conn, w Welcome, err error) {
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	hello.Hearken = Version
	line, err := json.Marshal(hello)
	if err != nil {
		return nil, w, err
	}
	conn.SetDeadline(time.Now().Add(welcomeTimeout))
	r := bufio.NewReaderSize(conn, maxHello)
	if _, err = conn.Write(append(line, '\n')); err == nil {
		line, err = r.ReadSlice('\n')
	}
	if err != nil {
		// A hub that stops accepts the connection and closes it.
		return nil, w, fmt.Errorf("%w: hello: %w", ErrNoHub, err)
	}
	conn.SetDeadline(time.Time{})
	if err := json.Unmarshal(line, &w); err != nil {
		return nil, w, fmt.Errorf("welcome: %w", err)
	}
	if w.Error != nil {
		return nil, w, w.Error
	}
	return &bufferedConn{Conn: conn, r: r}, w, nil
}

// dial tries the socket that the hub wrote down, then the one that a hub with
// this process's environment would use.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	var d net.Dialer
	if info, ok := ReadHubInfo(dir); ok && info.Socket != "" {
		conn, err := d.DialContext(ctx, "unix", info.Socket)
		if err == nil {
			return verifyPeer(conn)
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
	return verifyPeer(conn)
}

// verifyPeer closes conn if it leads to another user's process: the hello may
// carry a key.
func verifyPeer(conn net.Conn) (net.Conn, error) {
	if err := checkPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
