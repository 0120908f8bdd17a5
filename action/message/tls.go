package message

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// tlsConfig trusts what the system trusts and, if a file is named, the
// authorities in it.
func tlsConfig(host, caFile string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
		cfg.RootCAs = x509.NewCertPool()
	}
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read certificates: %s holds none", caFile)
	}
	return cfg, nil
}

// untrusted reports whether err says that the other side is not who it should
// be. Trying again does not help then.
func untrusted(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad
}

// loopback reports whether host names this computer.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
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
