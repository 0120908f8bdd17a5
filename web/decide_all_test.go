package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// shown is the list of actions that a page decides about.
func shown(actions ...hearken.Action) []map[string]string {
	list := []map[string]string{}
	for _, a := range actions {
		list = append(list, map[string]string{"id": a.ID, "digest": a.Digest})
	}
	return list
}

type decideAllResponse struct {
	Results []struct {
		ID      string
		Decided bool
		Action  *card
		Error   *struct{ Code, Message string }
	}
}

// Each action of the list is decided by its digest. One that cannot be decided
// stops no other, and one that is not in the list stays as it is.
func TestDecideAll(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	first, changed, gone, denied, last := newAction(t, "one"), newAction(t, "two"), newAction(t, "three"), newAction(t, "four"), newReminder(t, "five", time.Now().Add(time.Hour))
	later := newAction(t, "arrived later")
	denied.State = hearken.ActionDenied
	for _, a := range []hearken.Action{first, changed, denied, last, later} {
		h.queue.put(a)
	}
	changed.Digest = "sha256:as it was"
	var out decideAllResponse
	v.want(200, "POST", "decide-all", map[string]any{"allow": true, "actions": shown(first, changed, gone, denied, last)}, &out)
	var got []string
	for _, r := range out.Results {
		text := fmt.Sprintf("%s decided=%v", r.ID, r.Decided)
		if r.Action != nil {
			text += " " + r.Action.State
		}
		if r.Error != nil {
			text += " " + r.Error.Code
		}
		got = append(got, text)
	}
	want := []string{
		first.ID + " decided=true done", changed.ID + " decided=false approval_mismatch", gone.ID + " decided=false not_found",
		denied.ID + " decided=false denied", last.ID + " decided=true done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]act.DecisionRequest{
		{ID: first.ID, Digest: first.Digest, Allow: true, By: "owner", From: "page"},
		{ID: last.ID, Digest: last.Digest, Allow: true, By: "owner", From: "page"},
	}, h.queue.decisions()); diff != "" {
		t.Error(diff)
	}
	if h.queue.state(later.ID) != hearken.ActionPending || h.queue.state(changed.ID) != hearken.ActionPending {
		t.Error("something was decided that was not shown")
	}
	v.want(200, "POST", "decide-all", map[string]any{"allow": false, "actions": shown(later)}, &out)
	if h.queue.state(later.ID) != hearken.ActionDenied {
		t.Error("not denied")
	}
}

// A hundred actions fit into one request.
func TestDecideAll_Most(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	var list []hearken.Action
	for range 100 {
		a := newAction(t, "one of many")
		a.Digest = fmt.Sprintf("%064d", len(list)) // as long as a real one
		list = append(list, a)
		h.queue.put(a)
	}
	v.want(200, "POST", "decide-all", map[string]any{"allow": true, "actions": shown(list...)}, nil)
	if got := len(h.queue.decisions()); got != 100 {
		t.Errorf("%d decided", got)
	}
}

// A list that no page sends decides nothing at all.
func TestDecideAll_Refused(t *testing.T) {
	h := open(t, nil)
	v := h.signedIn(t)
	a, b := newAction(t, "one"), newAction(t, "two")
	h.queue.put(a)
	h.queue.put(b)
	noDigest, noID := b, b
	noDigest.Digest, noID.ID = "", ""
	var many []hearken.Action
	for range 100 {
		many = append(many, newAction(t, "one of many"))
	}
	for name, body := range map[string]any{
		"Empty":        map[string]any{"allow": true, "actions": shown()},
		"Missing":      map[string]any{"allow": true},
		"TooMany":      map[string]any{"allow": true, "actions": shown(append(many, a)...)},
		"Twice":        map[string]any{"allow": true, "actions": shown(a, b, a)},
		"NoDigest":     map[string]any{"allow": true, "actions": shown(a, noDigest)},
		"NoID":         map[string]any{"allow": true, "actions": shown(a, noID)},
		"UnknownField": map[string]any{"allow": true, "actions": shown(a), "grant": map[string]int{"hours": 1, "perDay": 1}},
		"All":          map[string]any{"allow": true, "actions": "all"},
		"NotJSON":      "yes",
	} {
		t.Run(name, func(t *testing.T) {
			v := *v
			v.t = t
			v.want(400, "POST", "decide-all", body, nil)
		})
	}
	if got := h.queue.decisions(); len(got) != 0 {
		t.Errorf("decided: %+v", got)
	}
}
