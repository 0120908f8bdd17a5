//go:build accept

package accept

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	messenger "github.com/hearken-dev/hearken/action/message"
	"github.com/hearken-dev/hearken/test/hubtest"
)

const mailPassword = "correct-horse"

// A mailHost is Postfix, which takes mail from whoever logs in and lets none
// out, and Dovecot, which knows the passwords and gives the mail back.
type mailHost struct {
	dir, ca    string
	smtp, imap int
}

// TestMail has Postfix take our mail and Dovecot give it back.
func TestMail(t *testing.T) {
	h := startMail(t)
	cfg := messenger.EmailConfig{
		Host: "localhost", Port: h.smtp, User: "alice", Password: mailPassword, From: "Alice Nováková <alice@hub.test>", CAFile: h.ca,
	}
	deliver := func(cfg messenger.EmailConfig, to, text string) hearken.Outcome {
		t.Helper()
		e, err := messenger.NewEmail(cfg)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out := e.Do(t.Context(), &hearken.Action{
			ID: hearken.NewActionID(hearken.MessageSend), Tool: hearken.MessageSend,
			Message: &hearken.Message{Address: to, Platform: e.Name(), Text: text},
		})
		t.Logf("%s after %.0f ms: %s", out.Result, time.Since(began).Seconds()*1000, out.Message)
		return out
	}
	text := "Žluťoučký kůň přijde v pátek.\n.\n..\nFrom here on: 一行、二行\n" + strings.Repeat("long ", 500)
	out := deliver(cfg, "bob@hub.test", text)
	if out.Result != hearken.ResultOK {
		t.Fatalf("%s: %s", out.Result, out.Message)
	}
	got := h.read(t, "bob", 1)
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	if body := emailText(t, got); body != text {
		t.Errorf("body %q", body)
	}
	if id := got.Header.Get("Message-Id"); id != out.Receipt || subject != "Žluťoučký kůň přijde v pátek." {
		t.Errorf("id %s, subject %q", id, subject)
	}
	if to := got.Header.Get("To"); to != "<bob@hub.test>" {
		t.Errorf("to %q", to)
	}

	wrong := cfg
	wrong.Password = "wrong"
	untrusting := cfg
	untrusting.CAFile = ""
	nobody := cfg
	nobody.User, nobody.Password = "", ""
	for _, tt := range []struct {
		cfg      messenger.EmailConfig
		to, says string
	}{
		{cfg, "nobody@hub.test", "does not know the recipient (550 5.1.1)"},
		{wrong, "bob@hub.test", "refuses the user name or password (535 5.7.8)"},
		{untrusting, "bob@hub.test", "certificate that cannot be trusted"},
		{nobody, "bob@hub.test", "5.7.1)"},
	} {
		if out := deliver(tt.cfg, tt.to, "Hello"); out.Result != hearken.ResultPermanent || !strings.Contains(out.Message, tt.says) {
			t.Errorf("%s: %s, want %q", out.Result, out.Message, tt.says)
		}
	}
}

// startMail starts both servers on free ports of this computer, and stops
// them when the test ends.
func startMail(t *testing.T) *mailHost {
	t.Helper()
	for _, program := range []string{"postfix", "dovecot", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("Postfix is started by root only")
	}
	// Users of their own must get there, and paths of sockets are short.
	dir, err := os.MkdirTemp("/tmp", "hearken-mail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &mailHost{dir: dir, ca: filepath.Join(dir, "cert.pem"), smtp: hubtest.FreePort(t), imap: hubtest.FreePort(t)}
	sasl := hubtest.FreePort(t)
	for name, mode := range map[string]os.FileMode{"": 0o755, "queue": 0o755, "data": 0o755, "mail": 0o777, "postfix": 0o755} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	h.certificate(t)
	h.dovecot(t, sasl)
	h.postfix(t, sasl)
	return h
}

func (h *mailHost) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes one for localhost.
func (h *mailHost) certificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	h.file(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	h.file(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// mailUser owns the mail: nobody, a user that every system has.
const mailUser = 65534

func (h *mailHost) dovecot(t *testing.T, sasl int) {
	t.Helper()
	config := h.file(t, "dovecot.conf", strings.NewReplacer("DIR", h.dir, "IMAP", fmt.Sprint(h.imap), "SASL", fmt.Sprint(sasl),
		"PASSWORD", mailPassword, "USER", fmt.Sprint(mailUser)).Replace(`
protocols = imap
listen = 127.0.0.1
base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/dovecot.log
ssl = required
ssl_cert = <DIR/cert.pem
ssl_key = <DIR/key.pem
auth_mechanisms = plain
auth_failure_delay = 0
mail_location = maildir:DIR/mail/%n/Maildir
passdb {
  driver = static
  args = "password=PASSWORD"
}
userdb {
  driver = static
  args = uid=USER gid=USER home=DIR/mail/%n
}
service imap-login {
  inet_listener imap {
    port = IMAP
  }
  inet_listener imaps {
    port = 0
  }
}
service auth {
  inet_listener {
    address = 127.0.0.1
    port = SASL
  }
}
`))
	h.control(t, "dovecot", "-c", config)
	t.Cleanup(func() { h.control(t, "dovecot", "-c", config, "stop") })
	h.await(t, "dovecot.log", h.imap, sasl)
}

func (h *mailHost) postfix(t *testing.T, sasl int) {
	t.Helper()
	config := filepath.Join(h.dir, "postfix")
	// What kinds of tables and which files there are is the system's to say.
	shared, err := filepath.Glob("/etc/postfix/postfix-files*")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := filepath.Glob("/etc/postfix/dynamicmaps.cf*")
	if err != nil {
		t.Fatal(err)
	}
	must(t, h.dir, os.Environ(), "cp", append(append([]string{"-r"}, append(shared, maps...)...), config)...)
	must(t, h.dir, os.Environ(), "chown", "postfix", filepath.Join(h.dir, "data"))
	must(t, h.dir, os.Environ(), "chown", fmt.Sprint(mailUser), filepath.Join(h.dir, "mail"))
	h.file(t, "postfix/main.cf", strings.NewReplacer("DIR", h.dir, "SASL", fmt.Sprint(sasl), "USER", fmt.Sprint(mailUser)).Replace(`
compatibility_level = 3.6
queue_directory = DIR/queue
data_directory = DIR/data
maillog_file = DIR/postfix.log
maillog_file_prefixes = DIR
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.hub.test
mydestination =
alias_maps =
local_recipient_maps =
default_transport = error:5.7.1 nothing leaves this computer
virtual_mailbox_domains = hub.test
virtual_mailbox_base = DIR/mail
virtual_mailbox_maps = inline:{ { bob@hub.test = bob/Maildir/ } }
virtual_uid_maps = static:USER
virtual_gid_maps = static:USER
smtpd_tls_cert_file = DIR/cert.pem
smtpd_tls_key_file = DIR/key.pem
smtpd_tls_security_level = encrypt
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:SASL
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_peername_lookup = no
`))
	h.file(t, "postfix/master.cf", fmt.Sprintf("127.0.0.1:%d inet n - n - - smtpd\n", h.smtp)+`
pickup    unix  n - n 60 1 pickup
cleanup   unix  n - n -  0 cleanup
qmgr      unix  n - n 300 1 qmgr
tlsmgr    unix  - - n 1000? 1 tlsmgr
rewrite   unix  - - n -  - trivial-rewrite
bounce    unix  - - n -  0 bounce
defer     unix  - - n -  0 bounce
trace     unix  - - n -  0 bounce
verify    unix  - - n -  1 verify
proxymap  unix  - - n -  - proxymap
error     unix  - - n -  - error
retry     unix  - - n -  - error
virtual   unix  - n n -  - virtual
anvil     unix  - - n -  1 anvil
postlog   unix-dgram n - n - 1 postlogd
`)
	h.control(t, "postfix", "-c", config, "start")
	t.Cleanup(func() { h.control(t, "postfix", "-c", config, "stop") })
	h.await(t, "postfix.log", h.smtp)
}

// control starts or stops a server, which continues in the background. It gets
// a file to write to: it would never close a pipe.
func (h *mailHost) control(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := os.OpenFile(filepath.Join(h.dir, "control.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		t.Errorf("%s: %v\n%s", name, err, said)
	}
}

// await waits until a server listens.
func (h *mailHost) await(t *testing.T, log string, ports ...int) {
	t.Helper()
	for _, port := range ports {
		h.waitUntil(t, fmt.Sprintf("port %d is open", port), log, func() bool {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
}

// waitUntil polls for half a minute. If that is not enough it shows a log.
func (h *mailHost) waitUntil(t *testing.T, what, log string, holds func() bool) {
	t.Helper()
	err := hubtest.Poll(t.Context(), 30*time.Second, 50*time.Millisecond, func() (bool, error) { return holds(), nil })
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(h.dir, log))
		t.Fatalf("waiting until %s: %v\n%s", what, err, text)
	}
}

// ask speaks IMAP as a mail program would.
func (h *mailHost) ask(t *testing.T, user, path string, args ...string) ([]byte, error) {
	return exec.CommandContext(t.Context(), "curl", append([]string{"--silent", "--show-error", "--ssl-reqd", "--cacert", h.ca,
		"--user", user + ":" + mailPassword, fmt.Sprintf("imap://localhost:%d/%s", h.imap, path)}, args...)...).Output()
}

// emails is how many have arrived.
func (h *mailHost) emails(t *testing.T, user string) (n int) {
	t.Helper()
	out, err := h.ask(t, user, "", "--request", "STATUS INBOX (MESSAGES)")
	if err == nil {
		_, err = fmt.Sscanf(string(out), "* STATUS INBOX (MESSAGES %d)", &n)
	}
	if err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return n
}

// emailText is the text of an email.
func emailText(t *testing.T, m *mail.Message) string {
	t.Helper()
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}

// read gets an email over IMAP.
func (h *mailHost) read(t *testing.T, user string, index int) *mail.Message {
	t.Helper()
	var email []byte
	h.waitUntil(t, "the email has arrived", "postfix.log", func() bool {
		out, err := h.ask(t, user, fmt.Sprintf("INBOX;MAILINDEX=%d", index))
		email = out
		return err == nil && len(out) > 0
	})
	m, err := mail.ReadMessage(bytes.NewReader(email))
	if err != nil {
		t.Fatalf("%v in %q", err, email)
	}
	return m
}
