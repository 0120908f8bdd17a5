package web

import (
	"crypto/subtle"
	"net/http"
	"sync"

	"github.com/hearken-dev/hearken"
)

// maxWrongCodes is how many wrong setup codes the page takes until the hub is
// started again. The terminal always works.
const maxWrongCodes = 10

// signedIn is what the page learns when its owner typed the PIN.
type signedIn struct {
	Token string `json:"token"`
}

// me says where a visitor stands. It never tells the token.
func (h *Handler) me(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, struct {
		PIN      bool `json:"pin"` // whether there is one
		SignedIn bool `json:"signedIn"`
	}{h.cfg.Owner.HasPIN(), h.sessions.of(r) != nil})
}

// login takes the PIN. A browser that is signed in already keeps its session,
// so that its other tabs do too, and this one gets the token.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		PIN string `json:"pin"`
	}
	if !read(w, r, &in) {
		return
	}
	if !h.cfg.Owner.HasPIN() {
		refuse(w, errNoPIN())
		return
	}
	if err := h.cfg.Owner.Check(in.PIN); err != nil {
		h.wrong.tell(r.Context(), err)
		h.fail(w, r, err)
		return
	}
	h.welcome(w, r)
}

func (h *Handler) welcome(w http.ResponseWriter, r *http.Request) {
	s := h.sessions.of(r)
	if s == nil {
		s = h.sessions.open()
		http.SetCookie(w, h.cookie(r, s.cookie))
	}
	respond(w, http.StatusOK, signedIn{s.token})
}

func errNoPIN() error {
	return hearken.Errorf(hearken.Unauthorized, "No PIN is set yet.").WithTry("hearken pin")
}

// A setup counts wrong codes and lets one visitor at a time set the PIN.
type setup struct {
	mu    sync.Mutex
	wrong int
}

// setPIN sets the first PIN for whoever has the code from the owner's
// terminal. A later one is set at the terminal.
func (h *Handler) setPIN(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
		PIN  string `json:"pin"`
	}
	if !read(w, r, &in) {
		return
	}
	h.setup.mu.Lock()
	defer h.setup.mu.Unlock()
	code := h.cfg.SetupCode()
	if h.cfg.Owner.HasPIN() || code == "" || h.setup.wrong >= maxWrongCodes {
		refuse(w, hearken.Errorf(hearken.Forbidden, "A PIN cannot be set here any more.").WithTry("hearken pin"))
		return
	}
	if subtle.ConstantTimeCompare([]byte(in.Code), []byte(code)) != 1 {
		h.setup.wrong++
		err := hearken.Errorf(hearken.Unauthorized, "That is not the code that the hub printed.").WithTry("hearken pin")
		h.wrong.tell(r.Context(), err)
		refuse(w, err)
		return
	}
	if err := h.cfg.Owner.SetPIN("", in.PIN); err != nil {
		h.fail(w, r, err)
		return
	}
	h.wrong.append(r.Context(), hearken.AuditRecord{Type: hearken.AuditOwner, State: "pin_set", By: "owner", From: fromPage})
	h.welcome(w, r)
}

func (h *Handler) logout(w http.ResponseWriter, r *http.Request) {
	h.sessions.close(who(r.Context()))
	http.SetCookie(w, h.cookie(r, ""))
	respond(w, http.StatusOK, struct{}{})
}
