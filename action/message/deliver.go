package message

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/wneessen/go-mail/smtp"
)

const (
	deliveryTimeout = 2 * time.Minute
	quitTimeout     = 3 * time.Second
	maxServerBytes  = 1 << 20 // that are read from a mail server in one delivery
)

// An smtpStep is a step of a delivery, with the sentences for its failures.
type smtpStep struct {
	failed  string // there was no answer
	refused string // the server said no
}

var (
	stepConnect = smtpStep{"The mail server cannot be reached", "The mail server refuses the connection"}
	stepTLS     = smtpStep{"TLS with the mail server failed", "The mail server refuses TLS"}
	stepLogin   = smtpStep{"The connection to the mail server was lost during the login", "The mail server refuses the user name or password"}
	stepFrom    = smtpStep{"The connection to the mail server was lost before it accepted the message", "The mail server refuses the sender"}
	stepTo      = smtpStep{"The connection to the mail server was lost before it accepted the message", "The mail server refuses the recipient"}
	stepData    = smtpStep{"The connection to the mail server was lost before it accepted the message", "The mail server refuses the message"}
)

// deliver sends an email to the mail server. It returns nil if the server
// accepted it.
func (e *Email) deliver(ctx context.Context, to string, mail []byte) *hearken.Outcome {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	conn, err := dialer(false).DialContext(ctx, "tcp", net.JoinHostPort(e.cfg.Host, strconv.Itoa(e.cfg.Port)))
	if err != nil {
		return notSent(stepConnect, err)
	}
	defer conn.Close()
	// Canceling ends the conversation at whatever step it is.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client, failed := e.connect(&limitedConn{Conn: conn, left: maxServerBytes})
	if failed != nil {
		return failed
	}
	if failed := e.login(client); failed != nil {
		return failed
	}
	if failed := sendMail(client, e.from.Address, to, mail); failed != nil {
		return failed
	}
	// The server has accepted the email, so a failing QUIT does not matter.
	_ = conn.SetDeadline(time.Now().Add(quitTimeout))
	_ = client.Quit()
	return nil
}

// connect starts an SMTP session over conn and encrypts it.
func (e *Email) connect(conn net.Conn) (*smtp.Client, *hearken.Outcome) {
	if e.cfg.TLS == ImplicitTLS {
		secure := tls.Client(conn, e.tls)
		if err := secure.Handshake(); err != nil {
			return nil, notSent(stepTLS, err)
		}
		conn = secure
	}
	client, err := smtp.NewClient(conn, e.cfg.Host)
	if err != nil {
		return nil, notSent(stepConnect, err)
	}
	if err := client.Hello("localhost"); err != nil {
		return nil, notSent(stepConnect, err)
	}
	if e.cfg.TLS == ImplicitTLS {
		return client, nil
	}
	if offered, _ := client.Extension("STARTTLS"); !offered {
		return nil, permanent("The mail server does not offer STARTTLS, and nothing is sent without TLS")
	}
	if err := client.StartTLS(e.tls); err != nil {
		return nil, notSent(stepTLS, err)
	}
	return client, nil
}

// login authenticates with the best mechanism that the server offers. Without a
// user in the settings it does nothing.
func (e *Email) login(client *smtp.Client) *hearken.Outcome {
	if e.cfg.User == "" {
		return nil
	}
	_, offered := client.Extension("AUTH")
	mechanisms := strings.Fields(strings.ToUpper(offered))
	user, password := e.cfg.User, e.cfg.Password
	var auth smtp.Auth
	switch {
	case slices.Contains(mechanisms, "PLAIN"):
		auth = smtp.PlainAuth("", user, password, e.cfg.Host, false)
	case slices.Contains(mechanisms, "LOGIN"):
		auth = smtp.LoginAuth(user, password, e.cfg.Host, false)
	case slices.Contains(mechanisms, "SCRAM-SHA-256"):
		auth = smtp.ScramSHA256Auth(user, password)
	case slices.Contains(mechanisms, "CRAM-MD5"):
		auth = smtp.CRAMMD5Auth(user, password)
	default:
		return permanent("The mail server offers no way to log in that Hearken supports")
	}
	if err := client.Auth(auth); err != nil {
		return notSent(stepLogin, err)
	}
	return nil
}

// sendMail sends the email. Nothing is sent until the final dot.
func sendMail(client *smtp.Client, from, to string, mail []byte) *hearken.Outcome {
	utf8 := !isASCII(from) || !isASCII(to)
	if offered, _ := client.Extension("SMTPUTF8"); utf8 && !offered {
		return permanent("The mail server accepts only addresses of ASCII characters")
	}
	// Asking for SMTPUTF8 without need fails at later servers that lack it.
	client.SkipSMTPUTF8(!utf8)
	if err := client.Mail("<" + from + ">"); err != nil {
		return notSent(stepFrom, err)
	}
	if err := client.Rcpt("<" + to + ">"); err != nil {
		return notSent(stepTo, err)
	}
	w, err := client.Data()
	if err != nil {
		return notSent(stepData, err)
	}
	if _, err := w.Write(mail); err != nil {
		// A server must discard an email that does not end with the dot.
		return notSent(stepData, err)
	}
	err = w.Close()
	reply, answered := errors.AsType[*textproto.Error](err)
	switch {
	case err == nil, answered && reply.Code/100 == 2:
		return nil
	case answered && (reply.Code/100 == 4 || reply.Code/100 == 5):
		return notSent(stepData, err)
	}
	return unknown("The mail server did not confirm the message, and may have accepted it")
}

// notSent is the outcome of a step that failed before the server accepted the
// email.
func notSent(s smtpStep, err error) *hearken.Outcome {
	reply, answered := errors.AsType[*textproto.Error](err)
	switch {
	case isUntrusted(err):
		return permanent("The mail server has a certificate that cannot be trusted")
	case !answered:
		return temporary("%s", s.failed)
	case reply.Code/100 == 5:
		return permanent("%s (%s)", refusalText(s, reply), replyCodes(reply))
	case reply.Code/100 == 4:
		return temporary("%s for now (%s)", s.refused, replyCodes(reply))
	}
	return temporary("%s", s.failed)
}

// enhancedCode is a code of RFC 3463 at the start of a reply.
var enhancedCode = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

// replyCodes are the numbers of a reply. Nothing else of it is repeated.
func replyCodes(reply *textproto.Error) string {
	if e := enhancedCode.FindString(reply.Msg); e != "" {
		return fmt.Sprintf("%d %s", reply.Code, e)
	}
	return strconv.Itoa(reply.Code)
}

// refusalText describes a refusal in our own words.
func refusalText(s smtpStep, reply *textproto.Error) string {
	switch e := enhancedCode.FindString(reply.Msg); {
	case e == "5.1.1", e == "5.1.10":
		return "The mail server does not know the recipient"
	case e == "5.1.2", e == "5.4.4":
		return "The mail server does not know the recipient's domain"
	case e == "5.2.1":
		return "The recipient's mailbox is closed"
	case e == "5.2.2":
		return "The recipient's mailbox is full"
	case e == "5.3.4", e == "5.2.3", reply.Code == 552:
		return "The message is too large for the mail server"
	case reply.Code == 530:
		return "The mail server requires a login"
	case e == "5.7.1" && s == stepTo:
		return "The mail server does not relay mail to the recipient"
	}
	return s.refused
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 126 })
}

// A limitedConn fails once it has read as many bytes as it may.
type limitedConn struct {
	net.Conn
	left int
}

func (c *limitedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the server sent too much")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
