package act_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// onFailpoint calls do once, when the queue reaches a failpoint.
func (w *world) onFailpoint(name string, do func()) {
	var once sync.Once
	w.close()
	w.cfg.Failpoint = func(p string) {
		if p == name {
			once.Do(do)
		}
	}
	w.open()
}

// A pause that has returned holds, whatever was about to begin.
func TestQueue_PausedAtLast(t *testing.T) {
	run(t, func(w *world) {
		w.onFailpoint("audited", func() {
			if err := w.queue.Pause(w.Context(), true, "terminal"); err != nil {
				w.Error(err)
			}
		})
		a := w.propose(w.message("hello"))
		if _, _, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner"}); err != nil {
			w.Fatal(err)
		}
		w.sleep(time.Minute)
		if got, _ := w.queue.Action(w.Context(), a.ID); got.State != hearken.ActionApproved || w.mail.count() != 0 {
			w.Errorf("%s, %d sent", got.State, w.mail.count())
		}
		if err := w.queue.Pause(w.Context(), false, "terminal"); err != nil {
			w.Fatal(err)
		}
		if got := w.await(a); got.State != hearken.ActionDone {
			w.Errorf("%+v", got)
		}
	})
}

// A grant that was revoked covers nothing that has not begun.
func TestQueue_RevokedAtLast(t *testing.T) {
	run(t, func(w *world) {
		g, err := w.queue.Grant(w.Context(), hearken.Grant{Principal: act.Local, Tool: hearken.CalendarCreate, Target: "builtin"})
		if err != nil {
			w.Fatal(err)
		}
		w.onFailpoint("audited", func() {
			if _, err := w.queue.RevokeGrant(w.Context(), g.ID); err != nil {
				w.Error(err)
			}
		})
		a := w.propose(w.event("Lunch"))
		if got := w.await(a); a.Decision == nil || got.State != hearken.ActionDenied || w.calendar.count() != 0 {
			w.Errorf("%+v, %d created", got, w.calendar.count())
		}
	})
}

// What was approved is not done long after.
func TestQueue_Stale(t *testing.T) {
	run(t, func(w *world) {
		a := w.propose(w.message("I am there in five minutes"))
		if err := w.queue.Pause(w.Context(), true, "page"); err != nil {
			w.Fatal(err)
		}
		if _, _, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner"}); err != nil {
			w.Fatal(err)
		}
		w.sleep(2 * time.Hour)
		if err := w.queue.Pause(w.Context(), false, "page"); err != nil {
			w.Fatal(err)
		}
		if got := w.await(a); got.State != hearken.ActionExpired || act.Failure(got).Code != hearken.ApprovalExpired || w.mail.count() != 0 {
			w.Errorf("%+v, %d sent", got, w.mail.count())
		}
	})
}

// A grant that cannot be made is refused before anything is allowed.
func TestDecide_GrantBounds(t *testing.T) {
	run(t, func(w *world) {
		a := w.propose(w.write("ntfy", "lunch is at one"))
		for _, bad := range []act.GrantBounds{{For: 31 * 24 * time.Hour}, {For: -time.Hour}, {PerDay: -5}, {PerDay: 5000}} {
			_, won, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", Grant: &bad})
			if won || hearken.CodeOf(err) != hearken.Invalid {
				w.Errorf("%+v: %v, %v", bad, won, err)
			}
		}
		if got, _ := w.queue.Action(w.Context(), a.ID); got.State != hearken.ActionPending {
			w.Errorf("it is %s", got.State)
		}
	})
}
