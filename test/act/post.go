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
	postUser     = "alice"
	postPassword = "a password of the post"
)

// A Post is a real mail server with TLS and a login, which books every letter
// that it takes.
type Post struct {
	Book *Book
	// Hold is called before a letter is booked and again before the server
	// says so, where a hub that dies leaves the most doubt; nil for no wait.
	Hold func()

	server *smtp.Server
	port   int
	ca     string
	done   chan struct{}
}

// OpenPost starts a mail server on a free port, with its files in a directory.
func OpenPost(dir string, hold func()) (*Post, error) {
	book, err := OpenBook(dir, "mail")
	if err != nil {
		return nil, err
	}
	if hold == nil {
		hold = func() {}
	}
	p := &Post{Book: book, Hold: hold, ca: filepath.Join(dir, "ca.pem"), done: make(chan struct{})}
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

// Env are the settings with which a hub sends mail here.
func (p *Post) Env() []string {
	return []string{
		"SMTP_HOST=localhost", "SMTP_PORT=" + strconv.Itoa(p.port), "SMTP_USER=" + postUser, "SMTP_PASSWORD=" + postPassword,
		"SMTP_FROM=Ada <ada@hub.example>", "ACTIONS_CA_FILE=" + p.ca,
	}
}

// Close ends the server.
func (p *Post) Close() {
	_ = p.server.Close() // of no more use
	<-p.done
	_ = p.Book.Close() // every entry was synced
}

// NewSession implements [smtp.Backend].
func (p *Post) NewSession(*smtp.Conn) (smtp.Session, error) { return &clerk{post: p}, nil }

type clerk struct {
	post   *Post
	authed bool
}

func (c *clerk) Reset()                                   {}
func (c *clerk) Logout() error                            { return nil }
func (c *clerk) AuthMechanisms() []string                 { return []string{sasl.Plain} }
func (c *clerk) Rcpt(_ string, _ *smtp.RcptOptions) error { return nil }

func (c *clerk) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != postUser || password != postPassword {
			return smtp.ErrAuthFailed
		}
		c.authed = true
		return nil
	}), nil
}

func (c *clerk) Mail(_ string, _ *smtp.MailOptions) error {
	if !c.authed {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (c *clerk) Data(r io.Reader) error {
	letter, err := io.ReadAll(r)
	if err != nil {
		return err // without the dot at its end it is no letter
	}
	_, body, _ := strings.Cut(string(letter), "\r\n\r\n")
	c.post.Hold()
	if err := c.post.Book.Enter(body); err != nil {
		return err
	}
	c.post.Hold()
	return nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// certificate makes one for this computer, and a file with which to trust it.
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
