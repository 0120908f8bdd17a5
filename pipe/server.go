package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	maxHello     = 64 << 10
	helloTimeout = 10 * time.Second
)

// Listen opens the local socket of a hub. The caller holds the directory's
// lock, so a socket that exists was left by a hub that has ended.
func Listen(dir string) (net.Listener, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// A Server is the hub's end of the local socket.
type Server struct {
	// Accept checks a hello. An error refuses the connection; the other side
	// gets a [*hearken.Error] with its code and hint. It may wait until the hub
	// is ready.
	Accept func(ctx context.Context, h Hello) (Welcome, error)
	// Handle serves an accepted connection until it ends. The server closes
	// conn afterwards.
	Handle func(ctx context.Context, h Hello, conn net.Conn)
	Log    *slog.Logger
}

// Serve answers connections until ctx ends or the listener is closed, and
// returns when all of them have ended. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			l.Close()
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("accept: %w", err)
		}
		serving.Go(func() {
			defer conn.Close()
			if err := checkPeer(conn); err != nil {
				s.Log.Warn("local connection refused", "error", err)
				return
			}
			s.ServeConn(ctx, conn)
		})
	}
}

// ServeConn answers one connection, which need not come from the socket, and
// closes it at the end.
func (s *Server) ServeConn(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	conn.SetReadDeadline(time.Now().Add(helloTimeout))
	r := bufio.NewReaderSize(conn, maxHello)
	line, err := r.ReadSlice('\n')
	if err != nil {
		s.Log.Debug("no hello on a local connection", "error", err)
		return
	}
	conn.SetReadDeadline(time.Time{})

	var hello Hello
	var welcome Welcome
	if err = json.Unmarshal(line, &hello); err != nil || hello.Hearken != Version {
		err = hearken.Errorf(hearken.Invalid, "The hub speaks version %d of the local protocol; this client speaks another.", Version).
			WithTry("stop the hub and start it again with the same version as the client")
	} else {
		welcome, err = s.Accept(ctx, hello)
	}
	if ctx.Err() != nil {
		return // no refusal: the client should look for the next hub
	}
	if err != nil {
		welcome = Welcome{Error: SendableError(err)}
	}
	answer, _ := json.Marshal(welcome)
	if _, werr := conn.Write(append(answer, '\n')); werr != nil || err != nil {
		return
	}
	s.Handle(ctx, hello, &bufferedConn{Conn: conn, r: r})
}

// A bufferedConn is a connection of which r has already read a part.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (b *bufferedConn) Read(p []byte) (int, error) { return b.r.Read(p) }

// CloseWrite closes the writing side if the connection can, else all of it.
func (b *bufferedConn) CloseWrite() error {
	if c, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return b.Conn.Close()
}
