package web

import (
	"context"
	"net/http"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// maxReason bounds the reason for a denial, in bytes.
const maxReason = 1000

// A decisionRequest is the owner's decision about the action with a digest.
type decisionRequest struct {
	Digest string `json:"digest"`
	Allow  bool   `json:"allow"`
	Reason string `json:"reason"`
	Grant  *struct {
		Hours  int `json:"hours"`
		PerDay int `json:"perDay"`
	} `json:"grant"`
}

// A decisionResponse is the action after the request. Decided is false if somebody
// else had decided before.
type decisionResponse struct {
	Action  card `json:"action"`
	Decided bool `json:"decided"`
}

// decide allows or denies the action that the page showed.
func (h *Handler) decide(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := decode[decisionRequest](w, r)
	if err != nil {
		return nil, err
	}
	v := act.DecisionRequest{ID: r.PathValue("id"), Digest: in.Digest, Allow: in.Allow, By: "owner", From: fromPage, Reason: in.Reason}
	switch {
	case in.Digest == "":
		return nil, hearken.Errorf(hearken.ApprovalMismatch, "The decision lacks the digest of the action.")
	case len(in.Reason) > maxReason:
		return nil, hearken.Errorf(hearken.Invalid, "The reason is longer than %d bytes.", maxReason)
	case in.Grant != nil && !in.Allow:
		return nil, hearken.Errorf(hearken.Invalid, "A denial cannot come with a grant.")
	case in.Grant != nil && (in.Grant.Hours < 1 || in.Grant.Hours > 30*24 || in.Grant.PerDay < 1 || in.Grant.PerDay > 1000):
		return nil, hearken.Errorf(hearken.Invalid, "A grant lasts 1 hour to 30 days and covers 1 to 1000 actions a day.")
	case in.Grant != nil:
		v.Grant = &act.GrantBounds{For: time.Duration(in.Grant.Hours) * time.Hour, PerDay: in.Grant.PerDay}
	}
	a, ok, err := h.cfg.Queue.Decide(r.Context(), v)
	if err != nil {
		return nil, err
	}
	return decisionResponse{Action: h.card(a, h.keyNames(r.Context())), Decided: ok}, nil
}

// cancel stops an action that has not run yet, or undoes it.
func (h *Handler) cancel(_ http.ResponseWriter, r *http.Request) (any, error) {
	a, err := h.cfg.Queue.Cancel(r.Context(), "", r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return decisionResponse{Action: h.card(a, h.keyNames(r.Context())), Decided: true}, nil
}

// undoGranted undoes what a grant allowed, within a day. It needs no token, so no
// PIN: nobody confirmed the action either.
func (h *Handler) undoGranted(_ http.ResponseWriter, r *http.Request) (any, error) {
	a, err := h.cfg.Queue.UndoGranted(context.WithoutCancel(r.Context()), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return decisionResponse{Action: h.card(a, h.keyNames(r.Context())), Decided: true}, nil
}

// revoke ends a grant.
func (h *Handler) revoke(_ http.ResponseWriter, r *http.Request) (any, error) {
	return h.cfg.Queue.RevokeGrant(r.Context(), r.PathValue("id"))
}

// A pauseSetting says whether all actions are paused.
type pauseSetting struct {
	Paused bool `json:"paused"`
}

// pause pauses or resumes all actions.
func (h *Handler) pause(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := decode[pauseSetting](w, r)
	if err != nil {
		return nil, err
	}
	if err := h.cfg.Queue.Pause(r.Context(), in.Paused, fromPage); err != nil {
		return nil, err
	}
	return pauseSetting{h.cfg.Queue.Paused()}, nil
}
