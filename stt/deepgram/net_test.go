package deepgram_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken/stt/deepgram"
)

// A pipes is a network inside one process, for tests that own the time: there
// is nothing in it that a bubble of package synctest cannot wait for.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.accepted <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// servePipes is serve for a test in a bubble.
func (f *fake) servePipes(t *testing.T, cfg deepgram.Config) *deepgram.Provider {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: f}
	f.work.Go(func() { server.Serve(p) })
	t.Cleanup(func() { server.Close() })
	cfg.Client = &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}
	cfg.BaseURL, cfg.APIKey = "ws://deepgram.test", testKey
	return deepgram.New(cfg)
}
