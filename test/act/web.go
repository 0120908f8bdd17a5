package act

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// A loopback is an HTTP server on a free port of this computer.
type loopback struct {
	URL    string
	server *http.Server
	done   chan struct{}
}

func serve(handler http.Handler) (*loopback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &loopback{URL: "http://" + l.Addr().String(), server: &http.Server{Handler: handler}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l) // until Close
	}()
	return s, nil
}

// Close ends the server.
func (s *loopback) Close() {
	s.server.Close()
	<-s.done
}

const (
	twilioAccount = "AC00000000000000000000000000000001"
	twilioToken   = "a token of the double"
)

// A Twilio takes text messages as Twilio does, and books every one. Two alike
// are two: Twilio has no way to say that they are the same.
type Twilio struct {
	*loopback
	Book *Book
	hold func()
}

// OpenTwilio starts one, with its book in a directory. What hold is for, [Post]
// tells.
func OpenTwilio(dir string, hold func()) (*Twilio, error) {
	book, err := OpenBook(dir, "sms")
	if err != nil {
		return nil, err
	}
	if hold == nil {
		hold = func() {}
	}
	t := &Twilio{Book: book, hold: hold}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2010-04-01/Accounts/"+twilioAccount+"/Messages.json", t.send)
	t.loopback, err = serve(mux)
	return t, err
}

// Env are the settings with which a hub sends its messages here.
func (t *Twilio) Env() []string {
	return []string{
		"TWILIO_ACCOUNT_SID=" + twilioAccount, "TWILIO_AUTH_TOKEN=" + twilioToken,
		"TWILIO_FROM=+15005550006", "TWILIO_BASE_URL=" + t.URL,
	}
}

func (t *Twilio) send(w http.ResponseWriter, r *http.Request) {
	if user, token, ok := r.BasicAuth(); !ok || user != twilioAccount || token != twilioToken {
		answer(w, http.StatusUnauthorized, map[string]any{"code": 20003, "message": "Authenticate", "status": 401})
		return
	}
	to, text := r.PostFormValue("To"), r.PostFormValue("Body")
	if !strings.HasPrefix(to, "+") || text == "" {
		answer(w, http.StatusBadRequest, map[string]any{"code": 21211, "message": "Invalid 'To' Phone Number", "status": 400})
		return
	}
	t.hold()
	if err := t.Book.Enter(text); err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"code": 20500, "message": err.Error(), "status": 500})
		return
	}
	t.hold()
	sid := make([]byte, 16)
	rand.Read(sid)
	answer(w, http.StatusCreated, map[string]any{"sid": "SM" + hex.EncodeToString(sid), "status": "queued", "to": to, "body": text, "error_code": nil})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked may be dead, which is the point
}

// A Hook takes webhooks.
type Hook struct{ *loopback }

// OpenHook starts one that hands over the id and the text of each call.
func OpenHook(took func(id, text string)) (*Hook, error) {
	s, err := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Data struct{ ID, Text string }
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil || r.Header.Get("webhook-id") != call.Data.ID {
			http.Error(w, fmt.Sprint("not a webhook: ", err), http.StatusBadRequest)
			return
		}
		took(call.Data.ID, call.Data.Text)
		w.WriteHeader(http.StatusNoContent)
	}))
	return &Hook{s}, err
}

// Env are the settings with which a hub tells of reminders here.
func (h *Hook) Env() []string {
	return []string{"WEBHOOK_URL=" + h.URL + "/hook", "WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "REMIND_BY=webhook"}
}
