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
	mailTime = 2 * time.Minute // for a whole delivery
	quitTime = 3 * time.Second
	// maxServer is how much a mail server may say before we stop listening.
	maxServer = 1 << 20
)

// A step of a delivery, as people are told of it.
type step struct {
	failed  string // what could not be done
	refused string // what the server refuses
}

var (
	stepConnect = step{"The mail server cannot be reached", "The mail server refuses the connection"}
	stepTLS     = step{"The mail server does not get TLS to work", "The mail server refuses TLS"}
	stepLogin   = step{"The mail server was lost during the login", "The mail server refuses the user name or password"}
	stepFrom    = step{"The mail server was lost before it took the message", "The mail server refuses the sender"}
	stepTo      = step{"The mail server was lost before it took the message", "The mail server refuses the recipient"}
	stepData    = step{"The mail server was lost before it took the message", "The mail server refuses the message"}
)

// deliver hands a letter over to the mail server. It returns nil if the server
// has taken it.
func (e *Email) deliver(ctx context.Context, to string, letter []byte) *hearken.Outcome {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	conn, err := dialer(e.cfg.Insecure).DialContext(ctx, "tcp", net.JoinHostPort(e.cfg.Host, strconv.Itoa(e.cfg.Port)))
	if err != nil {
		return notSent(stepConnect, err)
	}
	defer conn.Close()
	// Whoever stops waiting ends the conversation, wherever it is.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client, bad := e.greet(&quietConn{Conn: conn, left: maxServer})
	if bad != nil {
		return bad
	}
	if bad := e.login(client); bad != nil {
		return bad
	}
	if bad := hand(client, e.from.Address, to, letter); bad != nil {
		return bad
	}
	// The letter is theirs: whatever goes wrong with the farewell is nothing.
	_ = conn.SetDeadline(time.Now().Add(quitTime))
	_ = client.Quit()
	return nil
}

// greet begins the conversation, encrypted.
func (e *Email) greet(conn net.Conn) (*smtp.Client, *hearken.Outcome) {
	implicit := !e.cfg.Insecure && e.cfg.TLS == ImplicitTLS
	if implicit {
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
	if e.cfg.Insecure || implicit {
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

// login says who we are, if there is anything to say.
func (e *Email) login(client *smtp.Client) *hearken.Outcome {
	if e.cfg.User == "" {
		return nil
	}
	_, offered := client.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offered))
	user, password := e.cfg.User, e.cfg.Password
	var auth smtp.Auth
	switch {
	case slices.Contains(ways, "PLAIN"):
		auth = smtp.PlainAuth("", user, password, e.cfg.Host, e.cfg.Insecure)
	case slices.Contains(ways, "LOGIN"):
		auth = smtp.LoginAuth(user, password, e.cfg.Host, e.cfg.Insecure)
	case slices.Contains(ways, "SCRAM-SHA-256"):
		auth = smtp.ScramSHA256Auth(user, password)
	case slices.Contains(ways, "CRAM-MD5"):
		auth = smtp.CRAMMD5Auth(user, password)
	default:
		return permanent("The mail server offers no login that is known here")
	}
	if err := client.Auth(auth); err != nil {
		return notSent(stepLogin, err)
	}
	return nil
}

// hand gives the letter over. Up to the dot after it nothing has happened.
func hand(client *smtp.Client, from, to string, letter []byte) *hearken.Outcome {
	utf8 := !ascii(from) || !ascii(to)
	if offered, _ := client.Extension("SMTPUTF8"); utf8 && !offered {
		return permanent("The mail server takes only addresses of ASCII characters")
	}
	// Asking for it without need keeps letters from servers that lack it.
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
	if _, err := w.Write(letter); err != nil {
		// Without the dot a server must not keep what it has.
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
	return unknown("The mail server was lost after it had the message, and before it said that it took it")
}

// notSent is the outcome of a step that failed before the server had taken
// the letter.
func notSent(s step, err error) *hearken.Outcome {
	reply, answered := errors.AsType[*textproto.Error](err)
	switch {
	case untrusted(err):
		return permanent("The mail server has a certificate that cannot be trusted")
	case !answered:
		return temporary("%s", s.failed)
	case reply.Code/100 == 5:
		return permanent("%s (%s)", why(s, reply), codes(reply))
	case reply.Code/100 == 4:
		return temporary("%s for now (%s)", s.refused, codes(reply))
	}
	return temporary("%s", s.failed)
}

// enhanced begins a reply with a code by RFC 3463.
var enhanced = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

// codes are the numbers of a reply, which is all that is repeated of it.
func codes(reply *textproto.Error) string {
	if e := enhanced.FindString(reply.Msg); e != "" {
		return fmt.Sprintf("%d %s", reply.Code, e)
	}
	return strconv.Itoa(reply.Code)
}

// why tells a refusal in our words.
func why(s step, reply *textproto.Error) string {
	switch e := enhanced.FindString(reply.Msg); {
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
		return "The mail server wants a login"
	case e == "5.7.1" && s == stepTo:
		return "The mail server does not pass mail on to the recipient"
	}
	return s.refused
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0
}

// A quietConn stops listening to a server that does not stop talking.
type quietConn struct {
	net.Conn
	left int
}

func (c *quietConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the server says too much")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
