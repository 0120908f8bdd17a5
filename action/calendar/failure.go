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

// A failure is why a server did not do what it was asked, in words for people.
// Nothing that the server wrote is repeated.
type failure struct {
	err    *hearken.Error
	status int           // of HTTP; 0 if there was no answer
	after  time.Duration // what the server asked to wait
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// outcome is how an attempt ended that failed. CalDAV writes can be repeated
// without a second effect, and whatever repeats one finds out whether the
// first was taken. So also what may have happened, such as a time-out after
// everything was sent, is temporary here and never unknown.
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

// isGone reports whether the server says that there is no such thing.
func isGone(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.status == http.StatusNotFound || f.status == http.StatusGone)
}

// isNoServer reports whether whatever answered does not know of WebDAV at all.
func isNoServer(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (isGone(err) || f.status == http.StatusMethodNotAllowed || f.status == http.StatusNotImplemented || f.status == http.StatusOK)
}

func rejected(format string, args ...any) *hearken.Error {
	return hearken.Errorf(hearken.ProviderRejected, format, args...)
}

// refusal explains an answer that is not the wanted one.
func refusal(a *answer) error {
	host := a.url.Host
	f := &failure{status: a.status, after: retryAfter(a.header)}
	switch {
	case a.status == http.StatusUnauthorized && !takesBasic(a.header):
		f.err = rejected("The calendar server %s wants another way of signing in than a user and a password.", host).
			WithTry("Basic authentication in the server's settings, or another server")
	case a.status == http.StatusUnauthorized:
		f.err = rejected("The calendar server %s refuses the user or the password.", host).
			WithTry("CALDAV_USER and CALDAV_PASSWORD; some services want a password made for apps")
	case a.status == http.StatusForbidden:
		f.err = rejected("The calendar server %s does not allow this at %s.", host, a.url.EscapedPath()).
			WithTry("a calendar in CALDAV_CALENDAR that this user may change")
	case a.status == http.StatusNotFound, a.status == http.StatusGone, a.status == http.StatusConflict:
		f.err = rejected("The calendar server %s has nothing at %s (%d).", host, a.url.EscapedPath(), a.status).
			WithTry("CALDAV_URL and CALDAV_CALENDAR")
	case a.status == http.StatusTooManyRequests:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s has had too many requests.", host)
	case a.status == http.StatusInsufficientStorage:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s has no room left.", host)
	case a.status >= 500 && a.status != http.StatusNotImplemented:
		f.err = hearken.Errorf(hearken.ProviderTemporary, "The calendar server %s is not well (%d).", host, a.status)
	case a.status == http.StatusMethodNotAllowed, a.status == http.StatusNotImplemented, a.status == http.StatusOK:
		f.err = rejected("What answers at %s is not a calendar server (%d).", a.url.Redacted(), a.status).
			WithTry("the CalDAV address of your provider in CALDAV_URL")
	default:
		f.err = rejected("The calendar server %s refused with %d.", host, a.status)
	}
	return f
}

// takesBasic reports whether the server lets people sign in by a password, as
// far as it says anything about it.
func takesBasic(h http.Header) bool {
	offers := strings.ToLower(strings.Join(h.Values("WWW-Authenticate"), ","))
	return offers == "" || strings.Contains(offers, "basic")
}

// unreachable explains why there was no answer.
func unreachable(err error, u *url.URL) error {
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
		f.err = rejected("The certificate of the calendar server %s was issued by somebody who is not trusted here.", u.Host).
			WithTry("the issuer's certificate in ACTIONS_CA_FILE")
	case errors.As(err, &name):
		f.err = rejected("The certificate of the calendar server %s is for another name.", u.Host).
			WithTry("the name in the certificate in CALDAV_URL")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.err = rejected("The certificate of the calendar server %s is not valid today.", u.Host).
			WithTry("the clock of this computer, or a new certificate on the server")
	case errors.As(err, &invalid), errors.As(err, new(*tls.CertificateVerificationError)):
		f.err = rejected("The certificate of the calendar server %s is not valid.", u.Host)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		f.err = rejected("What answers at %s does not speak TLS.", u.Host).WithTry("another port in CALDAV_URL")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		temporary("The calendar server %s did not answer in time.")
	case errors.Is(err, context.Canceled):
		temporary("The calendar server %s was not waited for.")
	case errors.As(err, &dns):
		temporary("The name of the calendar server %s cannot be found.")
	default:
		temporary("The calendar server %s cannot be reached, or hung up.")
	}
	f.err.Err = err
	return f
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// retryAfter is how long the server asks to wait, by its own clock where it
// tells it: that need not be ours.
func retryAfter(h http.Header) time.Duration {
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return remote.RetryAfter(h.Get("Retry-After"), now)
}
