package message

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/hearken-dev/hearken/remote"
)

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
