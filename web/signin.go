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

// signInState reports whether a PIN is set and whether this browser is signed in. It never
// reveals the token.
func (h *Handler) signInState(_ http.ResponseWriter, r *http.Request) (any, error) {
	return struct {
		PIN      bool `json:"pin"` // a PIN is set
		SignedIn bool `json:"signedIn"`
	}{h.cfg.Owner.HasPIN(), h.sessions.find(r) != nil}, nil
}

// login checks the PIN. A browser that is already signed in keeps its session, for
// its other tabs, and this tab gets the token.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := decode[struct {
		PIN string `json:"pin"`
	}](w, r)
	if err != nil {
		return nil, err
	}
	if !h.cfg.Owner.HasPIN() {
		return nil, hearken.Errorf(hearken.Unauthorized, "No PIN is set yet.").WithTry("hearken pin")
	}
	if err := h.cfg.Owner.Check(in.PIN); err != nil {
		h.audit.recordRefused(r.Context(), err)
		return nil, err
	}
	return h.startSession(w, r), nil
}

// startSession answers with the token of the browser's session, and opens one if
// there is none.
func (h *Handler) startSession(w http.ResponseWriter, r *http.Request) signedIn {
	s := h.sessions.find(r)
	if s == nil {
		s = h.sessions.open()
		http.SetCookie(w, h.cookie(r, s.cookie))
	}
	return signedIn{s.token}
}

// A setup counts wrong codes and lets one request at a time set the PIN.
type setup struct {
	mu    sync.Mutex
	wrong int
}

// setPIN sets the first PIN, with the code from the owner's terminal. Later PINs
// are set in the terminal.
func (h *Handler) setPIN(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := decode[struct {
		Code string `json:"code"`
		PIN  string `json:"pin"`
	}](w, r)
	if err != nil {
		return nil, err
	}
	h.setup.mu.Lock()
	defer h.setup.mu.Unlock()
	code := h.cfg.SetupCode()
	if h.cfg.Owner.HasPIN() || code == "" || h.setup.wrong >= maxWrongCodes {
		return nil, hearken.Errorf(hearken.Forbidden, "You can no longer set a PIN here.").WithTry("hearken pin")
	}
	if subtle.ConstantTimeCompare([]byte(in.Code), []byte(code)) != 1 {
		h.setup.wrong++
		err := hearken.Errorf(hearken.Unauthorized, "This is not the code that the hub printed.").WithTry("hearken pin")
		h.audit.recordRefused(r.Context(), err)
		return nil, err
	}
	if err := h.cfg.Owner.SetPIN("", in.PIN); err != nil {
		return nil, err
	}
	h.audit.append(r.Context(), hearken.AuditRecord{Type: hearken.AuditOwner, State: "pin_set", By: "owner", From: fromPage})
	return h.startSession(w, r), nil
}

func (h *Handler) logout(w http.ResponseWriter, r *http.Request) (any, error) {
	h.sessions.end(func(s *session) bool { return s == sessionFrom(r.Context()) })
	http.SetCookie(w, h.cookie(r, ""))
	return struct{}{}, nil
}
