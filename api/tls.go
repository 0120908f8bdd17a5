package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// TLS configures the encryption of listeners that other computers can reach. A
// configured certificate is used on every listener.
type TLS struct {
	Off               bool   // a proxy in front of the hub does it
	CertFile, KeyFile string // PEM; read again when they change
	Dir               string // where the hub keeps its self-made key
}

// A certificate is the one that all listeners use.
type certificate struct {
	pin string // of a self-signed one

	certFile, keyFile string
	mu                sync.Mutex
	cert              *tls.Certificate
	checked, changed  time.Time
}

func (a *API) tlsConfigFor(l *listener, host string) (*tls.Config, error) {
	configured := a.cfg.TLS.CertFile != "" || a.cfg.TLS.KeyFile != ""
	if a.cfg.TLS.Off || (l.loopback && !configured) {
		return nil, nil
	}
	if a.cert == nil {
		var err error
		if configured {
			a.cert, err = loadCertificate(a.cfg.TLS.CertFile, a.cfg.TLS.KeyFile)
		} else {
			a.cert, err = selfSigned(a.cfg.TLS.Dir, []string{host, localName()}, time.Now())
		}
		if err != nil {
			return nil, err
		}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.cert.get}, nil
}

func loadCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "Cannot use the TLS certificate: %w.", err).WithTry("set both TLS_CERT and TLS_KEY to PEM files")
	}
	c.cert, c.checked, c.changed = &cert, time.Now(), modTime(certFile)
	return c, nil
}

// get reads a renewed certificate within a minute. If it cannot be read, perhaps
// because it is just being written, the old one stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.certFile != "" && time.Since(c.checked) > time.Minute {
		c.checked = time.Now()
		if t := modTime(c.certFile); !t.Equal(c.changed) {
			if cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
				c.cert, c.changed = &cert, t
			}
		}
	}
	return c.cert, nil
}

func modTime(file string) time.Time {
	if fi, err := os.Stat(file); err == nil {
		return fi.ModTime()
	}
	return time.Time{}
}

// selfSigned makes a certificate for this computer's names. Its key is made at
// the first start and stays the same, and so does the pin that clients store.
func selfSigned(dir string, hosts []string, now time.Time) (*certificate, error) {
	if dir == "" {
		return nil, errors.New("make certificate: no directory for its key")
	}
	key, err := tlsKey(filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	t := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "Hearken on " + localName()},
		NotBefore:   now.Add(-time.Hour),
		NotAfter:    now.AddDate(10, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: localIPs(),
	}
	for _, h := range hosts {
		if net.ParseIP(h) == nil && h != "" && h != "localhost" {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	spki, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	sum := sha256.Sum256(spki)
	return &certificate{
		pin:  "sha256//" + base64.StdEncoding.EncodeToString(sum[:]),
		cert: &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
}

// tlsKey reads the hub's own key, or makes one.
func tlsKey(file string) (*ecdsa.PrivateKey, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return makeTLSKey(file)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s contains no key", file)
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

func makeTLSKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := files.Replace(file, block, 0o600); err != nil {
		return nil, err
	}
	return key, nil
}

func localName() string {
	if host, err := os.Hostname(); err == nil && host != "" {
		return host
	}
	return "localhost"
}

func localIPs() []net.IP {
	ips := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			ips = append(ips, n.IP)
		}
	}
	return ips
}
