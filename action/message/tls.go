package message

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/hearken-dev/hearken/remote"
)

// tlsConfig trusts what the system trusts and, if a file is named, the
// authorities in it.
func tlsConfig(host, caFile string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	roots, err := remote.CertPool(caFile)
	cfg.RootCAs = roots
	return cfg, err
}

// untrusted reports whether err says that the other side is not who it should
// be. Trying again does not help then.
func untrusted(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad
}

// dialer connects. A plain one refuses every address but this computer's,
// whatever the name was resolved to.
func dialer(plain bool) *net.Dialer {
	d := &net.Dialer{Timeout: dialTime}
	if plain {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !ap.Addr().Unmap().IsLoopback() {
				return errors.New("without TLS only this computer is reached")
			}
			return nil
		}
	}
	return d
}
