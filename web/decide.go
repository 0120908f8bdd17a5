package web

import (
	"net/http"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// maxReason bounds why an owner says no, in bytes.
const maxReason = 1000

// A verdict is what the page sends for an action: what was seen, and what is
// to become of it.
type verdict struct {
	Digest string `json:"digest"`
	Allow  bool   `json:"allow"`
	Reason string `json:"reason"`
	Grant  *struct {
		Hours  int `json:"hours"`
		PerDay int `json:"perDay"`
	} `json:"grant"`
}

// A decided is the answer: the action as it now is, and whether this page or
// somebody before it decided.
type decided struct {
	Action  card `json:"action"`
	Decided bool `json:"decided"`
}

// decide says yes or no to the action that the page showed.
func (h *Handler) decide(w http.ResponseWriter, r *http.Request) {
	var in verdict
	if !read(w, r, &in) {
		return
	}
	v := act.DecisionRequest{ID: r.PathValue("id"), Digest: in.Digest, Allow: in.Allow, By: "owner", From: fromPage, Reason: in.Reason}
	switch {
	case in.Digest == "":
		refuse(w, hearken.Errorf(hearken.ApprovalMismatch, "A decision names the digest of what was seen."))
		return
	case len(in.Reason) > maxReason:
		refuse(w, hearken.Errorf(hearken.Invalid, "A reason has at most %d bytes.", maxReason))
		return
	case in.Grant != nil && !in.Allow:
		refuse(w, hearken.Errorf(hearken.Invalid, "What is denied cannot be allowed from now on."))
		return
	case in.Grant != nil && (in.Grant.Hours < 1 || in.Grant.Hours > 30*24 || in.Grant.PerDay < 1 || in.Grant.PerDay > 1000):
		refuse(w, hearken.Errorf(hearken.Invalid, "A grant lasts 1 hour to 30 days and covers 1 to 1000 actions a day."))
		return
	case in.Grant != nil:
		v.Grant = &act.GrantBounds{For: time.Duration(in.Grant.Hours) * time.Hour, PerDay: in.Grant.PerDay}
	}
	a, ok, err := h.cfg.Desk.Decide(r.Context(), v)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	respond(w, http.StatusOK, decided{Action: h.card(a, h.names(r.Context())), Decided: ok})
}

// cancel stops an action that has not happened yet, or takes it back.
func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) {
	a, err := h.cfg.Desk.Cancel(r.Context(), "", r.PathValue("id"))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	respond(w, http.StatusOK, decided{Action: h.card(a, h.names(r.Context())), Decided: true})
}

// revoke ends a grant.
func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) {
	g, err := h.cfg.Desk.RevokeGrant(r.Context(), r.PathValue("id"))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	respond(w, http.StatusOK, g)
}

// pause stops all actions, or lets them go on.
func (h *Handler) pause(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Paused bool `json:"paused"`
	}
	if !read(w, r, &in) {
		return
	}
	if err := h.cfg.Desk.Pause(r.Context(), in.Paused, fromPage); err != nil {
		h.fail(w, r, err)
		return
	}
	respond(w, http.StatusOK, struct {
		Paused bool `json:"paused"`
	}{h.cfg.Desk.Paused()})
}
