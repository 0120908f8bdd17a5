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

// A listener is one listening socket of the API.
type listener struct {
	net.Listener
	loopback bool        // only this computer can reach it
	tls      *tls.Config // nil for plain HTTP
}

// openPort listens on a TCP port. If another program uses it, openPort tries
// last, where clients of the last run look for the hub, and then any free port,
// and logs that. Port 0 stands for any port.
func openPort(host string, port, last int, log *slog.Logger) (net.Listener, error) {
	// Notices within a minute that a peer has vanished.
	lc := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}
	var ln net.Listener
	err := error(syscall.EADDRINUSE)
	for _, p := range []int{port, last} {
		if p != 0 && portInUse(err) {
			ln, err = lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(p)))
		}
	}
	if portInUse(err) {
		ln, err = lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	}
	if err == nil && port != 0 {
		if got := int(addrPort(ln.Addr()).Port()); got != port {
			log.Warn("port is in use, using another", "host", host, "wanted", port, "port", got)
		}
	}
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "Cannot listen on %s: %w.", net.JoinHostPort(host, strconv.Itoa(port)), err)
	}
	return ln, nil
}

// portInUse reports whether another program uses a port, or on Windows has
// reserved it. Windows has its own error numbers, which Go does not translate.
func portInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) ||
		runtime.GOOS == "windows" && (errors.Is(err, syscall.Errno(10048)) || errors.Is(err, syscall.Errno(10013)))
}

func (a *API) listen(host string, port, last int) (*listener, error) {
	ln, err := openPort(host, port, last, a.log)
	if err != nil {
		return nil, err
	}
	l := &listener{
		Listener: &limitListener{Listener: ln, metrics: a.metrics, limit: int64(a.limits.Connections)},
		loopback: addrPort(ln.Addr()).Addr().IsLoopback(),
	}
	if l.tls, err = a.tlsConfigFor(l, host); err != nil {
		ln.Close()
		return nil, err
	}
	return l, nil
}

// url is the listener's address as clients write it. A listener on all
// interfaces goes by this computer's name.
func (l *listener) url(scheme, host string) string {
	if l.tls != nil {
		scheme += "s"
	}
	ap := addrPort(l.Addr())
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

// Serve answers requests on every listener until ctx ends. Then it accepts no
// new connections, ends the streams, lets running requests finish, at most for
// the drain time, and returns nil. It is called once.
func (a *API) Serve(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watchers sync.WaitGroup
	watchers.Go(func() { a.keys.watch(background) })
	watchers.Go(func() { a.mcp.sessions.watch(background) })
	defer watchers.Wait()

	failed := make(chan error, 2)
	var running []*http.Server
	for l, mux := range map[*listener]http.Handler{a.main: a.mux, a.ws: a.wsMux} {
		if l == nil {
			continue
		}
		s := &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: a.limits.Header,
			IdleTimeout:       a.limits.Idle,
			MaxHeaderBytes:    32 << 10,
			ConnContext:       l.connContext,
			ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
			TLSConfig:         l.tls,
			Protocols:         new(http.Protocols),
		}
		// HTTP/2 would end a stream that is quiet for longer than one write may
		// take, and offers nothing that the hub needs.
		s.Protocols.SetHTTP1(true)
		running = append(running, s)
		go func() {
			var err error
			if l.tls != nil {
				err = s.ServeTLS(l.Listener, "", "")
			} else {
				err = s.Serve(l.Listener)
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

// drain shuts down in order: it accepts no new connections, ends the streams,
// and then waits for the requests that are still running.
func (a *API) drain(running []*http.Server) {
	a.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), a.limits.Drain)
	defer cancel()
	a.close(errClosing)
	done := make(chan struct{})
	go func() {
		for _, s := range running {
			if err := s.Shutdown(ctx); err != nil && ctx.Err() == nil {
				a.log.Warn("a listener was not closed", "error", err)
			}
		}
		a.mcp.sessions.endMatching(func(*session) bool { return true })
		a.handling.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		a.log.Warn("some requests did not finish in time")
	}
	for _, s := range running {
		s.Close()
	}
}

// Close closes the listeners of an API that never served. After [API.Serve] it
// has nothing to close.
func (a *API) Close() {
	a.close(errClosing)
	for _, l := range []*listener{a.main, a.ws} {
		if l != nil {
			l.Close()
		}
	}
}
