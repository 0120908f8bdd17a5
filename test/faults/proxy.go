// Package faults is a bad network: a proxy between a client and a server that
// cuts, resets, half-closes, stalls, delays and refuses, so that tests can show
// that no word is lost.
//
//	p := faults.New(t, server.Listener.Addr().String())
//	... connect to p.Addr() ...
//	p.Stall(2 * time.Second)
//	p.Cut()
//
// [Memory] is a network for tests on a clock of their own. A proxy on it behaves
// like one on TCP, and nothing waits for the system.
package faults

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// A Direction is one of the two through a [Proxy].
type Direction int

const (
	ToServer Direction = iota
	ToClient
)

// A Proxy passes connections on to a server, with the faults that it is told to
// make. All methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	dial     Dialer
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]struct{}
	stats    Stats
	flow     chan struct{} // closed while nothing is stalled
	stalls   int
	delay    time.Duration
	slow     time.Duration
	refuse   time.Time // until then connections are refused
	answers  int       // handshakes that are answered here
	response http.Response
	body     string
}

// Stats counts what a [Proxy] has seen.
type Stats struct {
	Connections int // that were passed on
	Open        int // of them, now
	Refused     int
	Answered    int   // by the proxy itself
	ToServer    int64 // bytes that the server got
	ToClient    int64 // bytes that the client got
}

// A Dialer makes a connection to the server.
type Dialer func(ctx context.Context) (net.Conn, error)

// New starts a proxy on the loopback in front of the TCP server at target. It
// ends with the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", target)
	})
	t.Cleanup(p.Close)
	return p
}

// Serve starts a proxy that takes connections from l, which it owns from then
// on, and passes them on by dial.
func Serve(l net.Listener, dial Dialer) *Proxy {
	p := &Proxy{listener: l, dial: dial, links: map[*link]struct{}{}, flow: make(chan struct{})}
	close(p.flow)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p
}

// Addr is where clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and all connections, and waits until nothing is left of
// them.
func (p *Proxy) Close() {
	p.cancel()
	p.listener.Close()
	p.work.Wait()
}

// Stats is what was seen so far.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Open = len(p.links)
	return s
}

// Cut closes all connections on both sides at once. Each side reads an end of
// file.
func (p *Proxy) Cut() {
	for _, l := range p.open() {
		l.close()
	}
}

// Reset breaks all connections on both sides as a crashed machine does.
func (p *Proxy) Reset() {
	for _, l := range p.open() {
		l.reset()
	}
}

// HalfClose ends one direction of all connections: whoever reads there reads
// an end of file, whoever writes does not notice, and the other direction continues.
func (p *Proxy) HalfClose(d Direction) {
	for _, l := range p.open() {
		l.halfClose(d)
	}
}

// Stall passes nothing on for a while, in either direction, on any
// connection, and closes none.
func (p *Proxy) Stall(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalls++; p.stalls == 1 {
		p.flow = make(chan struct{})
	}
	p.work.Go(func() {
		if !hubtest.Sleep(p.ctx, d) {
			return // what was held back is dropped
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stalls--; p.stalls == 0 {
			close(p.flow)
		}
	})
}

// Delay holds every chunk back for so long from now on.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// SlowHandshake makes the server's first answer on each connection from now on
// take so long, a few bytes at a time.
func (p *Proxy) SlowHandshake(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = d
}

// Refuse turns new connections away for a while.
func (p *Proxy) Refuse(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = time.Now().Add(d)
}

// Answer answers the HTTP requests of the next so many connections itself, as
// a server does that refuses them.
func (p *Proxy) Answer(times, status int, header http.Header, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = times
	p.response = http.Response{StatusCode: status, Header: header}
	p.body = body
}

func (p *Proxy) open() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	return links
}
