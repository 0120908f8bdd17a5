// Package remote holds what clients of other people's servers share: which
// certificates to trust, which hosts are this computer, and how long a server
// asks to wait.
package remote

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// MaxWait bounds how long a server may ask to wait.
const MaxWait = time.Hour

// RetryAfter reads the value of that header: seconds, or a date. It is 0 if the
// value is neither, and at most [MaxWait].
func RetryAfter(value string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(max(0, seconds), 1<<20)) * time.Second
	} else if t, err := http.ParseTime(value); err == nil {
		wait = t.Sub(now)
	}
	return min(max(0, wait), MaxWait)
}

// CertPool returns the system's certificates and those in a PEM file. It is nil
// if there is no file, which means those of the system.
func CertPool(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read certificates: %s holds none", file)
	}
	return pool, nil
}

// IsLoopback reports whether a host, a name or an address, is this computer.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsLoopbackURL reports whether an address such as http://localhost:8000/v1
// leads to this computer.
func IsLoopbackURL(raw string) bool {
	u, err := url.Parse(strings.TrimSpace(raw))
	return err == nil && u.Host != "" && IsLoopback(u.Hostname())
}
