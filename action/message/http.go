package message

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

const (
	dialTime    = 15 * time.Second
	requestTime = 30 * time.Second
	// maxAnswer is more than any of the services says.
	maxAnswer = 64 << 10
)

// A door is a service that is reached by HTTP requests. It follows no
// redirects and keeps no connections: a request that is sent over a connection
// just being closed would leave nobody sure whether it arrived.
type door struct {
	service string // as people call it
	client  *http.Client
	now     func() time.Time
}

// An answer is what came back.
type answer struct {
	status int
	after  time.Duration
	body   []byte // as much as could be read
}

// checkURL parses the address of a service.
func checkURL(setting, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's error repeats the address, which may hold a secret.
		return nil, hearken.Errorf(hearken.Invalid, "%s is not a URL", setting)
	}
	switch {
	case u.Host == "" || u.Hostname() == "":
		return nil, hearken.Errorf(hearken.Invalid, "%s names no host", setting).WithTry("https://host/path")
	case u.User != nil:
		return nil, hearken.Errorf(hearken.Invalid, "%s holds a user name or password; they do not belong there", setting)
	case u.Fragment != "":
		return nil, hearken.Errorf(hearken.Invalid, "%s has a part after #", setting)
	case u.Scheme == "https":
	case u.Scheme == "http" && remote.IsLoopback(u.Hostname()):
	case u.Scheme == "http":
		return nil, hearken.Errorf(hearken.Invalid, "%s is without TLS; http:// is for this computer only", setting).WithTry("https://")
	default:
		return nil, hearken.Errorf(hearken.Invalid, "%s begins with neither https:// nor http://", setting)
	}
	return u, nil
}

func newDoor(service string, u *url.URL, caFile string) (*door, error) {
	cfg, err := tlsConfig("", caFile)
	if err != nil {
		return nil, err
	}
	plain := u.Scheme == "http"
	transport := &http.Transport{
		DialContext:            dialer(plain).DialContext,
		TLSClientConfig:        cfg,
		TLSHandshakeTimeout:    dialTime,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxAnswer,
		Protocols:              new(http.Protocols),
	}
	// One request on one connection: what was sent is what was sent.
	transport.Protocols.SetHTTP1(true)
	if !plain {
		transport.Proxy = http.ProxyFromEnvironment
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &door{service: service, client: client, now: time.Now}, nil
}

// do sends a request. Without an answer the outcome says what can be known.
func (d *door) do(ctx context.Context, req *http.Request) (*answer, *hearken.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var connected atomic.Bool // from here on bytes may have gone out
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req.Header.Set("User-Agent", "hearken")
	resp, err := d.client.Do(req.WithContext(ctx))
	switch {
	case err == nil:
	case connected.Load() && errors.Is(err, context.DeadlineExceeded):
		return nil, unknown("%s took the request and did not answer in time", d.service)
	case connected.Load():
		return nil, unknown("The connection to %s was lost before it answered", d.service)
	case untrusted(err):
		return nil, permanent("%s has a certificate that cannot be trusted", d.service)
	default:
		return nil, temporary("%s cannot be reached", d.service)
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, after: remote.RetryAfter(resp.Header.Get("Retry-After"), d.now())}
	a.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // the status is what counts
	return a, nil
}

// refusal is what an answer means that is no success, where the service has
// no more to say about it. signed tells that the service itself gave it, and
// not something on the way.
func (d *door) refusal(a *answer, signed bool) *hearken.Outcome {
	switch {
	case a.status == http.StatusTooManyRequests:
		return after(temporary("%s has had too many requests (429)", d.service), a.after)
	case a.status == http.StatusServiceUnavailable && signed:
		return after(temporary("%s is not available now (503)", d.service), a.after)
	case a.status >= 500, a.status == http.StatusRequestTimeout:
		return unknown("%s failed over the request (%d), and may have carried it out", d.service, a.status)
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		return permanent("%s refuses the credentials (%d)", d.service, a.status)
	case a.status >= 400:
		return permanent("%s refuses the message (%d)", d.service, a.status)
	case a.status >= 300:
		return permanent("%s sends the request elsewhere (%d), which is not followed", d.service, a.status)
	}
	return unknown("%s answered in a way that it does not", d.service)
}

// missing is the error for a setting that must be there.
func missing(setting string) error {
	return hearken.Errorf(hearken.Invalid, "%s is missing", setting)
}

// loadErr makes of a file's error one that people see.
func loadErr(setting string, err error) error {
	return &hearken.Error{Code: hearken.Invalid, Message: fmt.Sprintf("%s: %v", setting, err), Err: err}
}
