package message

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

const (
	dialTimeout    = 15 * time.Second
	requestTimeout = 30 * time.Second
	maxResponse    = 64 << 10 // bytes; more than any of the services sends
)

// A service is reached by HTTP requests. It follows no redirects and reuses no
// connections: if a reused one closes while a request is sent, nobody knows
// whether the request arrived.
type service struct {
	name   string // as people call it
	client *http.Client
	now    func() time.Time
}

type response struct {
	status int
	after  time.Duration // how long the service asks to wait
	body   []byte        // as much as could be read
}

// checkURL parses the URL of a service. The setting names it in errors.
func checkURL(setting, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's error repeats the address, which may hold a secret.
		return nil, hearken.Errorf(hearken.Invalid, "%s is not a URL", setting)
	}
	switch {
	case u.Host == "" || u.Hostname() == "":
		return nil, hearken.Errorf(hearken.Invalid, "%s has no host", setting).WithTry("https://host/path")
	case u.User != nil:
		return nil, hearken.Errorf(hearken.Invalid, "%s must not contain a user name or password", setting)
	case u.Fragment != "":
		return nil, hearken.Errorf(hearken.Invalid, "%s must not have a part after #", setting)
	case u.Scheme == "https":
	case u.Scheme == "http" && remote.IsLoopback(u.Hostname()):
	case u.Scheme == "http":
		return nil, hearken.Errorf(hearken.Invalid, "%s has no TLS; http:// is only allowed to this computer", setting).WithTry("https://")
	default:
		return nil, hearken.Errorf(hearken.Invalid, "%s must begin with https://", setting)
	}
	return u, nil
}

func newService(name string, u *url.URL, caFile string) (*service, error) {
	cfg, err := tlsConfig("", caFile)
	if err != nil {
		return nil, err
	}
	plain := u.Scheme == "http"
	transport := &http.Transport{
		DialContext:            dialer(plain).DialContext,
		TLSClientConfig:        cfg,
		TLSHandshakeTimeout:    dialTimeout,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponse,
		Protocols:              new(http.Protocols),
	}
	// HTTP/1 only: each request has a connection of its own.
	transport.Protocols.SetHTTP1(true)
	if !plain {
		transport.Proxy = http.ProxyFromEnvironment
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &service{name: name, client: client, now: time.Now}, nil
}

// do sends a request. Without a response, the outcome says whether the service
// may have received it.
func (s *service) do(ctx context.Context, req *http.Request) (*response, *hearken.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var connected atomic.Bool // from here on bytes may have been sent
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req.Header.Set("User-Agent", "hearken")
	resp, err := s.client.Do(req.WithContext(ctx))
	switch {
	case err == nil:
	case connected.Load() && errors.Is(err, context.DeadlineExceeded):
		return nil, unknown("%s received the request and did not answer in time", s.name)
	case connected.Load():
		return nil, unknown("The connection to %s was lost before it answered", s.name)
	case isUntrusted(err):
		return nil, permanent("%s has a certificate that cannot be trusted", s.name)
	default:
		return nil, temporary("%s cannot be reached", s.name)
	}
	defer resp.Body.Close()
	r := &response{status: resp.StatusCode, after: remote.RetryAfter(resp.Header.Get("Retry-After"), s.now())}
	r.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxResponse)) // the status is what counts
	return r, nil
}

// refusal is the outcome of a response that is not a success, by its status.
// fromService says that the service itself sent it, and not a gateway.
func (s *service) refusal(r *response, fromService bool) *hearken.Outcome {
	switch {
	case r.status == http.StatusTooManyRequests:
		return retryAfter(temporary("%s got too many requests (429)", s.name), r.after)
	case r.status == http.StatusServiceUnavailable && fromService:
		return retryAfter(temporary("%s is not available now (503)", s.name), r.after)
	case r.status >= 500, r.status == http.StatusRequestTimeout:
		return unknown("%s failed (%d), and may have carried out the request", s.name, r.status)
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return permanent("%s refuses the credentials (%d)", s.name, r.status)
	case r.status >= 400:
		return permanent("%s refuses the message (%d)", s.name, r.status)
	case r.status >= 300:
		return permanent("%s redirects the request (%d), which is not followed", s.name, r.status)
	}
	return unknown("%s sent an unexpected answer", s.name)
}

// missingSetting is the error for a required setting that is empty.
func missingSetting(setting string) error {
	return hearken.Errorf(hearken.Invalid, "%s is missing", setting)
}

// settingFileError is the error for a setting whose file cannot be used.
func settingFileError(setting string, err error) error {
	return &hearken.Error{Code: hearken.Invalid, Message: fmt.Sprintf("%s: %v", setting, err), Err: err}
}

// tlsConfig trusts the system's authorities and those in the file, if there is
// one.
func tlsConfig(host, caFile string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	roots, err := remote.CertPool(caFile)
	cfg.RootCAs = roots
	return cfg, err
}

// isUntrusted reports whether the other side's certificate was refused. A retry
// does not help then.
func isUntrusted(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad
}

// dialer connects. A plain one, without TLS, refuses every address but this
// computer's, whatever a name resolves to.
func dialer(plain bool) *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout}
	if plain {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !ap.Addr().Unmap().IsLoopback() {
				return errors.New("without TLS only this computer may be reached")
			}
			return nil
		}
	}
	return d
}
