package web

import (
	"net/http"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// maxTogether is how many actions can be decided at once.
const maxTogether = 100

// A decideAllRequest is one decision about all actions that the page showed.
type decideAllRequest struct {
	Allow   bool `json:"allow"`
	Actions []struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
	} `json:"actions"`
}

// A decideAllResponse holds the result for each action, in the order of the
// request.
type decideAllResponse struct {
	Results []decisionResult `json:"results"`
}

// A decisionResult is what became of one action: it was decided here, it had been
// decided before, or it could not be decided.
type decisionResult struct {
	ID      string         `json:"id"`
	Decided bool           `json:"decided"`
	Action  *card          `json:"action,omitempty"` // as it is now; nil with an error
	Error   *hearken.Error `json:"error,omitempty"`
}

// check refuses a request that the page does not send, before anything is
// decided.
func (in *decideAllRequest) check() error {
	if n := len(in.Actions); n < 1 || n > maxTogether {
		return hearken.Errorf(hearken.Invalid, "1 to %d actions can be decided at once, not %d.", maxTogether, n)
	}
	seen := map[string]bool{}
	for _, a := range in.Actions {
		switch {
		case a.ID == "" || a.Digest == "":
			return hearken.Errorf(hearken.Invalid, "Each action needs its id and its digest.")
		case seen[a.ID]:
			return hearken.Errorf(hearken.Invalid, "The action %.60q is in the list twice.", a.ID)
		}
		seen[a.ID] = true
	}
	return nil
}

// decideAll allows or denies exactly the actions that the page showed, each by
// its digest. One that cannot be decided does not stop the others.
func (h *Handler) decideAll(w http.ResponseWriter, r *http.Request) (any, error) {
	in, err := decode[decideAllRequest](w, r)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	names := h.keyNames(r.Context())
	out := decideAllResponse{Results: make([]decisionResult, 0, len(in.Actions))}
	for _, shown := range in.Actions {
		result := decisionResult{ID: shown.ID}
		a, decided, err := h.cfg.Queue.Decide(r.Context(), act.DecisionRequest{
			ID: shown.ID, Digest: shown.Digest, Allow: in.Allow, By: "owner", From: fromPage,
		})
		if err != nil {
			h.logInternal(r, err)
			result.Error = errorForPage(err)
		} else {
			c := h.card(a, names)
			result.Action, result.Decided = &c, decided
		}
		out.Results = append(out.Results, result)
	}
	return out, nil
}
