package message

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

// smtpServer is a real SMTP server in this process. It requires TLS and a login,
// and may refuse commands.
type smtpServer struct {
	mu        sync.Mutex
	encrypted bool
	from, to  string
	mails     [][]byte
	refuse    map[string]error // by command
}

func (p *smtpServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &smtpSession{p, c, false}, nil
}

type smtpSession struct {
	*smtpServer
	conn   *smtp.Conn
	authed bool
}

func (c *smtpSession) Reset()                   {}
func (c *smtpSession) Logout() error            { return nil }
func (c *smtpSession) AuthMechanisms() []string { return []string{sasl.Plain} }
func (c *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "alice" || password != secret {
			return smtp.ErrAuthFailed
		}
		_, c.encrypted = c.conn.TLSConnectionState()
		c.authed = true
		return nil
	}), nil
}

func (c *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if !c.authed {
		return smtp.ErrAuthRequired
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from = from
	return c.refuse["MAIL"]
}

func (c *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
	return c.refuse["RCPT"]
}

func (c *smtpSession) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mails = append(c.mails, b)
	return c.refuse["DATA"]
}

// open starts the server and returns the settings to reach it.
func (p *smtpServer) open(t *testing.T, implicit bool) EmailConfig {
	t.Helper()
	cert, ca := certificate(t)
	l, port := listen(t)
	server := smtp.NewServer(p)
	server.Domain = "localhost"
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.ErrorLog = quiet{}
	cfg := EmailConfig{Host: "localhost", Port: port, User: "alice", Password: secret, From: "Alice Ž <alice@hub.test>", CAFile: ca}
	if implicit {
		l = tls.NewListener(l, server.TLSConfig)
		cfg.TLS = ImplicitTLS
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return cfg
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func newEmail(t *testing.T, cfg EmailConfig) *Email {
	t.Helper()
	e, err := NewEmail(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmail_Do(t *testing.T) {
	for _, implicit := range []bool{false, true} {
		var server smtpServer
		e := newEmail(t, server.open(t, implicit))
		if e.Sender() != "alice@hub.test" {
			t.Errorf("sender %q", e.Sender())
		}
		e.now = func() time.Time { return time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC) }
		text := "Žluťoučký kůň – přijdu později.\n.\nRCPT TO:<eve@evil.test>\r\n一行"
		out := e.Do(t.Context(), newAction("email", "bob@hub.test", text))
		checkOutcome(t, out, hearken.ResultOK, "")
		if want := "<" + actionID + "@hub.test>"; out.Receipt != want {
			t.Errorf("receipt %q, want %q", out.Receipt, want)
		}
		if !server.encrypted || server.from != "alice@hub.test" || server.to != "bob@hub.test" || len(server.mails) != 1 {
			t.Fatalf("the server got encrypted %t, from %q, to %q, %d mails", server.encrypted, server.from, server.to, len(server.mails))
		}
		m, err := mail.ReadMessage(bytes.NewReader(server.mails[0]))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(string(body), "\r\n", "\n"); got != normalizeNewlines(text)+"\n" {
			t.Errorf("body %q, want %q", got, normalizeNewlines(text))
		}
		subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		from, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("From"))
		got := map[string]string{"Subject": subject, "From": from}
		for _, key := range []string{"Message-Id", "To", "Date", "Content-Type", "User-Agent", "X-Mailer"} {
			got[key] = m.Header.Get(key)
		}
		want := map[string]string{
			"Subject": "Žluťoučký kůň – přijdu později.", "From": "Alice Ž <alice@hub.test>",
			"Message-Id": "<" + actionID + "@hub.test>", "To": "<bob@hub.test>",
			"Date": "Sun, 15 Nov 2026 09:30:00 +0000", "Content-Type": "text/plain; charset=UTF-8",
			"User-Agent": "", "X-Mailer": "",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
}

func TestEmail_Refused(t *testing.T) {
	refusal := func(code int, a, b, c int) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{a, b, c}, Message: evil}
	}
	for _, tt := range []struct {
		at     string
		err    error
		result hearken.Result
		says   string
	}{
		{"MAIL", refusal(450, 4, 1, 8), hearken.ResultTemporary, "refuses the sender for now (450 4.1.8)"},
		{"MAIL", refusal(553, 5, 7, 1), hearken.ResultPermanent, "refuses the sender (553 5.7.1)"},
		{"RCPT", refusal(451, 4, 7, 1), hearken.ResultTemporary, "refuses the recipient for now (451 4.7.1)"},
		{"RCPT", refusal(550, 5, 1, 1), hearken.ResultPermanent, "does not know the recipient (550 5.1.1)"},
		{"RCPT", refusal(554, 5, 7, 1), hearken.ResultPermanent, "does not relay mail to the recipient (554 5.7.1)"},
		{"RCPT", refusal(552, 5, 2, 2), hearken.ResultPermanent, "mailbox is full (552 5.2.2)"},
		{"DATA", refusal(452, 4, 3, 1), hearken.ResultTemporary, "refuses the message for now (452 4.3.1)"},
		{"DATA", refusal(554, 5, 6, 0), hearken.ResultPermanent, "refuses the message (554 5.6.0)"},
	} {
		server := &smtpServer{refuse: map[string]error{tt.at: tt.err}}
		e := newEmail(t, server.open(t, false))
		checkOutcome(t, e.Do(t.Context(), newAction("email", "bob@hub.test", "Hello")), tt.result, tt.says)
	}
}

func TestEmail_Login(t *testing.T) {
	var server smtpServer
	cfg := server.open(t, false)
	cfg.Password = secret + "x"
	checkOutcome(t, newEmail(t, cfg).Do(t.Context(), newAction("email", "bob@hub.test", "Hello")),
		hearken.ResultPermanent, "refuses the user name or password (535 5.7.8)")
	if len(server.mails) != 0 {
		t.Error("an email was accepted")
	}
}

func TestEmail_Untrusted(t *testing.T) {
	for _, implicit := range []bool{false, true} {
		var server smtpServer
		cfg := server.open(t, implicit)
		cfg.CAFile = ""
		checkOutcome(t, newEmail(t, cfg).Do(t.Context(), newAction("email", "bob@hub.test", "Hello")),
			hearken.ResultPermanent, "certificate that cannot be trusted")
		if len(server.mails) != 0 {
			t.Error("an email was accepted")
		}
	}
}

func TestEmail_Unreachable(t *testing.T) {
	l, port := listen(t)
	l.Close()
	e := newEmail(t, EmailConfig{Host: "127.0.0.1", Port: port, From: "a@hub.test"})
	checkOutcome(t, e.Do(t.Context(), newAction("email", "bob@hub.test", "Hello")), hearken.ResultTemporary, "cannot be reached")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkOutcome(t, e.Do(ctx, newAction("email", "bob@hub.test", "Hello")), hearken.ResultTemporary, "Nothing was sent")
}

func TestNewEmail_Refuses(t *testing.T) {
	good := EmailConfig{Host: "smtp.example.org", User: "alice", Password: secret, From: "alice@example.org"}
	for name, change := range map[string]func(*EmailConfig){
		"NoHost":          func(c *EmailConfig) { c.Host = "" },
		"HostWithPort":    func(c *EmailConfig) { c.Host = "smtp.example.org:25" },
		"Port":            func(c *EmailConfig) { c.Port = 70000 },
		"TLS":             func(c *EmailConfig) { c.TLS = "maybe" },
		"NoUser":          func(c *EmailConfig) { c.User = "" },
		"NoPassword":      func(c *EmailConfig) { c.Password = "" },
		"NoFrom":          func(c *EmailConfig) { c.From = "" },
		"FromNoAddress":   func(c *EmailConfig) { c.From = "Alice" },
		"FromTwo":         func(c *EmailConfig) { c.From = "a@x.test, b@x.test" },
		"FromLineBreak":   func(c *EmailConfig) { c.From = "a@x.test\r\nBcc: e@x.test" },
		"CAFileMissing":   func(c *EmailConfig) { c.CAFile = "no such file" },
		"CAFileNoneInIt":  func(c *EmailConfig) { c.CAFile = "email_test.go" },
		"NegativePort":    func(c *EmailConfig) { c.Port = -1 },
		"HostWithNewline": func(c *EmailConfig) { c.Host = "smtp\n" },
	} {
		cfg := good
		change(&cfg)
		_, err := NewEmail(cfg)
		if hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error holds the password", name)
		}
	}
	for _, tt := range []struct {
		cfg  EmailConfig
		port int
		tls  string
	}{
		{good, 587, StartTLS},
		{EmailConfig{Host: "x.test", Port: 465, From: "a@x.test"}, 465, ImplicitTLS},
		{EmailConfig{Host: "x.test", TLS: ImplicitTLS, From: "a@x.test"}, 465, ImplicitTLS},
		{EmailConfig{Host: "x.test", Port: 25, From: "a@x.test"}, 25, StartTLS},
		{EmailConfig{Host: "::1", Port: 25, From: "a@x.test"}, 25, StartTLS},
	} {
		e, err := NewEmail(tt.cfg)
		if err != nil {
			t.Error(err)
		} else if e.cfg.Port != tt.port || e.cfg.TLS != tt.tls {
			t.Errorf("port %d with %s, want %d with %s", e.cfg.Port, e.cfg.TLS, tt.port, tt.tls)
		}
	}
}

func TestEmail_Accepts(t *testing.T) {
	e := newEmail(t, EmailConfig{Host: "x.test", From: "a@x.test"})
	for _, address := range []string{
		"", "bob", "@x.test", "bob@", "bob@x.test\r\nBcc: eve@x.test", "bob@x.test,eve@x.test", "bob@x.test eve@x.test",
		"Bob <bob@x.test>", "<bob@x.test>", `"b b"@x.test`, "bob@x.test>", "bob@@x.test", "bob\u202e@x.test", "bob\u200b@x.test",
		"bob@[127.0.0.1]", "bob@x.test\x00", strings.Repeat("b", 65) + "@x.test", "b@" + strings.Repeat("x", 260),
	} {
		if err := e.Accepts(&hearken.Message{Address: address, Text: "Hello"}); hearken.CodeOf(err) != hearken.InvalidRecipient {
			t.Errorf("%q: %v", address, err)
		}
		checkOutcome(t, e.Do(t.Context(), newAction("email", address, "Hello")), hearken.ResultPermanent, "not an email address")
	}
	for _, text := range []string{"", "\x00", "a\x1bb", "\xff", strings.Repeat("x", maxMail+1), strings.Repeat("x", 1<<20)} {
		if err := e.Accepts(&hearken.Message{Address: "bob@x.test", Text: text}); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, address := range []string{"bob@x.test", "b.o+b@sub.x.test", "o'neil@x.test", "büro@x.test"} {
		if err := e.Accepts(&hearken.Message{Address: address, Text: "a\tb\r\nc"}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, id := range []string{"", "a b", "a@b", "a\r\nX: y", strings.Repeat("a", 101)} {
		a := newAction("email", "bob@x.test", "Hello")
		a.ID = id
		checkOutcome(t, e.Do(t.Context(), a), hearken.ResultPermanent, "id cannot be used")
	}
	checkOutcome(t, e.Do(t.Context(), &hearken.Action{ID: actionID}), hearken.ResultPermanent, "not a message")
}

func TestSubject(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for text, want := range map[string]string{
		"Hello":                                 "Hello",
		"\n\n  Hello \t there\nSecond line":     "Hello there",
		"Hello\rBcc: eve@x.test":                "Hello",
		"…":                                     "Message from Alice",
		"\u202eevil\u202c":                      "evil",
		long:                                    "word word word word word word word word word word word word…",
		strings.Repeat("あ", 100):                strings.Repeat("あ", maxSubject) + "…",
		"Hello\u2028Bcc: eve@x.test\u0085there": "Hello Bcc: eve@x.test there",
	} {
		if got := subject(text, "Alice"); got != want {
			t.Errorf("%.30q: %q, want %q", text, got, want)
		}
	}
}

// FuzzCompose checks that no text and no name can add a header.
func FuzzCompose(f *testing.F) {
	f.Add("Hello\r\nBcc: eve@x.test\r\n\r\nbody", "bob@x.test")
	f.Add("=?utf-8?q?a=0D=0ABcc:_e@x.test?=", "a@b")
	f.Add("\x85\u2028.\r\n.\r\n", "o'b@x.test")
	e, err := NewEmail(EmailConfig{Host: "x.test", From: "Alice <alice@x.test>"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, address string) {
		m := &hearken.Message{Address: address, Text: text}
		if e.Accepts(m) != nil {
			return
		}
		composed, _, err := e.compose(actionID, m)
		if err != nil {
			return
		}
		got, err := mail.ReadMessage(bytes.NewReader(composed))
		if err != nil {
			t.Fatal(err)
		}
		for key := range got.Header {
			switch key {
			case "From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type", "Content-Transfer-Encoding":
			default:
				t.Fatalf("header %q", key)
			}
		}
		to, err := got.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Address != address {
			t.Fatalf("to %v, %v", to, err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(got.Body))
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if strings.TrimRight(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n") != strings.TrimRight(normalizeNewlines(text), "\n") {
			t.Fatalf("body %q, want %q", body, normalizeNewlines(text))
		}
	})
}
