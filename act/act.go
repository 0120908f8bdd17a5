// Package act carries out what was said: it takes an agent's request to create
// an appointment, send a message or set a reminder, finds the words behind it,
// asks a person to decide, carries it out once, and records all of it.
//
// A [Queue] holds the actions. An agent's call proposes one and waits for its
// end. The owner decides at a terminal or on the page. The queue carries out
// what is approved, even if nobody waits for it any more.
//
// A few rules make this safe. Stored arguments never change, and a decision
// names the digest of what the decider saw. Every change of state is a
// compare-and-set in the store, so that only one of several decisions counts.
// An attempt is in the store and in the audit, on disk, before it is made. If
// nobody can know its outcome afterwards, the action is unknown and never
// retried automatically. A grant covers only what the owner alone sees, and does
// not apply to a key that has just been near what people said: no words can make
// anything happen.
package act

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
)

// Store is what a queue needs of a [hearken.Store].
type Store interface {
	hearken.ActionStore
	Keys(ctx context.Context) ([]hearken.Key, error)
}

// Config configures a [Queue]. Dir, Store, Audit, Exposure and Zone are required.
type Config struct {
	Dir   string // holds the file that marks all actions as paused
	Store Store
	Audit hearken.Audit
	// Transcripts are searched for the words behind an action; nil finds none.
	Transcripts evidence.Transcripts
	// Calendars, Messengers and Reminders carry out the three tools: the first
	// calendar, the messenger of the chosen platform, and all reminders.
	Calendars  []hearken.Connector
	Messengers []hearken.Connector
	Reminders  []hearken.Connector

	// CallingCode is the calling code for numbers without one; may be empty.
	CallingCode string

	Zone      *time.Location // for times without a zone
	Approval  time.Duration  // how long a person may take to decide; 0 for ten minutes
	Retention time.Duration  // how long ended actions are kept; 0 for ever
	// Exposure says when grants do not apply.
	Exposure *Exposure
	// Calls says which session has live audio; nil if none ever has.
	Calls Calls
	// FarRecipients lets the owner decide about a new recipient that only the
	// other side named. Otherwise such a message is denied.
	FarRecipients bool
	// Delay is how long a message that a grant covers can still be cancelled
	// before it is sent.
	Delay time.Duration
	// NewOwner says that the owner has changed: all grants are revoked, and
	// pending and approved actions are cancelled.
	NewOwner bool
	// NoNotifier returns a sentence that says why the owner cannot be notified
	// of reminders, or an empty one. May be nil.
	NoNotifier func() string
	// OnNotice is called with what the owner should know soon. It should return
	// at once. May be nil.
	OnNotice func(n Notice)

	Log *slog.Logger
	Now func() time.Time
	// Failpoint is called at points where a test may end the process.
	Failpoint func(name string)
}

// A Request is one call of an acting tool.
type Request struct {
	Principal string // "local" or a key's id
	Client    string // the client's own name
	Tool      string // one of the three

	// Exactly one of these, by Tool, as the agent wrote it.
	Calendar *CalendarArgs
	Message  *MessageArgs
	Reminder *ReminderArgs

	// Claim is where the agent says the words behind it are; may be nil.
	Claim *Claim
	// IdempotencyKey is the client's own key: a second call with it means the
	// same action. If empty, equal arguments within ten minutes do.
	IdempotencyKey string
}

// A Claim is where an agent says the words behind an action are.
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

// A DecisionRequest is somebody's decision about an action.
type DecisionRequest struct {
	ID     string
	Digest string // of the action as the decider saw it
	Allow  bool
	By     string // owner or client
	From   string // terminal, page, elicitation, file
	Reason string
	// Grant also allows similar actions from now on; nil for this one alone.
	Grant *GrantBounds
}

// GrantBounds limits a grant.
type GrantBounds struct {
	For    time.Duration // 0 for 24 hours; at most 30 days for messages, a year for others
	PerDay int           // 0 for 20
}
