// Package wsconn holds what the sources that take audio over WebSockets share:
// counting connections so that a handler can wait for them to end, and reading
// messages.
package wsconn

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// A Set counts a handler's connections. [http.Server.Shutdown] does not know
// of WebSockets, so the handler waits for them itself.
type Set struct {
	mu      sync.Mutex
	open    int
	closed  bool
	closing chan struct{} // closed by Close
	empty   chan struct{} // closed when no connection is left after that
}

// NewSet makes an empty set.
func NewSet() *Set {
	return &Set{closing: make(chan struct{}), empty: make(chan struct{})}
}

// Add counts a connection. It returns false after Close; otherwise the caller
// must call Done when the connection ends.
func (s *Set) Add() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open++
	return true
}

// Done ends a connection that Add counted.
func (s *Set) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.closed && s.open == 0 {
		close(s.empty)
	}
}

// Open is the number of connections.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Closing is closed when Close is first called.
func (s *Set) Closing() <-chan struct{} { return s.closing }

// Close refuses further connections and waits until none is left, or for ctx.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
		if s.open == 0 {
			close(s.empty)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read passes messages to binary and text until one of them or the connection
// fails. It calls received before each. Closing the connection ends it.
func Read(ws *websocket.Conn, received func(), binary, text func(io.Reader) error) error {
	// A context that can end would cost a watcher for each message.
	ctx := context.Background()
	for {
		kind, r, err := ws.Reader(ctx)
		if err != nil {
			return err
		}
		received()
		if kind == websocket.MessageBinary {
			err = binary(r)
		} else {
			err = text(r)
		}
		if err != nil {
			return err
		}
	}
}

// Buffers lends buffers for audio. They are only held while a message is being
// read, so a thousand quiet senders need none.
var Buffers = sync.Pool{New: func() any { return new(Buffer) }}

// A Buffer is what [Buffers] lends.
type Buffer [32 << 10]byte

// CloseReason shortens a sentence to the 123 bytes that a close frame can hold.
func CloseReason(s string) string {
	if len(s) > 123 {
		s = strings.ToValidUTF8(s[:120], "") + "..."
	}
	return s
}
