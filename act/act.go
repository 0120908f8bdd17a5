// Package act does what was said: it takes an agent's wish to create an
// appointment, send a message or set a reminder, finds the words behind it,
// has a person decide, carries it out once, and writes all of it down.
//
// A [Queue] is where actions are dealt with. An agent's call proposes one and
// waits for its end; the owner decides at a terminal or on the page; whatever
// is approved is carried out by the desk itself, also if nobody waits any
// more.
//
// The rules that make this safe are few. What is stored never changes, and a
// decision names the digest of what was seen. Every change of state is a
// compare-and-set in the store, so that of two who decide one does. An attempt
// is in the store and in the audit, on disk, before it is made; what nobody
// can know afterwards is shown as unknown and never done again by itself. And
// a grant covers only what was said on this side of the call.
package act

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// Store is what a desk needs of a [hearken.Store].
type Store interface {
	hearken.ActionStore
	Keys(ctx context.Context) ([]hearken.Key, error)
}

// Config is what a [Queue] is made of. Dir, Store, Audit and Zone are required.
type Config struct {
	Dir   string // where it is kept that all actions are paused
	Store Store
	Audit hearken.Audit
	// Transcripts are where the words behind an action are looked for; nil
	// finds none.
	Transcripts evidence.Transcripts
	// Calendars, Messengers and Reminders carry out the three tools. Of the
	// calendars the first is used, and all reminders.
	Calendars  []hearken.Connector
	Messengers []hearken.Connector
	Reminders  []hearken.Connector

	// CallingCode is that of phone numbers written without one; may be empty.
	CallingCode string

	Zone      *time.Location // in which times without a zone are meant
	Approval  time.Duration  // how long a person may take to decide; 0 for ten minutes
	Retention time.Duration  // how long ended actions keep their texts; 0 for ever
	// FarRecipients lets the owner decide about a new recipient that only the
	// far side named, in place of a refusal.
	FarRecipients bool
	// Delay is how long a message that a grant covers waits before it is sent,
	// so that it can still be cancelled.
	Delay time.Duration
	// NewOwner says that the owner is another than the one who decided so far:
	// grants are revoked, and what waits or was approved is cancelled.
	NewOwner bool
	// NoNotifier says why the owner could not be told of a reminder now, as a
	// sentence; empty if there is a way. May be nil.
	NoNotifier func() string
	// OnPending is told of each action that waits for its owner; may be nil.
	OnPending func(a *hearken.Action)

	Log *slog.Logger
	Now func() time.Time
	// Fault is called at places where a test may end the process.
	Fault func(place string)
}

// A Request is one call of an acting tool.
type Request struct {
	Principal string // "local" or a key's id
	Client    string // what the client calls itself
	Tool      string // one of the three

	// Exactly one of these, by Tool; as the agent wrote them.
	Calendar *CalendarArgs
	Message  *MessageArgs
	Reminder *ReminderArgs

	// Claim is what the agent says the words behind it are; may be nil.
	Claim *Claim
	// IdempotencyKey is the client's own key for the action: a second call with it is
	// the same action. Empty: equal arguments within ten minutes are.
	IdempotencyKey string
}

// A Claim is what an agent says the words behind an action are.
type Claim = evidence.Claim

// CalendarArgs are the arguments of calendar.create.
type CalendarArgs struct {
	Title       string
	Start       string
	Minutes     float64
	Description string
	Location    string
}

// MessageArgs are the arguments of message.send.
type MessageArgs struct {
	To       string
	Text     string
	Platform string
}

// ReminderArgs are the arguments of reminder.create.
type ReminderArgs struct {
	Time   string
	Note   string
	Repeat string
}

// A Verdict is what somebody decides about an action.
type Verdict struct {
	ID     string
	Digest string // of the action as it was seen
	Allow  bool
	By     string // owner or client
	From   string // terminal, page, elicitation, file
	Reason string
	// Grant makes an allowed action's like be allowed from now on; nil for
	// this one alone.
	Grant *GrantBounds
}

// GrantBounds is how far a grant goes.
type GrantBounds struct {
	For    time.Duration // 0 for 24 hours; at most 30 days for messages, a year for others
	PerDay int           // 0 for 20
}
