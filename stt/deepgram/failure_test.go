package deepgram_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

// Every way in which the handshake can fail, and whether it is worth to try
// again: the hub does so for all codes but the four that say no.
func TestProvider_Open_Refused(t *testing.T) {
	header := func(name, value string, next func(http.ResponseWriter)) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set(name, value)
			next(w)
		}
	}
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter)
		code   hearken.Code
		want   string
		after  time.Duration
	}{
		"WrongKey": {refuse(401, "INVALID_AUTH", "Invalid credentials."), hearken.Unauthorized,
			"Deepgram refused the key (401 INVALID_AUTH): Invalid credentials. Try: another key in DEEPGRAM_API_KEY", 0},
		"Rights": {refuse(403, "INSUFFICIENT_PERMISSIONS", "User does not have sufficient permissions."), hearken.Forbidden,
			"Deepgram does not allow this key to use the model or the service (403 INSUFFICIENT_PERMISSIONS): User does not have sufficient permissions. Try: a key with more rights, or another model", 0},
		"Unpaid": {refuse(402, "ASR_PAYMENT_REQUIRED", "Project does not have enough credits."), hearken.Forbidden,
			"Deepgram refused the stream because its account is unpaid (402 ASR_PAYMENT_REQUIRED): Project does not have enough credits. Try: console.deepgram.com, or another provider", 0},
		"Query": {refuse(400, "INVALID_QUERY_PARAMETER", "No such model/language/tier combination found."), hearken.ProviderNotConfigured,
			"Deepgram refused the stream (400 INVALID_QUERY_PARAMETER): No such model/language/tier combination found. Try: another model or language, or no extra parameters", 0},
		"TooMany": {header("Retry-After", "7", refuse(429, "TOO_MANY_REQUESTS", "Too many requests.")), hearken.Busy,
			"Deepgram already has too many streams of this account (429 TOO_MANY_REQUESTS): Too many requests.", 7 * time.Second},
		"TooManyForever": {header("Retry-After", "99999999999999", refuse(429, "", "")), hearken.Busy,
			"Deepgram already has too many streams of this account (429).", time.Hour},
		"TooManyUntil": {header("Date", "Tue, 01 Jan 2030 12:00:00 GMT", header("Retry-After", "Tue, 01 Jan 2030 12:00:20 GMT", refuse(429, "", ""))), hearken.Busy,
			"Deepgram already has too many streams of this account (429).", 20 * time.Second}, // whatever our own clock says
		"Failing": {refuse(500, "", "Internal."), hearken.ProviderConnectionFailed,
			"Deepgram has a problem (500): Internal.", 0},
		"Down": {header("Retry-After", "-3", refuse(503, "", "")), hearken.ProviderConnectionFailed,
			"Deepgram has a problem (503).", 0},
		"HTML": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>"+strings.Repeat("x", 5000))
		}, hearken.ProviderConnectionFailed, "Deepgram has a problem (502).", 0},
		"AnotherServer": {func(w http.ResponseWriter) { fmt.Fprint(w, "hello") }, hearken.ProviderNotConfigured,
			"The server at Deepgram's base URL does not speak its protocol (200). Try: DEEPGRAM_BASE_URL=wss://api.deepgram.com", 0},
		"Page": {header("Content-Type", "text/html", func(w http.ResponseWriter) { fmt.Fprint(w, "<!DOCTYPE html><title>Welcome</title>") }), hearken.ProviderNotConfigured,
			"The server at Deepgram's base URL does not speak its protocol (200). Try: DEEPGRAM_BASE_URL=wss://api.deepgram.com", 0},
		"Elsewhere": {header("Location", "http://127.0.0.1:1/", func(w http.ResponseWriter) { w.WriteHeader(http.StatusTemporaryRedirect) }), hearken.ProviderNotConfigured,
			"The server at Deepgram's base URL does not speak its protocol (307). Try: DEEPGRAM_BASE_URL=wss://api.deepgram.com", 0},
		"RepeatsTheKey": {refuse(401, testKey, "the key\r\n"+testKey+" is wrong"), hearken.Unauthorized,
			"Deepgram refused the key (401 [key]): the key [key] is wrong. Try: another key in DEEPGRAM_API_KEY", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, meeting)
			f.refuse = c.refuse
			_, err := f.serve(t, deepgram.Config{}).Open(t.Context(), english)
			if err == nil || err.Error() != c.want || hearken.CodeOf(err) != c.code {
				t.Fatalf("code %q\ngot  %v\nwant %s", hearken.CodeOf(err), err, c.want)
			}
			refusal, ok := errors.AsType[*stt.Refusal](err)
			if !ok || refusal.RetryAfter() != c.after || refusal.RequestID != "11111111-2222-3333-4444-555555555555" {
				t.Errorf("refusal %+v", refusal)
			}
			if strings.Contains(fmt.Sprintf("%+v", refusal), testKey) {
				t.Error("the key is shown")
			}
		})
	}
}

// What is at the address answers nothing, or nothing that is HTTP.
func TestProvider_Open_Unreachable(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"Hangs up": func(c net.Conn) {},
		"Not HTTP": func(c net.Conn) { fmt.Fprint(c, "220 mail.example.com ESMTP\r\n") },
		"Not a key": func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		},
		"Is refused": nil,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			if answer == nil {
				l.Close()
				close(served)
			} else {
				go func() {
					defer close(served)
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					if _, err := c.Read(make([]byte, 4096)); err == nil {
						answer(c)
					}
				}()
			}
			cfg := english
			cfg.Vocabulary = []string{"Zaphod"}
			p := deepgram.New(deepgram.Config{APIKey: testKey, BaseURL: "ws://" + l.Addr().String()})
			_, err = p.Open(t.Context(), cfg)
			l.Close()
			<-served
			if hearken.CodeOf(err) != hearken.ProviderConnectionFailed || !strings.HasPrefix(err.Error(), "Deepgram cannot be reached: ") {
				t.Errorf("Open: %v", err)
			}
			if strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "Zaphod") {
				t.Errorf("Open tells too much: %v", err)
			}
		})
	}
}

// A base URL that promises TLS where there is none, and the other way round.
func TestProvider_Open_TLS(t *testing.T) {
	f := newFake(t, meeting)
	secure := httptest.NewTLSServer(f)
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mail.Close()
	f.work.Go(func() {
		for {
			c, err := mail.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "220 mail.example.com ESMTP\r\n")
			io.Copy(io.Discard, c)
			c.Close()
		}
	})
	plain := newServer(t, f)
	for name, c := range map[string]struct {
		base string
		code hearken.Code
		want string
	}{
		"NoTLS":  {"wss://" + plain, hearken.ProviderNotConfigured, "does not speak TLS. Try: DEEPGRAM_BASE_URL=ws://" + plain},
		"NoHTTP": {"https://" + mail.Addr().String(), hearken.ProviderNotConfigured, "does not speak TLS."},
		"TLS":    {"http://" + secure.Listener.Addr().String(), hearken.ProviderNotConfigured, "does not speak its protocol (400)."},
		"Unsigned": {"wss://" + secure.Listener.Addr().String(), hearken.ProviderConnectionFailed,
			"Deepgram cannot be reached: tls: failed to verify certificate: x509: certificate signed by unknown authority."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := deepgram.New(deepgram.Config{APIKey: testKey, BaseURL: c.base}).Open(t.Context(), english)
			if hearken.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), testKey) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	client := secure.Client()
	client.Transport.(*http.Transport).DisableKeepAlives = true
	p := deepgram.New(deepgram.Config{APIKey: testKey, BaseURL: "https://" + secure.Listener.Addr().String(), Client: client})
	if err := failure(transcribe(t, p, english, meetingAudio[:16000])); err != nil {
		t.Error(err)
	}
}

// Every way in which an open stream can break. What was final before is told,
// the reason is the last event, and neither it nor the log says what was said.
func TestStream_Failed(t *testing.T) {
	closes := func(code websocket.StatusCode, reason string) func(*fakeConn) bool {
		return func(v *fakeConn) bool {
			v.conn.Close(code, reason)
			return false
		}
	}
	says := func(raw string) func(*fakeConn) bool {
		return func(v *fakeConn) bool {
			v.sayRaw(raw)
			return true
		}
	}
	for name, c := range map[string]struct {
		fault func(*fakeConn) bool
		want  string
	}{
		"Cut":       {func(v *fakeConn) bool { return false }, "The connection to Deepgram was lost."},
		"Data":      {closes(1008, "DATA-0000"), "Deepgram could not decode the audio (1008 DATA-0000)."},
		"NoText":    {closes(1011, "NET-0000"), "Deepgram ended the stream because nothing was said for too long (1011 NET-0000)."},
		"NoSound":   {closes(1011, "NET-0001"), "Deepgram ended the stream because it got no audio in time (1011 NET-0001)."},
		"Internal":  {closes(1011, ""), "Deepgram aborted the stream (1011)."},
		"Restart":   {closes(1012, "see you"), "Deepgram aborted the stream (1012 see you)."},
		"Normal":    {closes(1000, ""), "Deepgram ended the stream too early (1000)."},
		"Away":      {closes(1001, ""), "Deepgram ended the stream too early (1001)."},
		"KeyInside": {closes(1008, "bad "+testKey), "Deepgram aborted the stream (1008 bad [key])."},
		"Malformed": {says(`{"type":"Results","channel":{"alternatives":[{"transcript":"sec`), "Deepgram sent something that is not part of its protocol."},
		"WrongType": {says(`{"type":"Results","start":"now"}`), "Deepgram sent something that is not part of its protocol."},
		"TooLong":   {says(`{"type":"` + strings.Repeat("x", 2<<20) + `"}`), "The connection to Deepgram was lost."},
		"Explained": {func(v *fakeConn) bool {
			v.sayRaw(`{"type":"Error","code":"X","description":"The model has fallen asleep."}`)
			v.conn.Close(1011, "")
			return false
		}, "Deepgram aborted the stream (1011) after the error: The model has fallen asleep."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, meeting)
			f.at, f.fault = 6, c.fault
			var log bytes.Buffer
			p := f.serve(t, deepgram.Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			stream, err := p.Open(t.Context(), english)
			if err != nil {
				t.Fatal(err)
			}
			collected := collect(stream)
			var wrote error
			for pos := int64(0); wrote == nil; pos += 1600 { // until it is noticed
				pcm := make([]int16, 1600)
				if pos < 8*16000 {
					copy(pcm, meetingAudio[pos:])
				}
				wrote = stream.Write(hearken.Frame{Pos: pos, PCM: pcm})
			}
			events := <-collected
			err = failure(events)
			if err == nil || err.Error() != c.want || hearken.CodeOf(err) != hearken.ProviderConnectionFailed {
				t.Errorf("failed with %v", err)
			}
			if !errors.Is(wrote, err) {
				t.Errorf("Write: %v", wrote)
			}
			if !strings.Contains(finals(events), "build in may") {
				t.Errorf("what was final before is missing: %q", finals(events))
			}
			for _, secret := range []string{testKey, "house", "friday", "Friday"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log tells %q:\n%s", secret, log.String())
				}
			}
		})
	}
}

// A connection that is lost while the server works off the rest costs nothing
// if there was no rest, and is told otherwise.
func TestStream_LostAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		settled bool
		want    string
	}{
		"Settled": {true, ""},
		"Open":    {false, "The connection to Deepgram was lost."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, meeting)
			f.shape = func(m map[string]any) {
				if m["type"] == "Metadata" || !c.settled && m["is_final"] == true {
					f.visits[0].mute = true
					f.visits[0].conn.CloseNow()
				}
			}
			events := transcribe(t, f.serve(t, deepgram.Config{}), english, meetingAudio[:16000])
			if err := failure(events); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("failed with %v", err)
			}
		})
	}
}
