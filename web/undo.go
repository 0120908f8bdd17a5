package web

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// fromLink is where a request with the link of a notification comes from.
const fromLink = "link"

// UndoPath returns the path and the query of the page that undoes what a grant
// allowed. Whoever knows them can undo that one action for a day, and nothing
// else.
func UndoPath(key []byte, id string) string { return "/undo/" + id + "?t=" + undoToken(key, id) }

// undoToken proves that the hub made a link. Its key is derived from one that
// serves other purposes, too.
func undoToken(key []byte, id string) string {
	own, err := hkdf.Key(sha256.New, key, nil, "undo link", sha256.Size)
	if err != nil {
		panic(err) // the length is valid
	}
	mac := hmac.New(sha256.New, own)
	mac.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// showUndo shows what a grant allowed, with a button that undoes it. It changes
// nothing itself: mail programs open links to check them.
func (h *Handler) showUndo(w http.ResponseWriter, r *http.Request) {
	a, err := h.checkUndoLink(r)
	if err != nil {
		h.refuseUndo(w, r, err)
		return
	}
	h.writeUndoPage(w, http.StatusOK, undoPageOf(a, h.keyNames(r.Context())))
}

// undoByLink undoes what a grant allowed.
func (h *Handler) undoByLink(w http.ResponseWriter, r *http.Request) {
	a, err := h.checkUndoLink(r)
	if err == nil && !h.isSamePage(r) {
		err = hearken.Errorf(hearken.Forbidden, "Only the page itself may do this.")
	}
	if err == nil {
		a, err = h.cfg.Queue.UndoGranted(context.WithoutCancel(r.Context()), a.ID)
	}
	if err != nil {
		h.refuseUndo(w, r, err)
		return
	}
	h.writeUndoPage(w, http.StatusOK, undoPageOf(a, h.keyNames(r.Context())))
}

// checkUndoLink returns the action of a link. It reads nothing before the token
// is right.
func (h *Handler) checkUndoLink(r *http.Request) (*hearken.Action, error) {
	id, token := r.PathValue("id"), r.URL.Query().Get("t")
	if !hearken.ValidActionID(id) || !hmac.Equal([]byte(token), []byte(undoToken(h.cfg.UndoKey, id))) {
		return nil, hearken.Errorf(hearken.Unauthorized, "The link is not complete, or it is not from this hub. Copy all of it from the notification.")
	}
	a, err := h.cfg.Queue.Action(r.Context(), id)
	switch {
	case err != nil:
		return nil, err
	case undoUntil(a).IsZero():
		return nil, hearken.Errorf(hearken.Forbidden, "No grant allowed this, so undoing it needs your PIN.").WithTry("hearken undo %s", id)
	case h.cfg.Now().After(undoUntil(a)):
		return nil, hearken.Errorf(hearken.Forbidden, "The link worked for one day. Undoing this now needs your PIN.").WithTry("hearken undo %s", id)
	}
	return a, nil
}

// refuseUndo says why a link does not work, and records refused ones in the
// audit.
func (h *Handler) refuseUndo(w http.ResponseWriter, r *http.Request, err error) {
	h.logInternal(r, err)
	code := hearken.CodeOf(err)
	if code == hearken.Unauthorized || code == hearken.Forbidden {
		if allowed, last := h.undoRefusals.Allow(h.cfg.Now()); allowed {
			record := hearken.AuditRecord{Type: hearken.AuditRefused, From: fromLink, Error: string(code)}
			if last {
				record.State = act.RefusalsOmitted
			}
			h.audit.append(r.Context(), record)
		}
	}
	shown := errorForPage(err)
	h.writeUndoPage(w, statusOf(code), undoPage{Title: "Nothing was undone", Text: shown.Message, Try: shown.Try})
}

// undoUntil is until when an action can be undone without the PIN; zero if that
// always needs it.
func undoUntil(a *hearken.Action) time.Time {
	if a.Decision == nil || a.Decision.By != "grant" {
		return time.Time{}
	}
	return a.Decision.At.Add(act.UndoWithin)
}
