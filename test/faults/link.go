package faults

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// accept takes connections until the proxy is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// serve handles a new connection according to the faults in force.
func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	refuse := time.Now().Before(p.refuse)
	answer := !refuse && p.answers > 0
	response, body := p.response, p.body
	switch {
	case refuse:
		p.stats.Refused++
	case answer:
		p.stats.Answered++
		p.answers--
	}
	p.mu.Unlock()
	if refuse || answer {
		stop := context.AfterFunc(p.ctx, func() { client.Close() })
		defer stop()
		if refuse {
			reset(client)
			return
		}
		respond(client, response, body)
		return
	}
	server, err := p.dial(p.ctx)
	if err != nil {
		reset(client)
		return
	}
	p.connect(client, server)
}

// respond answers the request on a connection and ends it.
func respond(c net.Conn, r http.Response, body string) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	r.Request, r.ProtoMajor, r.ProtoMinor, r.Close = req, 1, 1, true
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	_ = r.Write(c) // a client that is gone needs no answer
}

// A link is one connection through the proxy.
type link struct {
	p      *Proxy
	ends   [2]net.Conn // by the direction that ends there
	ctx    context.Context
	cancel context.CancelFunc
	closed [2]atomic.Bool // half-closed, by direction
}

// connect passes everything on between two ends until both are done.
func (p *Proxy) connect(client, server net.Conn) {
	l := &link{p: p, ends: [2]net.Conn{ToServer: server, ToClient: client}}
	l.ctx, l.cancel = context.WithCancel(p.ctx)
	stop := context.AfterFunc(l.ctx, func() {
		client.Close()
		server.Close()
	})
	p.mu.Lock()
	p.stats.Connections++
	p.links[l] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pump(ToServer) })
	both.Go(func() { l.pump(ToClient) })
	both.Wait()
	stop()
	l.cancel()
	client.Close()
	server.Close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

func (l *link) close() { l.cancel() }

func (l *link) reset() {
	for _, c := range l.ends {
		harden(c) // both, before the end of one ends the other
	}
	l.cancel()
}

// reset closes a connection so that the other side gets an error and
// not of an end.
func reset(c net.Conn) {
	harden(c)
	c.Close()
}

// harden makes the next close a reset.
func harden(c net.Conn) {
	switch c := c.(type) {
	case *net.TCPConn:
		_ = c.SetLinger(0)
	case *memoryConn:
		c.hard.Store(true)
	}
}

// halfClose ends a direction for whoever reads there.
func (l *link) halfClose(d Direction) {
	if c, ok := l.ends[d].(interface{ CloseWrite() error }); ok && !l.closed[d].Swap(true) {
		_ = c.CloseWrite()
	}
}

// pump passes on what goes in one direction. An end of file is passed on too;
// an error ends the connection.
func (l *link) pump(d Direction) {
	from, to := l.ends[1-d], l.ends[d]
	buf := make([]byte, 32<<10)
	for first := true; ; first = false {
		n, err := from.Read(buf)
		if n > 0 && !l.pass(to, d, buf[:n], first) {
			return
		}
		switch {
		case errors.Is(err, io.EOF):
			l.halfClose(d)
			return
		case err != nil:
			l.cancel()
			return
		}
	}
}

// pass passes a chunk on, and reports whether the connection continues.
func (l *link) pass(to net.Conn, d Direction, chunk []byte, first bool) bool {
	l.p.mu.Lock()
	delay, slow := l.p.delay, l.p.slow
	l.p.mu.Unlock()
	if !hubtest.Sleep(l.ctx, delay) {
		return false
	}
	if d == ToServer || !first {
		slow = 0
	}
	const pieces = 8
	size := len(chunk)
	if slow > 0 {
		size = (len(chunk) + pieces - 1) / pieces
	}
	for len(chunk) > 0 {
		n := min(size, len(chunk))
		if !hubtest.Sleep(l.ctx, slow/pieces) || !l.flows() {
			return false
		}
		if _, err := to.Write(chunk[:n]); err == nil {
			l.p.count(d, n)
		} else if l.ctx.Err() != nil || !l.closed[d].Load() {
			l.cancel()
			return false
		} // a writer does not notice that nobody reads
		chunk = chunk[n:]
	}
	return true
}

// flows waits until nothing is stalled and reports whether the connection is
// still open.
func (l *link) flows() bool {
	l.p.mu.Lock()
	flow := l.p.flow
	l.p.mu.Unlock()
	select {
	case <-flow:
		return l.ctx.Err() == nil
	case <-l.ctx.Done():
		return false
	}
}

func (p *Proxy) count(d Direction, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == ToServer {
		p.stats.ToServer += int64(n)
	} else {
		p.stats.ToClient += int64(n)
	}
}
