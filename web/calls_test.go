package web_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// What was requested during a call is marked and its call is described. What
// falls due soon belongs to no list.
func TestCalls(t *testing.T) {
	h := open(t, nil)
	later := time.Now().Add(3 * time.Hour)
	first, second := inCall(newAction(t, "one"), callID), inCall(newReminder(t, "two", later), callID)
	soon := inCall(newReminder(t, "soon", time.Now().Add(10*time.Minute)), callID)
	before := inCall(newAction(t, "before"), earlierID)
	before.ExpiresAt = callAt.Add(time.Minute)
	next2 := inCall(newAction(t, "before, too"), earlierID)
	next2.ExpiresAt = callAt
	deleted := inCall(newAction(t, "deleted"), "1b7c1c5e-2f6d-4d0a-9a53-5a4f3c1d2e10")
	for _, a := range []hearken.Action{first, second, soon, before, next2, deleted, newAction(t, "no call")} {
		h.queue.put(a)
	}
	ended := callAt.Add(-time.Hour)
	h.queue.ended = map[string]time.Time{earlierID: ended, deleted.Call: time.Now()}
	events, end := h.signedIn(t).follow(t.Context())
	defer end()
	in := inboxOf(t, next(t, events))
	var collected []string
	for _, c := range in.Pending {
		if c.Collected {
			collected = append(collected, c.ID)
		}
	}
	if diff := cmp.Diff([]string{deleted.ID, next2.ID, before.ID, second.ID, first.ID}, collected); diff != "" {
		t.Error(diff)
	}
	start, earlierStart := callAt, callAt.Add(-2*time.Hour)
	want := []callInfo{
		{ID: callID, Title: "Call with Bob", Live: true, StartedAt: &start},
		{ID: earlierID, StartedAt: &earlierStart, EndedAt: &ended, DecideBy: &next2.ExpiresAt},
		{ID: deleted.Call, Deleted: true, DecideBy: &deleted.ExpiresAt},
	}
	if diff := cmp.Diff(want, in.Calls); diff != "" {
		t.Error(diff)
	}
}

// A call can end while nothing changes in the queue. The page learns it anyway,
// and shows the list even without transcripts.
func TestCalls_End(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openInMemory()
		_, cookie := h.login(t)
		h.queue.put(inCall(newAction(t, "one"), callID))
		time.AfterFunc(time.Minute, func() {
			h.queue.mu.Lock()
			defer h.queue.mu.Unlock()
			h.queue.ended = map[string]time.Time{callID: time.Now()}
		})
		said := h.follow(t.Context(), cookie).Body.String()
		live := strings.Index(said, `"calls":[{"id":"`+callID+`","live":true}]`)
		over := strings.Index(said, `"calls":[{"id":"`+callID+`","live":false,"decideBy"`)
		if live < 0 || over < live || strings.Count(said, "event: inbox") != 2 {
			t.Errorf("the stream said %.3000s", said)
		}
	})
}
