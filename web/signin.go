package web

import (
	"crypto/subtle"
	"net/http"
	"sync"

	"github.com/hearken-dev/hearken"
)

// maxWrongCodes is how many wrong setup codes the page accepts until the hub
// restarts. The terminal always works.
const maxWrongCodes = 10

// signedIn is the answer to a correct PIN.
type signedIn struct {
	Token string `json:"token"`
}

// me reports whether a PIN is set and whether this browser is signed in. It never
// reveals the token.
func (h *Handler) me(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, struct {
		PIN      bool `json:"pin"` // a PIN is set
		SignedIn bool `json:"signedIn"`
	}{h.cfg.Owner.HasPIN(), h.sessions.find(r) != nil})
}

// login checks the PIN. A browser that is already signed in keeps its session, for
// its other tabs, and this tab gets the token.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		PIN string `json:"pin"`
	}
	if !decode(w, r, &in) {
		return
	}
	if !h.cfg.Owner.HasPIN() {
		refuse(w, errNoPIN())
		return
	}
	if err := h.cfg.Owner.Check(in.PIN); err != nil {
		h.audit.refused(r.Context(), err)
		h.fail(w, r, err)
		return
	}
	h.startSession(w, r)
}

// startSession answers with the token of the browser's session, and opens one if
// there is none.
func (h *Handler) startSession(w http.ResponseWriter, r *http.Request) {
	s := h.sessions.find(r)
	if s == nil {
		s = h.sessions.open()
		http.SetCookie(w, h.cookie(r, s.cookie))
	}
	respond(w, http.StatusOK, signedIn{s.token})
}

func errNoPIN() error {
	return hearken.Errorf(hearken.Unauthorized, "No PIN is set yet.").WithTry("hearken pin")
}

// A setup counts wrong codes and lets one request at a time set the PIN.
type setup struct {
	mu    sync.Mutex
	wrong int
}

// setPIN sets the first PIN, with the code from the owner's terminal. Later PINs
// are set in the terminal.
func (h *Handler) setPIN(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
		PIN  string `json:"pin"`
	}
	if !decode(w, r, &in) {
		return
	}
	h.setup.mu.Lock()
	defer h.setup.mu.Unlock()
	code := h.cfg.SetupCode()
	if h.cfg.Owner.HasPIN() || code == "" || h.setup.wrong >= maxWrongCodes {
		refuse(w, hearken.Errorf(hearken.Forbidden, "You can no longer set a PIN here.").WithTry("hearken pin"))
		return
	}
	if subtle.ConstantTimeCompare([]byte(in.Code), []byte(code)) != 1 {
		h.setup.wrong++
		err := hearken.Errorf(hearken.Unauthorized, "This is not the code that the hub printed.").WithTry("hearken pin")
		h.audit.refused(r.Context(), err)
		refuse(w, err)
		return
	}
	if err := h.cfg.Owner.SetPIN("", in.PIN); err != nil {
		h.fail(w, r, err)
		return
	}
	h.audit.append(r.Context(), hearken.AuditRecord{Type: hearken.AuditOwner, State: "pin_set", By: "owner", From: fromPage})
	h.startSession(w, r)
}

func (h *Handler) logout(w http.ResponseWriter, r *http.Request) {
	h.sessions.close(sessionFrom(r.Context()))
	http.SetCookie(w, h.cookie(r, ""))
	respond(w, http.StatusOK, struct{}{})
}
