// Package store holds what all stores do alike: how they round times, what
// they refuse, and how they order and select records without a database.
package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// RoundTime returns t as stores keep it: in UTC, to the microsecond.
func RoundTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// RoundTimePtr is [RoundTime] for a time that may be missing.
func RoundTimePtr(t *time.Time) *time.Time { return Convert(t, RoundTime) }

// Convert converts a value that may be missing.
func Convert[T, U any](value *T, f func(T) U) *U {
	if value == nil {
		return nil
	}
	return new(f(*value))
}

// CeilTime returns the first time that a store can keep and that is not before
// t.
func CeilTime(t time.Time) time.Time { return RoundTime(t.Add(time.Microsecond - 1)) }

// RoundActionTimes returns a copy of a with its times rounded. The times in its
// arguments stay exactly as they were approved.
func RoundActionTimes(a *hearken.Action) *hearken.Action {
	c := *a
	c.CreatedAt, c.ExpiresAt = RoundTime(a.CreatedAt), RoundTime(a.ExpiresAt)
	c.RunAt, c.EndedAt = RoundTimePtr(a.RunAt), RoundTimePtr(a.EndedAt)
	if a.Decision != nil {
		d := *a.Decision
		d.At = RoundTime(d.At)
		c.Decision = &d
	}
	return &c
}

// RoundAlarmTimes returns a copy of a with its times rounded.
func RoundAlarmTimes(a *hearken.Alarm) *hearken.Alarm {
	c := *a
	c.Next, c.Firing, c.Fired = RoundTime(a.Next), RoundTimePtr(a.Firing), RoundTimePtr(a.Fired)
	return &c
}

// RoundGrantTimes returns a copy of g with its times rounded.
func RoundGrantTimes(g *hearken.Grant) *hearken.Grant {
	c := *g
	c.CreatedAt, c.ExpiresAt, c.RevokedAt = RoundTime(g.CreatedAt), RoundTime(g.ExpiresAt), RoundTimePtr(g.RevokedAt)
	return &c
}

// CheckSession refuses a session without a valid id and segments without a
// line.
func CheckSession(s *hearken.Session, segments []hearken.Segment) error {
	if !hearken.ValidID(s.ID) {
		return hearken.Errorf(hearken.Invalid, "The session id %q is not a UUID.", s.ID)
	}
	for i := range segments {
		if line := segments[i].Line; line < 1 {
			return hearken.Errorf(hearken.Invalid, "A segment has line %d, but the first line is 1.", line)
		}
	}
	return nil
}

// CheckActionID refuses what is not the id of an action.
func CheckActionID(id string) error {
	if !hearken.ValidActionID(id) {
		return hearken.Errorf(hearken.Invalid, "%q is not the id of an action.", id)
	}
	return nil
}

// Wrap says what failed. It returns nil if err is nil.
func Wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// A Where collects the conditions of a query. In each, ? stands for an
// argument.
type Where struct {
	Args       []any
	conditions []string
}

// And adds a condition and its arguments.
func (w *Where) And(condition string, args ...any) {
	w.conditions, w.Args = append(w.conditions, condition), append(w.Args, args...)
}

// String returns the WHERE clause; empty if there are no conditions.
func (w *Where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(w.conditions, ` AND `)
}

// One returns what was found first, or the error missing if there is nothing.
func One[T any](found []T, err, missing error) (*T, error) {
	if err == nil && len(found) == 0 {
		err = missing
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// NoSession is the error for a session that does not exist.
func NoSession(id string) error {
	return hearken.Errorf(hearken.SessionNotFound, "There is no session %s.", id).WithTry("list the sessions")
}

// NoNote is the error for a session without a note.
func NoNote(session string) error {
	return hearken.Errorf(hearken.NotFound, "The session %s has no note.", session)
}

// NoOwner is the error for a store without an owner.
func NoOwner() error { return hearken.Errorf(hearken.NotFound, "The store has no owner.") }

// NoAction is the error for an action that does not exist.
func NoAction(id string) error {
	return hearken.Errorf(hearken.NotFound, "There is no action %s.", id).WithTry("list the actions")
}

// NoContact is the error for a contact that does not exist.
func NoContact(id string) error {
	return hearken.Errorf(hearken.NotFound, "There is no contact %s.", id).WithTry("list the contacts")
}

// SelectSessions returns those of sessions that the filter selects, newest
// first. It changes the slice that it is given.
func SelectSessions(sessions []hearken.Session, f hearken.SessionFilter) []hearken.Session {
	sessions = slices.DeleteFunc(sessions, func(s hearken.Session) bool {
		return f.Status != "" && s.Status != f.Status ||
			!f.Since.IsZero() && s.StartedAt.Before(f.Since) ||
			!f.Until.IsZero() && !s.StartedAt.Before(f.Until)
	})
	slices.SortFunc(sessions, func(a, b hearken.Session) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
	})
	return first(sessions, f.Limit)
}

// SelectActions returns those of actions that the filter selects, newest
// first. It changes the slice that it is given.
func SelectActions(actions []hearken.Action, f hearken.ActionFilter) []hearken.Action {
	is := func(want, got string) bool { return want == "" || want == got }
	actions = slices.DeleteFunc(actions, func(a hearken.Action) bool {
		selected := (len(f.States) == 0 || slices.Contains(f.States, a.State)) &&
			is(f.Principal, a.Principal) && is(f.Tool, a.Tool) && is(f.Target, a.Target) && is(f.IdempotencyKey, a.IdempotencyKey) &&
			(f.Grant == "" || a.Decision != nil && a.Decision.Grant == f.Grant) &&
			(!f.PendingAudit || a.PendingAudit != "") &&
			(f.Since.IsZero() || !a.CreatedAt.Before(f.Since))
		return !selected
	})
	slices.SortFunc(actions, func(a, b hearken.Action) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return first(actions, f.Limit)
}

// HasEvidenceFrom reports whether an action has evidence from a session. An
// empty session stands for any, as in [hearken.ActionStore.ForgetInActions].
func HasEvidenceFrom(a *hearken.Action, session string) bool {
	return session == "" || slices.ContainsFunc(a.Evidence, func(e hearken.Evidence) bool { return e.Session == session })
}

// first returns at most limit elements; 0 is no limit.
func first[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// SelectAlarms returns those of alarms that [hearken.ActionStore.Alarms] lists,
// in its order. It changes the slice that it is given.
func SelectAlarms(alarms []hearken.Alarm, before time.Time) []hearken.Alarm {
	alarms = slices.DeleteFunc(alarms, func(a hearken.Alarm) bool {
		return !before.IsZero() && a.Firing == nil && (a.Next.IsZero() || !a.Next.Before(before))
	})
	slices.SortFunc(alarms, func(a, b hearken.Alarm) int {
		return cmp.Or(alarmTime(&a).Compare(alarmTime(&b)), cmp.Compare(a.Action, b.Action))
	})
	return alarms
}

// alarmTime is what alarms are sorted by: the time that is firing, or the next
// one. An alarm that has neither comes last.
func alarmTime(a *hearken.Alarm) time.Time {
	switch {
	case a.Firing != nil:
		return *a.Firing
	case a.Next.IsZero():
		return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	return a.Next
}

// SortGrants sorts grants, oldest first.
func SortGrants(grants []hearken.Grant) {
	slices.SortFunc(grants, func(a, b hearken.Grant) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// SortContacts sorts contacts by name, in any script regardless of case, which
// no database does for all languages.
func SortContacts(contacts []hearken.Contact) {
	slices.SortFunc(contacts, func(a, b hearken.Contact) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
}

// SortHits sorts hits, newest first.
func SortHits(hits []hearken.Hit) {
	slices.SortFunc(hits, func(a, b hearken.Hit) int {
		return cmp.Or(b.Segment.Timestamp.Compare(a.Segment.Timestamp),
			cmp.Compare(b.Session, a.Session), cmp.Compare(b.Segment.Line, a.Segment.Line))
	})
}
