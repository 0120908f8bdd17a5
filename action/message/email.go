package message

import (
	"context"
	"crypto/tls"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
)

var _ hearken.Connector = (*Email)(nil)

// How a connection to a mail server is encrypted.
const (
	StartTLS    = "starttls" // after a plain greeting, port 587
	ImplicitTLS = "implicit" // from the first byte, port 465
)

// maxMail is the longest text of an email in bytes.
const maxMail = 20_000

// EmailConfig is what [Email] is made of. Host and From are required.
type EmailConfig struct {
	Host     string
	Port     int // 0 for 587, or 465 with implicit TLS
	User     string
	Password string
	From     string // an address, or Name <address>
	CAFile   string // certificates to trust besides the system's
	TLS      string // StartTLS or ImplicitTLS; empty decides by the port
	Insecure bool   // no TLS at all, for a server on this computer
}

// Email sends mail through an SMTP server, as text and without attachments.
type Email struct {
	cfg  EmailConfig
	from *mail.Address
	tls  *tls.Config
	now  func() time.Time
}

// NewEmail checks the settings. It does not connect.
func NewEmail(cfg EmailConfig) (*Email, error) {
	if cfg.Host == "" {
		return nil, missing("The mail server's host")
	}
	if strings.ContainsAny(cfg.Host, "/:@ \t\r\n") && !remote.IsLoopback(cfg.Host) {
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's host is not a bare name").WithTry("smtp.example.org")
	}
	if cfg.Port == 0 && cfg.TLS == ImplicitTLS {
		cfg.Port = 465
	} else if cfg.Port == 0 {
		cfg.Port = 587
	}
	if cfg.Port < 1 || cfg.Port > 65535 {
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's port is not between 1 and 65535")
	}
	if cfg.TLS == "" && cfg.Port == 465 {
		cfg.TLS = ImplicitTLS
	} else if cfg.TLS == "" {
		cfg.TLS = StartTLS
	}
	switch {
	case cfg.TLS != StartTLS && cfg.TLS != ImplicitTLS:
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's TLS is neither %s nor %s", StartTLS, ImplicitTLS)
	case cfg.Insecure && !remote.IsLoopback(cfg.Host):
		return nil, hearken.Errorf(hearken.Invalid, "Mail without TLS is for a server on this computer only")
	case cfg.User == "" && cfg.Password != "":
		return nil, missing("The mail server's user")
	case cfg.User != "" && cfg.Password == "":
		return nil, missing("The mail server's password")
	case cfg.From == "":
		return nil, missing("The address that mail comes from")
	}
	from, err := mail.ParseAddress(cfg.From)
	if err != nil || !isVisible(from.Name) || !plainAddress(from.Address) {
		return nil, hearken.Errorf(hearken.Invalid, "The address that mail comes from is not an email address").
			WithTry("Name <name@example.org>")
	}
	tlsCfg, err := tlsConfig(cfg.Host, cfg.CAFile)
	if err != nil {
		return nil, loadErr("The mail server's certificates", err)
	}
	return &Email{cfg: cfg, from: from, tls: tlsCfg, now: time.Now}, nil
}

// Name is email.
func (e *Email) Name() string { return PlatformEmail }

// Repeatable is false: a second attempt is a second letter.
func (e *Email) Repeatable() bool { return false }

// Sender is the bare address that mail comes from: the owner's.
func (e *Email) Sender() string { return e.from.Address }

// Accepts says why a message could not be sent, before anybody is asked.
func (e *Email) Accepts(m *hearken.Message) error {
	if !plainAddress(m.Address) {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not an email address")
	}
	return checkText(m.Text, maxMail, sizeBytes, "bytes")
}

// Do sends the message.
func (e *Email) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, bad := open(ctx, e, a)
	if bad != nil {
		return *bad
	}
	letter, id, err := e.letter(a.ID, m)
	if err != nil {
		return *permanent("The message cannot be written as an email")
	}
	if bad := e.deliver(ctx, m.Address, letter); bad != nil {
		return *bad
	}
	return ok(id)
}

// plainAddress reports whether s is one bare address, and nothing that a
// header or a command could be made of.
func plainAddress(s string) bool {
	if len(s) > 254 || !isVisible(s) || strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsAny(s, "<>(),;:\"\\[]") {
		return false
	}
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || at == len(s)-1 || strings.Count(s, "@") != 1 {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && a.Name == ""
}
