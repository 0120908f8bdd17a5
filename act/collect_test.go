package act_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// wait checks until when an action waits for its decision.
func (w *world) wait(a *hearken.Action, until time.Time) {
	w.Helper()
	got := w.action(a.ID)
	if got.State != hearken.ActionPending || !got.ExpiresAt.Equal(until) {
		w.Errorf("%s is %s and expires %v, want %v", a.ID, got.State, got.ExpiresAt, until)
	}
}

// told checks that the owner was told of these things since the last time.
func (w *world) told(kinds ...act.NoticeKind) []act.Notice {
	w.Helper()
	synctest.Wait()
	all := w.notices.take()
	same := len(all) == len(kinds)
	for i := range all {
		same = same && all[i].Kind == kinds[i]
	}
	if !same {
		w.Errorf("told %+v, want %v", all, kinds)
	}
	return all
}

// What is requested during a call waits until half an hour after its end, and
// the owner is told once, then.
func TestCollect(t *testing.T) {
	run(t, func(w *world) {
		before := w.propose(w.message("before the call"))
		w.told(act.NoticePending)
		w.calls.sound("call")
		w.sleep(time.Minute)
		a := w.propose(w.message("one"))
		if before.Call != "" || a.Call != "call" {
			w.Errorf("requested in %q and %q", before.Call, a.Call)
		}
		w.wait(a, a.CreatedAt.Add(12*time.Hour))
		w.sleep(40 * time.Minute)
		b := w.propose(w.event("two"))
		w.sleep(time.Minute)
		if got := w.action(before.ID); got.State != hearken.ActionExpired {
			w.Errorf("from before the call: %+v", got)
		}
		w.told()

		w.calls.stop("call")
		ended := time.Now().UTC()
		w.sleep(time.Minute)
		w.wait(a, ended.Add(30*time.Minute))
		w.wait(b, ended.Add(30*time.Minute))
		if told := w.told(act.NoticeCollected); !strings.Contains(told[0].Text, "2 requests from your call wait") || !strings.Contains(told[0].Text, "hearken approve") {
			w.Errorf("told %+v", told)
		}
		after := w.propose(w.message("after the call"))
		if after.Call != "" || after.ExpiresAt.Sub(after.CreatedAt) != 10*time.Minute {
			w.Errorf("after the call: %+v", after)
		}
		w.told(act.NoticePending)
		if done := w.approve(a); done.State != hearken.ActionDone {
			w.Errorf("approved: %+v", done)
		}
		w.sleep(28 * time.Minute)
		w.wait(b, ended.Add(30*time.Minute))
		w.sleep(2 * time.Minute)
		if got := w.action(b.ID); got.State != hearken.ActionExpired {
			w.Errorf("half an hour later: %+v", got)
		}
		w.told()
	})
}

// A session that stays active without audio is a call that has ended.
func TestCollect_Silence(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("one"))
		w.calls.hush("call")
		silence := time.Now().UTC()
		w.sleep(9*time.Minute + 59*time.Second)
		w.wait(a, a.CreatedAt.Add(12*time.Hour))
		if late := w.propose(w.message("in a pause")); late.Call != "call" {
			w.Errorf("in a pause: %+v", late)
		}
		w.told()
		w.sleep(time.Minute)
		w.wait(a, silence.Add(30*time.Minute))
		w.told(act.NoticeCollected)
		if later := w.propose(w.message("in the silence")); later.Call != "" {
			w.Errorf("in the silence: %+v", later)
		}
	})
}

// A session may be used for several calls, one after another. The owner is told
// after each.
func TestCollect_SameSessionAgain(t *testing.T) {
	run(t, func(w *world) {
		for _, text := range []string{"in the first call", "in the second"} {
			w.calls.sound("all day")
			a := w.propose(w.message(text))
			w.sleep(20 * time.Minute)
			w.told()
			w.calls.hush("all day")
			ended := time.Now().UTC()
			w.sleep(11 * time.Minute)
			w.wait(a, ended.Add(30*time.Minute))
			w.told(act.NoticeCollected)
			w.sleep(time.Hour)
		}
	})
}

// What was requested before a pause waits for the end of a call that goes on.
func TestCollect_GoesOn(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("before the pause"))
		bank := w.propose(w.reminder("call the bank", 2*time.Hour))
		gone := w.propose(w.reminder("feed the cat", 20*time.Minute))
		w.told(act.NoticePending)
		w.calls.hush("call")
		pause := time.Now().UTC()
		w.sleep(15 * time.Minute)
		w.told(act.NoticeCollected)
		w.wait(a, pause.Add(30*time.Minute))
		w.wait(bank, pause.Add(30*time.Minute))
		w.calls.sound("call")
		b := w.propose(w.message("after the pause"))
		w.sleep(time.Minute)
		w.wait(a, a.CreatedAt.Add(12*time.Hour))
		w.wait(b, b.CreatedAt.Add(12*time.Hour))
		w.wait(bank, bank.Reminder.At)
		w.sleep(30 * time.Minute)
		if got := w.action(gone.ID); got.State != hearken.ActionExpired {
			w.Errorf("when it is due: %+v", got)
		}
		w.told()
		w.calls.stop("call")
		ended := time.Now().UTC()
		w.sleep(time.Minute)
		w.wait(a, ended.Add(30*time.Minute))
		w.wait(b, ended.Add(30*time.Minute))
		w.told(act.NoticeCollected)
	})
}

// Nothing waits longer than twelve hours, however long the call is.
func TestCollect_LongCall(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("one"))
		w.sleep(12*time.Hour - time.Second)
		w.wait(a, a.CreatedAt.Add(12*time.Hour))
		w.sleep(2 * time.Second)
		if got := w.action(a.ID); got.State != hearken.ActionExpired {
			w.Errorf("after twelve hours: %+v", got)
		}
		w.told(act.NoticePending) // half an hour before
	})
}

// What falls due in the middle of a long call is shown half an hour before, once.
func TestCollect_DueDuringCall(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		dentist := w.event("Dentist")
		dentist.Calendar.Start = time.Now().Add(2 * time.Hour).Format(time.RFC3339)
		a := w.propose(dentist)
		b := w.propose(w.reminder("call the bank", 2*time.Hour+10*time.Minute))
		w.sleep(89 * time.Minute)
		w.told()
		w.sleep(2 * time.Minute)
		if told := w.told(act.NoticePending); len(told) == 1 && (told[0].ID != a.ID || !strings.Contains(told[0].Text, "hearken approve "+a.ID)) {
			w.Errorf("told %+v", told)
		}
		w.sleep(10 * time.Minute)
		if told := w.told(act.NoticePending); len(told) == 1 && told[0].ID != b.ID {
			w.Errorf("told %+v", told)
		}
		if done := w.approve(b); done.State != hearken.ActionDone {
			w.Errorf("%+v", done)
		}
		w.sleep(30 * time.Minute)
		if got := w.action(a.ID); got.State != hearken.ActionExpired {
			w.Errorf("when it is due: %+v", got)
		}
		w.sleep(time.Hour)
		w.calls.stop("call")
		w.sleep(time.Minute)
		w.told() // nothing waits
	})
}

// What falls due soon is shown at once and waits until it is due.
func TestCollect_Urgent(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		soon := w.propose(w.reminder("turn off the oven", 10*time.Minute))
		if told := w.told(act.NoticePending); len(told) == 1 && told[0].ID != soon.ID {
			w.Errorf("told of %s", told[0].ID)
		}
		w.wait(soon, soon.Reminder.At)
		later := w.propose(w.reminder("call the bank", 3*time.Hour))
		w.wait(later, later.Reminder.At)
		w.told()
		meeting := w.event("Standup")
		meeting.Calendar.Start = time.Now().Add(20 * time.Minute).Format(time.RFC3339)
		w.propose(meeting)
		w.told(act.NoticePending)
		now := w.propose(w.reminder("at once", 10*time.Second))
		w.wait(now, now.Reminder.At)
		w.told(act.NoticePending)
		w.sleep(10*time.Minute + time.Second)
		if got := w.action(soon.ID); got.State != hearken.ActionExpired || act.Failure(got).Code != hearken.ApprovalExpired {
			w.Errorf("when it is due: %+v", got)
		}
		w.calls.stop("call")
		w.sleep(time.Minute)
		if told := w.told(act.NoticeCollected); len(told) == 1 && !strings.Contains(told[0].Text, "2 requests") { // the meeting and the later reminder
			w.Errorf("told %+v", told)
		}
	})
}

// A deleted session was a call, too.
func TestCollect_Deleted(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("one"))
		w.sleep(5 * time.Minute)
		w.calls.remove("call")
		before := time.Now()
		w.sleep(time.Minute)
		w.told(act.NoticeCollected)
		until := w.action(a.ID).ExpiresAt
		if left := until.Sub(before); left < 30*time.Minute || left > 31*time.Minute {
			w.Errorf("it waits for %v after its session was deleted", left)
		}
		w.sleep(20 * time.Minute)
		w.wait(a, until)
	})
}

// A hub that was restarted during a call still knows what waits for its end.
func TestCollect_Restart(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("one"))
		w.sleep(20 * time.Minute)
		w.close()
		w.calls.restart()
		w.open()
		w.calls.sound("call") // its sender returns
		w.sleep(20 * time.Minute)
		w.wait(a, a.CreatedAt.Add(12*time.Hour))
		w.told()
		w.calls.stop("call")
		ended := time.Now().UTC()
		w.sleep(time.Minute)
		w.wait(a, ended.Add(30*time.Minute))
		w.told(act.NoticeCollected)
	})
}

// A call that ended while no hub ran, too long ago, left nothing to decide.
func TestCollect_EndedMeanwhile(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		a := w.propose(w.message("one"))
		w.sleep(time.Minute)
		w.calls.stop("call")
		w.close()
		<-time.After(2 * time.Hour)
		w.open()
		w.sleep(time.Minute)
		if got := w.action(a.ID); got.State != hearken.ActionExpired {
			w.Errorf("%+v", got)
		}
		w.told() // nothing waits
	})
}

// Each call has its own end.
func TestCollect_TwoCalls(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("first")
		a := w.propose(w.message("in the first"))
		w.sleep(time.Minute)
		w.calls.hush("first")
		w.sleep(time.Second)
		w.calls.sound("second")
		b := w.propose(w.message("in the second"))
		if a.Call != "first" || b.Call != "second" {
			w.Errorf("requested in %q and %q", a.Call, b.Call)
		}
		w.calls.stop("first")
		w.sleep(15 * time.Minute)
		if told := w.told(act.NoticeCollected); len(told) == 1 && !strings.Contains(told[0].Text, "One request") {
			w.Errorf("told %+v", told)
		}
		w.wait(b, b.CreatedAt.Add(12*time.Hour))
		w.calls.stop("second")
		ended := time.Now().UTC()
		w.sleep(time.Minute)
		w.told(act.NoticeCollected)
		w.wait(b, ended.Add(30*time.Minute))
	})
}

// What a grant covered before the call and asks about during it waits for its
// end.
func TestCollect_GrantSwitchedOff(t *testing.T) {
	run(t, func(w *world) {
		w.grant(act.Local, hearken.CalendarCreate, "builtin")
		w.onFailpoint("audited", func() { w.calls.sound("call") })
		a := w.propose(w.event("Lunch"))
		if a.Decision == nil {
			w.Fatalf("no grant: %+v", a)
		}
		w.sleep(time.Minute)
		got := w.action(a.ID)
		if got.State != hearken.ActionPending || got.Call != "call" || w.calendar.count() != 0 {
			w.Fatalf("%+v", got)
		}
		w.told()
		w.calls.stop("call")
		w.sleep(time.Minute)
		w.told(act.NoticeCollected)
		if done := w.approve(got); done.State != hearken.ActionDone || w.calendar.count() != 1 {
			w.Errorf("%+v", done)
		}
	})
}

// The agent is told that it need not try again. What it is told holds whenever it
// asks: before the end of the call, after it, and if it is urgent.
func TestCollect_Failure(t *testing.T) {
	run(t, func(w *world) {
		w.calls.sound("call")
		for _, a := range []*hearken.Action{w.propose(w.message("one")), w.propose(w.reminder("turn off the oven", 10*time.Minute))} {
			f := act.Failure(a)
			for _, want := range []string{
				a.ID + " was requested during a call", "who decides by " + a.ExpiresAt.UTC().Format(time.RFC3339) + ", usually after the call",
				"Repeating it or trying another way does not help", "hearken approve " + a.ID, "action_status",
			} {
				if !strings.Contains(f.Error(), want) {
					w.Errorf("no %q in %v", want, f)
				}
			}
			if f.Code != hearken.ApprovalPending {
				w.Errorf("%v", f)
			}
		}
	})
}
