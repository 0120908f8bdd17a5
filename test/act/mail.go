package act

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

const (
	mailUser     = "alice"
	mailPassword = "a password of the mail server"
)

// A MailServer is a real mail server with TLS and a login. It records every
// email that it accepts.
type MailServer struct {
	Receipts *Receipts

	delay  func()
	server *smtp.Server
	port   int
	ca     string
	done   chan struct{}
}

// OpenMailServer starts a mail server on a free port, with its files in a
// directory. It calls delay before it records an email and again before it
// acknowledges it, where a hub that is killed leaves the most doubt; nil for no
// delay.
func OpenMailServer(dir string, delay func()) (*MailServer, error) {
	receipts, err := OpenReceipts(dir, "mail")
	if err != nil {
		return nil, err
	}
	if delay == nil {
		delay = func() {}
	}
	p := &MailServer{Receipts: receipts, delay: delay, ca: filepath.Join(dir, "ca.pem"), done: make(chan struct{})}
	cert, err := certificate(p.ca)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	p.server = smtp.NewServer(p)
	p.server.Domain = "localhost"
	p.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}}
	p.server.ErrorLog = silent{}
	go func() {
		defer close(p.done)
		_ = p.server.Serve(l) // until Close
	}()
	return p, nil
}

// Env is the settings with which a hub sends its mail here.
func (p *MailServer) Env() []string {
	return []string{
		"SMTP_HOST=localhost", "SMTP_PORT=" + strconv.Itoa(p.port), "SMTP_USER=" + mailUser, "SMTP_PASSWORD=" + mailPassword,
		"SMTP_FROM=Ada <ada@hub.example>", "ACTIONS_CA_FILE=" + p.ca,
	}
}

// Close stops the server.
func (p *MailServer) Close() {
	_ = p.server.Close() // nothing is lost
	<-p.done
	_ = p.Receipts.Close() // every receipt is synced
}

// NewSession implements [smtp.Backend].
func (p *MailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return &smtpSession{mail: p}, nil }

type smtpSession struct {
	mail   *MailServer
	authed bool
}

func (c *smtpSession) Reset()                                   {}
func (c *smtpSession) Logout() error                            { return nil }
func (c *smtpSession) AuthMechanisms() []string                 { return []string{sasl.Plain} }
func (c *smtpSession) Rcpt(_ string, _ *smtp.RcptOptions) error { return nil }

func (c *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != mailUser || password != mailPassword {
			return smtp.ErrAuthFailed
		}
		c.authed = true
		return nil
	}), nil
}

func (c *smtpSession) Mail(_ string, _ *smtp.MailOptions) error {
	if !c.authed {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (c *smtpSession) Data(r io.Reader) error {
	email, err := io.ReadAll(r)
	if err != nil {
		return err // without its final dot it is incomplete
	}
	_, body, _ := strings.Cut(string(email), "\r\n\r\n")
	c.mail.delay()
	if err := c.mail.Receipts.Record(body); err != nil {
		return err
	}
	c.mail.delay()
	return nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// certificate makes a certificate for localhost, and a file to trust it by.
func certificate(file string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a mail server of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
