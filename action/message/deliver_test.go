package message

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// What a faultySMTP does at a step instead of answering.
const (
	hangUp  = "hang up"
	silence = "silence" // until the client goes away
	babble  = "babble"  // without end
)

// faultySMTP is a mail server that misbehaves at one step.
type faultySMTP struct {
	at, does string
	plain    bool // offers no STARTTLS
	tls      *tls.Config
	reached  chan struct{} // closed when it falls silent
	accepted int           // emails that ended with the dot
}

// serve has one conversation.
func (w *faultySMTP) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	r := bufio.NewReader(conn)
	// say answers, or misbehaves if this is the step, and reports whether to
	// continue.
	say := func(at, reply string) bool {
		if at == w.at {
			switch w.does {
			case hangUp:
				return false
			case silence:
				close(w.reached)
				_, _ = io.Copy(io.Discard, r)
				return false
			case babble:
				for {
					if _, err := fmt.Fprintf(conn, "250-%s\r\n", strings.Repeat("x", 1000)); err != nil {
						return false
					}
				}
			}
			reply = w.does
		}
		_, err := io.WriteString(conn, reply+"\r\n")
		return err == nil
	}
	if !say("greeting", "220 faulty") {
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb := strings.ToUpper(strings.Fields(line + " x")[0])
		reply := "250 ok"
		switch verb {
		case "EHLO":
			reply = "250-faulty\r\n250-ENHANCEDSTATUSCODES\r\n250-AUTH PLAIN"
			if _, secure := conn.(*tls.Conn); !secure && !w.plain {
				reply += "\r\n250-STARTTLS"
			}
			reply += "\r\n250 SIZE"
		case "AUTH":
			reply = "235 ok"
		case "STARTTLS":
			if !say(verb, "220 go") {
				return
			}
			secure := tls.Server(conn, w.tls)
			if secure.Handshake() != nil {
				return
			}
			conn, r = secure, bufio.NewReader(secure)
			continue
		case "DATA":
			if !say(verb, "354 go") {
				return
			}
			if verb == w.at {
				continue
			}
			for line != ".\r\n" {
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
				if w.at == "CONTENT" {
					return
				}
			}
			w.accepted++
			verb = "DOT"
		case "QUIT":
			reply = "221 bye"
		}
		if !say(verb, reply) {
			return
		}
	}
}

// start returns the settings to reach the server, and a function that waits
// until its one conversation has ended.
func (w *faultySMTP) start(t *testing.T) (EmailConfig, func()) {
	t.Helper()
	cert, ca := certificate(t)
	w.tls = &tls.Config{Certificates: []tls.Certificate{cert}}
	w.reached = make(chan struct{})
	l, port := listen(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			w.serve(conn)
		}
	}()
	return EmailConfig{Host: "localhost", Port: port, User: "alice", Password: secret, From: "alice@hub.test", CAFile: ca}, func() { <-done }
}

func TestEmail_Phases(t *testing.T) {
	const temp, perm, unk, fine = hearken.ResultTemporary, hearken.ResultPermanent, hearken.ResultUnknown, hearken.ResultOK
	for _, tt := range []struct {
		at, does string
		result   hearken.Result
		says     string
	}{
		{"greeting", hangUp, temp, "cannot be reached"},
		{"greeting", "421 4.3.2 " + evil, temp, "refuses the connection for now (421 4.3.2)"},
		{"greeting", "554 " + evil, perm, "refuses the connection (554)"},
		{"greeting", evil, temp, "cannot be reached"},
		{"EHLO", hangUp, temp, "cannot be reached"},
		{"STARTTLS", hangUp, temp, "TLS with the mail server failed"},
		{"STARTTLS", "454 4.7.0 " + evil, temp, "refuses TLS for now (454 4.7.0)"},
		{"STARTTLS", "502 " + evil, perm, "refuses TLS (502)"},
		{"AUTH", hangUp, temp, "lost during the login"},
		{"AUTH", "454 4.7.0 " + evil, temp, "for now (454 4.7.0)"},
		{"AUTH", "535 5.7.8 " + evil, perm, "refuses the user name or password (535 5.7.8)"},
		{"MAIL", hangUp, temp, "before it accepted the message"},
		{"MAIL", "530 5.7.0 " + evil, perm, "requires a login (530 5.7.0)"},
		{"RCPT", hangUp, temp, "before it accepted the message"},
		{"RCPT", "550 " + evil, perm, "refuses the recipient (550)"},
		{"DATA", hangUp, temp, "before it accepted the message"},
		{"DATA", "451 " + evil, temp, "refuses the message for now (451)"},
		{"CONTENT", hangUp, unk, "did not confirm the message"},
		{"DOT", hangUp, unk, "did not confirm the message"},
		{"DOT", evil, unk, "did not confirm the message"},
		{"DOT", "354 " + evil, unk, "did not confirm the message"},
		{"DOT", "421 4.4.2 " + evil, temp, "refuses the message for now (421 4.4.2)"},
		{"DOT", "552 5.3.4 " + evil, perm, "too large for the mail server (552 5.3.4)"},
		{"DOT", "251 " + evil, fine, ""},
		{"QUIT", hangUp, fine, ""},
		{"QUIT", "500 " + evil, fine, ""},
		{"EHLO", babble, temp, "cannot be reached"},
		{"DOT", babble, unk, "did not confirm the message"},
	} {
		t.Run(tt.at+" "+tt.does, func(t *testing.T) {
			w := &faultySMTP{at: tt.at, does: tt.does}
			cfg, wait := w.start(t)
			out := newEmail(t, cfg).Do(t.Context(), newAction("email", "bob@hub.test", "Hello"))
			checkOutcome(t, out, tt.result, tt.says)
			wait()
			// A server that got the whole email and does not answer may have accepted it.
			if had := w.accepted > 0; had != (tt.at == "DOT" || tt.at == "QUIT") {
				t.Errorf("the server had the whole email: %t", had)
			}
		})
	}
}

// TestEmail_Silence has a server stop answering at every step: the outcome is
// right when the caller stops waiting.
func TestEmail_Silence(t *testing.T) {
	for _, at := range []string{"greeting", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "DOT"} {
		t.Run(at, func(t *testing.T) {
			w := &faultySMTP{at: at, does: silence}
			cfg, wait := w.start(t)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-w.reached
				cancel()
			}()
			want := hearken.ResultTemporary
			if at == "DOT" {
				want = hearken.ResultUnknown
			}
			checkOutcome(t, newEmail(t, cfg).Do(ctx, newAction("email", "bob@hub.test", "Hello")), want, "")
			wait()
		})
	}
}

// TestEmail_NoTLS has a server, or somebody on the way to it, remove STARTTLS.
func TestEmail_NoTLS(t *testing.T) {
	w := &faultySMTP{plain: true}
	cfg, wait := w.start(t)
	checkOutcome(t, newEmail(t, cfg).Do(t.Context(), newAction("email", "bob@hub.test", "Hello")), hearken.ResultPermanent, "does not offer STARTTLS")
	wait()
	if w.accepted != 0 {
		t.Errorf("%d emails", w.accepted)
	}
}

// TestEmail_OutsideASCII needs a server with SMTPUTF8.
func TestEmail_OutsideASCII(t *testing.T) {
	w := &faultySMTP{}
	cfg, wait := w.start(t)
	checkOutcome(t, newEmail(t, cfg).Do(t.Context(), newAction("email", "büro@hub.test", "Hello")), hearken.ResultPermanent, "only addresses of ASCII")
	wait()
}
