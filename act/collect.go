package act

import (
	"context"
	"maps"
	"time"

	"github.com/hearken-dev/hearken"
)

// What is requested during a call waits until it is over: nobody can read cards
// and talk at the same time.
const (
	// AfterCall is how long there is to decide, once the call has ended.
	AfterCall   = 30 * time.Minute
	longestCall = 12 * time.Hour // to decide in any case
	// callSilence is how long a session has had no audio when its call counts as
	// ended.
	callSilence = 10 * time.Minute
	// shortest is how long something waits that is due at once.
	shortest = time.Minute
)

// Calls knows which sessions have live audio.
type Calls interface {
	// LiveSession returns the active session in which audio arrived last, and
	// when; an empty id if there is none.
	LiveSession() (id string, lastAudio time.Time)
	// AudioEnd returns when the last audio of a session arrived, zero if it is
	// not known, and whether more may come.
	AudioEnd(ctx context.Context, id string) (lastAudio time.Time, active bool)
}

// collect lets an action that was requested during a call wait until the call is
// over. An action that falls due earlier waits until then.
func (q *Queue) collect(a *hearken.Action) {
	if q.cfg.Calls == nil {
		return
	}
	now := q.cfg.Now().UTC()
	session, lastAudio := q.cfg.Calls.LiveSession()
	if session == "" || now.Sub(lastAudio) > callSilence {
		return
	}
	a.Call, a.ExpiresAt = session, longestWait(a, now)
	if !a.ExpiresAt.After(now) { // it begins right now
		a.ExpiresAt = now.Add(shortest)
	}
}

// longestWait returns until when an action waits for the end of its call.
func longestWait(a *hearken.Action, since time.Time) time.Time {
	until := since.Add(longestCall)
	if due := dueAt(a); due.Before(until) {
		return due
	}
	return until
}

// dueAt is when an action is of no use any more if it has not been carried out.
func dueAt(a *hearken.Action) time.Time {
	switch {
	case a.Appointment != nil:
		return a.Appointment.Start
	case a.Reminder != nil:
		return a.Reminder.At
	}
	return a.CreatedAt.Add(longestCall)
}

// WaitsForCallEnd reports whether the owner need not see an action before the
// call has ended.
func (q *Queue) WaitsForCallEnd(a *hearken.Action) bool {
	return a.Call != "" && !Urgent(a, q.cfg.Now())
}

// Urgent reports whether an action falls due before there is time to decide
// after a call.
func Urgent(a *hearken.Action, now time.Time) bool { return dueAt(a).Sub(now) <= AfterCall }

// settleCalls shortens the wait of what was requested during calls that have
// ended since, and tells the owner what waits. If a call goes on after a pause,
// the wait is as long as before. Of what falls due during its call settleCalls
// tells the owner at once.
func (q *Queue) settleCalls(ctx context.Context, waiting []hearken.Action) {
	now := q.cfg.Now().UTC()
	ended, pending := map[string]time.Time{}, map[string]bool{}
	collected := map[string]int{}
	for i := range waiting {
		a := &waiting[i]
		if a.State != hearken.ActionPending || a.Call == "" || q.cfg.Calls == nil || !now.Before(a.ExpiresAt) {
			continue
		}
		pending[a.ID] = true
		end, known := ended[a.Call]
		if !known {
			end = q.callEnd(ctx, a.Call, now)
			ended[a.Call] = end
		}
		if end.IsZero() {
			delete(q.announced, a.Call) // it goes on, and ends anew
			if until := longestWait(a, a.CreatedAt); until.After(a.ExpiresAt) {
				q.moveExpiry(ctx, a, until)
			}
			if Urgent(a, now) && !q.urged[a.ID] {
				q.urged[a.ID] = true
				q.notify(pendingNotice(a))
			}
			continue
		}
		by := end.Add(AfterCall)
		if by.After(now) {
			collected[a.Call]++
		}
		if by.Before(a.ExpiresAt) {
			q.moveExpiry(ctx, a, by)
		}
	}
	for call, n := range collected {
		if !q.announced[call] {
			q.announced[call] = true
			q.notify(collectedNotice(n))
		}
	}
	maps.DeleteFunc(q.urged, func(id string, _ bool) bool { return !pending[id] })
	maps.DeleteFunc(q.announced, func(call string, _ bool) bool {
		_, waits := ended[call]
		return !waits
	})
}

// moveExpiry changes until when a pending action waits.
func (q *Queue) moveExpiry(ctx context.Context, a *hearken.Action, until time.Time) {
	stored, _, err := q.update(ctx, a.ID, func(stored *hearken.Action) bool {
		if stored.State != hearken.ActionPending || !stored.ExpiresAt.Equal(a.ExpiresAt) {
			return false
		}
		stored.ExpiresAt = until
		return true
	})
	if err != nil {
		q.log.Warn("not saved until when an action waits", "action", a.ID, "error", err)
		return
	}
	a.ExpiresAt = stored.ExpiresAt
}

// CallEnd returns when a call ended; zero if it goes on. Nobody knows that of a
// deleted session, so it ends now.
func (q *Queue) CallEnd(ctx context.Context, session string) time.Time {
	now := q.cfg.Now().UTC()
	if q.cfg.Calls == nil {
		return now
	}
	return q.callEnd(ctx, session, now)
}

// callEnd is CallEnd with Calls and the current time.
func (q *Queue) callEnd(ctx context.Context, session string, now time.Time) time.Time {
	last, active := q.cfg.Calls.AudioEnd(ctx, session)
	switch {
	case active && now.Sub(last) <= callSilence:
		return time.Time{}
	case last.IsZero() || last.After(now):
		return now
	}
	return last
}
