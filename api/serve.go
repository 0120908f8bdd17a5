package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hearken-dev/hearken"
)

// A door is one listening socket.
type door struct {
	listener net.Listener
	loopback bool        // only this computer can reach it
	tls      *tls.Config // nil for plain HTTP
}

// Listen takes a TCP port, or another one if some program has it, which it
// logs: first last, where the hub was before and its senders look for it, then
// any free one. Port 0 is any of those.
func Listen(host string, port, last int, log *slog.Logger) (net.Listener, error) {
	// A peer that vanished without a word is noticed within a minute.
	lc := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}
	var ln net.Listener
	err := error(syscall.EADDRINUSE)
	for _, p := range []int{port, last} {
		if p != 0 && taken(err) {
			ln, err = lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(p)))
		}
	}
	if taken(err) {
		ln, err = lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	}
	if err == nil && port != 0 {
		if got := int(addrPort(ln.Addr()).Port()); got != port {
			log.Warn("port is taken, using another", "host", host, "wanted", port, "port", got)
		}
	}
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "Cannot listen on %s: %w.", net.JoinHostPort(host, strconv.Itoa(port)), err)
	}
	return ln, nil
}

// taken reports whether a port is another program's, or on Windows reserved
// for one. Windows has its own numbers for that, which Go does not translate.
func taken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) ||
		runtime.GOOS == "windows" && (errors.Is(err, syscall.Errno(10048)) || errors.Is(err, syscall.Errno(10013)))
}

func (a *API) openDoor(host string, port, last int) (*door, error) {
	ln, err := Listen(host, port, last, a.log)
	if err != nil {
		return nil, err
	}
	d := &door{listener: a.metrics.limit(ln, a.limits.Connections), loopback: addrPort(ln.Addr()).Addr().IsLoopback()}
	if d.tls, err = a.tlsFor(d, host); err != nil {
		ln.Close()
		return nil, err
	}
	return d, nil
}

// url is the door's address as clients write it. A door that listens
// everywhere is called by a name of this computer.
func (d *door) url(scheme, host string) string {
	if d.tls != nil {
		scheme += "s"
	}
	ap := addrPort(d.listener.Addr())
	if addr, err := netip.ParseAddr(host); host == "" || (err == nil && !addr.IsUnspecified()) {
		host = ap.Addr().String()
	} else if err == nil {
		host = localName()
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(int(ap.Port())))
}

func splitListen(s string) (host string, port int, err error) {
	h, p, err := net.SplitHostPort(s)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, hearken.Errorf(hearken.Invalid, "%q is not an address with a port.", s).WithTry("127.0.0.1:7777")
	}
	if h == "" {
		h = "0.0.0.0"
	}
	return h, port, nil
}

// Serve answers at every door until ctx ends. Then it takes no new
// connections, ends the streams, lets what is being answered finish, at most
// for the drain time, and returns nil. It is called once.
func (a *API) Serve(ctx context.Context) error {
	if !a.rooted {
		a.mux.Handle("/", a.route("unknown", Access{}, http.HandlerFunc(notFound)))
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watchers sync.WaitGroup
	watchers.Go(func() { a.keys.watch(background) })
	watchers.Go(func() { a.mcp.sessions.watch(background) })
	defer watchers.Wait()

	failed := make(chan error, 2)
	var running []*http.Server
	for d, mux := range map[*door]http.Handler{a.main: a.mux, a.ws: a.wsMux} {
		if d == nil {
			continue
		}
		s := &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: a.limits.Header,
			IdleTimeout:       a.limits.Idle,
			MaxHeaderBytes:    32 << 10,
			ConnContext:       d.connContext,
			ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
			TLSConfig:         d.tls,
			Protocols:         new(http.Protocols),
		}
		// HTTP/2 would end a stream that is quiet for longer than one write
		// may take, and brings nothing that these doors need.
		s.Protocols.SetHTTP1(true)
		running = append(running, s)
		go func() {
			var err error
			if d.tls != nil {
				err = s.ServeTLS(d.listener, "", "")
			} else {
				err = s.Serve(d.listener)
			}
			if !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve: %w", err)
			}
		}()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop()
	a.drain(running)
	return err
}

// drain closes the doors in order: no new visitors, then the streams, then
// whoever is still being answered.
func (a *API) drain(running []*http.Server) {
	a.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), a.limits.Drain)
	defer cancel()
	a.close(errClosing)
	done := make(chan struct{})
	go func() {
		for _, s := range running {
			if err := s.Shutdown(ctx); err != nil && ctx.Err() == nil {
				a.log.Warn("a door was not closed", "error", err)
			}
		}
		a.mcp.sessions.closeAll(ctx)
		a.handling.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		a.log.Warn("some requests did not end in time")
	}
	for _, s := range running {
		s.Close()
	}
}

// Close gives the ports back without serving. After [API.Serve] there is
// nothing left to close.
func (a *API) Close() {
	a.close(errClosing)
	for _, d := range []*door{a.main, a.ws} {
		if d != nil {
			d.listener.Close()
		}
	}
}
