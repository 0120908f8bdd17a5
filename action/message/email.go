package message

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
	"github.com/hearken-dev/hearken/safetext"
	gomail "github.com/wneessen/go-mail"
)

var _ hearken.Connector = (*Email)(nil)

// How a connection to a mail server is encrypted.
const (
	StartTLS    = "starttls" // after a plain greeting, port 587
	ImplicitTLS = "implicit" // from the first byte, port 465
)

// maxMail is how many bytes the text of an email may have.
const maxMail = 20_000

// EmailConfig configures [Email]. Host and From are required.
type EmailConfig struct {
	Host     string
	Port     int // 0 for 587, or 465 with implicit TLS
	User     string
	Password string
	From     string // an address, or Name <address>
	CAFile   string // certificates to trust in addition to the system's
	TLS      string // StartTLS or ImplicitTLS; if empty, the port decides
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
		return nil, missingSetting("The mail server's host")
	}
	if strings.ContainsAny(cfg.Host, "/:@ \t\r\n") && !remote.IsLoopback(cfg.Host) {
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's host must be a name without a port or path").WithTry("smtp.example.org")
	}
	if cfg.Port == 0 && cfg.TLS == ImplicitTLS {
		cfg.Port = 465
	} else if cfg.Port == 0 {
		cfg.Port = 587
	}
	if cfg.Port < 1 || cfg.Port > 65535 {
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's port must be between 1 and 65535")
	}
	if cfg.TLS == "" && cfg.Port == 465 {
		cfg.TLS = ImplicitTLS
	} else if cfg.TLS == "" {
		cfg.TLS = StartTLS
	}
	switch {
	case cfg.TLS != StartTLS && cfg.TLS != ImplicitTLS:
		return nil, hearken.Errorf(hearken.Invalid, "The mail server's TLS must be %s or %s", StartTLS, ImplicitTLS)
	case cfg.User == "" && cfg.Password != "":
		return nil, missingSetting("The mail server's user")
	case cfg.User != "" && cfg.Password == "":
		return nil, missingSetting("The mail server's password")
	case cfg.From == "":
		return nil, missingSetting("The sender's address")
	}
	from, err := mail.ParseAddress(cfg.From)
	if err != nil || !isVisible(from.Name) || !isBareAddress(from.Address) {
		return nil, hearken.Errorf(hearken.Invalid, "The sender's address is not an email address").
			WithTry("Name <name@example.org>")
	}
	tlsCfg, err := tlsConfig(cfg.Host, cfg.CAFile)
	if err != nil {
		return nil, settingFileError("The mail server's certificates", err)
	}
	return &Email{cfg: cfg, from: from, tls: tlsCfg, now: time.Now}, nil
}

// Name is email.
func (e *Email) Name() string { return PlatformEmail }

// Repeatable is false: a second attempt would send a second email.
func (e *Email) Repeatable() bool { return false }

// Sender is the address that email is sent from, the owner's, without a name.
func (e *Email) Sender() string { return e.from.Address }

// Accepts says why a message could not be sent, before anybody approves it.
func (e *Email) Accepts(m *hearken.Message) error {
	if !isBareAddress(m.Address) {
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not an email address")
	}
	return checkText(m.Text, len(m.Text), maxMail, "bytes")
}

// Do sends the message.
func (e *Email) Do(ctx context.Context, a *hearken.Action) hearken.Outcome {
	m, failed := messageOf(ctx, e, a)
	if failed != nil {
		return *failed
	}
	mail, id, err := e.compose(a.ID, m)
	if err != nil {
		return *permanent("The message cannot be written as an email")
	}
	if failed := e.deliver(ctx, m.Address, mail); failed != nil {
		return *failed
	}
	return success(id)
}

// isBareAddress reports whether s is one address and nothing else, so that it
// cannot add a header or an SMTP command.
func isBareAddress(s string) bool {
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

// maxSubject is about what mail programs show of a subject.
const maxSubject = 60

// compose writes the email and returns it with its Message-ID. That is made of
// the action's id, so that a search on the server or in a mailbox shows whether
// an email of unknown outcome was sent.
func (e *Email) compose(id string, m *hearken.Message) (mail []byte, messageID string, err error) {
	_, domain, _ := strings.Cut(e.from.Address, "@")
	messageID = id + "@" + domain
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(e.from)
	if err := msg.To(m.Address); err != nil {
		return nil, "", fmt.Errorf("address mail: %w", err)
	}
	msg.Subject(subject(m.Text, cmp.Or(e.from.Name, e.from.Address)))
	msg.SetMessageIDWithValue(messageID)
	msg.SetDateWithValue(e.now())
	msg.SetBodyString(gomail.TypeTextPlain, normalizeNewlines(m.Text))
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, "", fmt.Errorf("write mail: %w", err)
	}
	return b.Bytes(), "<" + messageID + ">", nil
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func normalizeNewlines(text string) string { return newlines.Replace(text) }

// subject is the beginning of the text's first line. Without a letter or digit
// in it, the subject says who wrote.
func subject(text, from string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(normalizeNewlines(text)), "\n")
	first = safetext.VisibleLine(first)
	if !strings.ContainsFunc(first, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return "Message from " + from
	}
	if utf8.RuneCountInString(first) <= maxSubject {
		return first
	}
	cut := string([]rune(first)[:maxSubject])
	// Japanese and Chinese have no spaces to cut at.
	if i := strings.LastIndexByte(cut, ' '); i > maxSubject/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:-") + "…"
}

// isVisible reports whether s has nothing that ends a line or hides.
func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return safetext.ClassOf(r) != safetext.Visible })
}
