package calendar

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

// A failure is why a request failed, in a sentence for people. It repeats nothing
// that the server wrote.
type failure struct {
	err    *hearken.Error
	status int           // of HTTP; 0 without a response
	after  time.Duration // how long the server asks to wait
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// outcome is the outcome of an attempt that failed. A CalDAV write can be
// repeated without a second effect, because the retry finds what the first
// attempt wrote. So even a timeout after everything was sent is temporary here,
// and never unknown.
func outcome(err error) hearken.Outcome {
	o := hearken.Outcome{Result: hearken.ResultPermanent, Message: err.Error()}
	if hearken.CodeOf(err) == hearken.ProviderTemporary {
		o.Result = hearken.ResultTemporary
	}
	if f, ok := errors.AsType[*failure](err); ok {
		o.After = f.after
	}
	return o
}

// isNotFound reports whether the server says that there is nothing.
func isNotFound(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.status == http.StatusNotFound || f.status == http.StatusGone)
}

// isNotWebDAV reports whether the server does not support WebDAV at all.
func isNotWebDAV(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (isNotFound(err) || f.status == http.StatusMethodNotAllowed || f.status == http.StatusNotImplemented || f.status == http.StatusOK)
}

func rejected(format string, args ...any) *hearken.Error {
	return hearken.Errorf(hearken.ProviderRejected, format, args...)
}

// statusError explains a response with an unexpected status.
func statusError(r *response) error {
	host := r.url.Host
	f := &failure{status: r.status, after: retryAfter(r.header)}
	switch {
	case r.status == http.StatusUnauthorized && !allowsBasicAuth(r.header):
		f.err = rejected("The calendar server %s does not support signing in with a user and a password.", host).
			WithTry("Basic authentication in the server's settings, or another server")
	case r.status == http.StatusUnauthorized:
		f.err = rejected("The calendar server %s refuses the user or the password.", host).
			WithTry("CALDAV_USER and CALDAV_PASSWORD; some services need an app password")
	case r.status == http.StatusForbidden:
		f.err = rejected("The calendar server %s does not allow this at %s.", host, r.url.EscapedPath()).
			WithTry("a calendar in CALDAV_CALENDAR that this user may change")
	case r.status == http.StatusNotFound, r.status == http.StatusGone, r.status == http.StatusConflict:
		f.err = rejected("The calendar server %s has nothing at %s (%d).", host, r.url.EscapedPath(), r.status).
			WithTry("CALDAV_URL and CALDAV_CALENDAR")
	case r.status == http.StatusTooManyRequests:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s got too many requests.", host)
	case r.status == http.StatusInsufficientStorage:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s has no space left.", host)
	case r.status >= 500 && r.status != http.StatusNotImplemented:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s failed (%d).", host, r.status)
	case r.status == http.StatusMethodNotAllowed, r.status == http.StatusNotImplemented, r.status == http.StatusOK:
		f.err = rejected("%s is not a calendar server (%d).", r.url.Redacted(), r.status).
			WithTry("the CalDAV address of your provider in CALDAV_URL")
	default:
		f.err = rejected("The calendar server %s refused with %d.", host, r.status)
	}
	return f
}

// allowsBasicAuth reports whether the server offers Basic authentication, or
// does not say what it offers.
func allowsBasicAuth(h http.Header) bool {
	offers := strings.ToLower(strings.Join(h.Values("WWW-Authenticate"), ","))
	return offers == "" || strings.Contains(offers, "basic")
}

// transportError explains why there was no response.
func transportError(err error, u *url.URL) error {
	f := &failure{}
	temporary := func(format string) {
		f.err = hearken.Errorf(hearken.ProviderTemporary, format, u.Host)
	}
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		f.err = rejected("The certificate of the calendar server %s was issued by an authority that is not trusted.", u.Host).
			WithTry("the issuer's certificate in ACTIONS_CA_FILE")
	case errors.As(err, &name):
		f.err = rejected("The certificate of the calendar server %s is for another name.", u.Host).
			WithTry("the name in the certificate in CALDAV_URL")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.err = rejected("The certificate of the calendar server %s has expired, or is not valid yet.", u.Host).
			WithTry("the clock of this computer, or a new certificate on the server")
	case errors.As(err, &invalid), errors.As(err, new(*tls.CertificateVerificationError)):
		f.err = rejected("The certificate of the calendar server %s is not valid.", u.Host)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		f.err = rejected("The server at %s does not speak TLS.", u.Host).WithTry("another port in CALDAV_URL")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		temporary("The calendar server %s did not answer in time.")
	case errors.Is(err, context.Canceled):
		temporary("The request to the calendar server %s was canceled.")
	case errors.As(err, &dns):
		temporary("The name of the calendar server %s cannot be resolved.")
	default:
		temporary("The calendar server %s cannot be reached, or closed the connection.")
	}
	f.err.Err = err
	return f
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// retryAfter is how long the server asks to wait. A date is by the server's own
// clock, which its Date header tells.
func retryAfter(h http.Header) time.Duration {
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return remote.RetryAfter(h.Get("Retry-After"), now)
}
