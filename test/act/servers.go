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

// Close stops the server.
func (s *loopback) Close() {
	s.server.Close()
	<-s.done
}

const (
	twilioAccount = "AC00000000000000000000000000000001"
	twilioToken   = "a token of the stand-in"
)

// A Twilio takes text messages as Twilio does and records them. Like Twilio it
// cannot tell a repeated message from a second one.
type Twilio struct {
	*loopback
	Receipts *Receipts
	delay    func()
}

// OpenTwilio starts one, with its receipts in a directory. [OpenMailServer]
// explains delay.
func OpenTwilio(dir string, delay func()) (*Twilio, error) {
	receipts, err := OpenReceipts(dir, "sms")
	if err != nil {
		return nil, err
	}
	if delay == nil {
		delay = func() {}
	}
	t := &Twilio{Receipts: receipts, delay: delay}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2010-04-01/Accounts/"+twilioAccount+"/Messages.json", t.send)
	t.loopback, err = serve(mux)
	return t, err
}

// Env is the settings with which a hub sends its messages here.
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
	t.delay()
	if err := t.Receipts.Record(text); err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"code": 20500, "message": err.Error(), "status": 500})
		return
	}
	t.delay()
	sid := make([]byte, 16)
	rand.Read(sid)
	answer(w, http.StatusCreated, map[string]any{"sid": "SM" + hex.EncodeToString(sid), "status": "queued", "to": to, "body": text, "error_code": nil})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the hub may have been killed
}

// A Webhook takes webhooks.
type Webhook struct{ *loopback }

// OpenWebhook starts one that passes on the id and the text of each call.
func OpenWebhook(took func(id, text string)) (*Webhook, error) {
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
	return &Webhook{s}, err
}

// Env is the settings with which a hub sends its reminders here.
func (h *Webhook) Env() []string {
	return []string{"WEBHOOK_URL=" + h.URL + "/hook", "WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "REMIND_BY=webhook"}
}
