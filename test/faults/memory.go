package faults

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Memory is a network inside one process. In a bubble of testing/synctest
// time passes while everybody on it waits, which it does not on TCP.
type Memory struct {
	queue  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var _ net.Listener = (*Memory)(nil)

// NewMemory makes a network with one server on it.
func NewMemory() *Memory {
	return &Memory{queue: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next connection.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.queue:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections stay.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr is a placeholder.
func (m *Memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory.test", Net: "memory"} }

// Dial connects to the server.
func (m *Memory) Dial(ctx context.Context) (net.Conn, error) {
	here, there := newPipe(), newPipe()
	select {
	case m.queue <- &memoryConn{in: here, out: there}:
		return &memoryConn{in: there, out: here}, nil
	case <-m.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A memoryConn is one end of a connection.
type memoryConn struct {
	in, out *pipe
	hard    atomic.Bool // to be closed by an error
}

func (c *memoryConn) Read(b []byte) (int, error)  { return c.in.read(b) }
func (c *memoryConn) Write(b []byte) (int, error) { return c.out.write(b) }

// CloseWrite lets the other end read to the end of the file.
func (c *memoryConn) CloseWrite() error {
	c.out.change(func(p *pipe) { p.ended = true })
	return nil
}

// Close lets the other end read what was written, and then the end of the file
// or, after harden, an error at once.
func (c *memoryConn) Close() error {
	hard := c.hard.Load()
	c.out.change(func(p *pipe) {
		if hard && p.writer == nil {
			p.buf, p.reader = nil, syscall.ECONNRESET
		}
		p.ended, p.writer = true, net.ErrClosed
	})
	c.in.change(func(p *pipe) {
		p.reader = net.ErrClosed
		if p.writer == nil {
			p.writer = syscall.EPIPE
		}
	})
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "memory.test", Net: "memory"} }
func (c *memoryConn) RemoteAddr() net.Addr { return c.LocalAddr() }

func (c *memoryConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.in.change(func(p *pipe) { p.readBy = t })
	return nil
}

func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.out.change(func(p *pipe) { p.writeBy = t })
	return nil
}

// pipeCapacity is how much one end may be ahead of the other, as with the buffers
// of a system.
const pipeCapacity = 64 << 10

// A pipe is one direction of a connection.
type pipe struct {
	mu              sync.Mutex
	changed         chan struct{} // closed at the next change
	buf             []byte
	ended           bool  // nothing more will be written
	reader, writer  error // why they cannot continue
	readBy, writeBy time.Time
}

func newPipe() *pipe { return &pipe{changed: make(chan struct{})} }

func (p *pipe) change(do func(*pipe)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(p)
	p.changedLocked()
}

func (p *pipe) changedLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.reader != nil:
			return 0, p.reader
		case len(b) == 0:
			return 0, nil
		case late(p.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(p.buf) > 0:
			n := copy(b, p.buf)
			p.buf = p.buf[:copy(p.buf, p.buf[n:])]
			p.changedLocked()
			return n, nil
		case p.ended:
			return 0, io.EOF
		}
		p.waitLocked(p.readBy)
	}
}

func (p *pipe) write(b []byte) (written int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		switch {
		case p.writer != nil:
			return written, p.writer
		case p.ended:
			return written, syscall.EPIPE
		case late(p.writeBy):
			return written, os.ErrDeadlineExceeded
		case len(p.buf) < pipeCapacity:
			n := min(len(b), pipeCapacity-len(p.buf))
			p.buf = append(p.buf, b[:n]...)
			written, b = written+n, b[n:]
			p.changedLocked()
			continue
		}
		p.waitLocked(p.writeBy)
	}
	return written, nil
}

func late(by time.Time) bool { return !by.IsZero() && !time.Now().Before(by) }

// waitLocked waits for a change, or for a moment to come.
func (p *pipe) waitLocked(by time.Time) {
	changed := p.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	if by.IsZero() {
		<-changed
		return
	}
	t := time.NewTimer(time.Until(by))
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	}
}
