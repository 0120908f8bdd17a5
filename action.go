package hearken

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// The tools that do something in the world.
const (
	CalendarCreate = "calendar.create"
	MessageSend    = "message.send"
	ReminderCreate = "reminder.create"
)

// ActionState is where an action is in its life.
//
//	pending -> approved | denied | expired | cancelled
//	approved -> executing -> done | failed | unknown
//	done -> undone
type ActionState string

const (
	ActionPending   ActionState = "pending"   // waits for its owner
	ActionApproved  ActionState = "approved"  // will be carried out
	ActionExecuting ActionState = "executing" // is being carried out
	ActionDone      ActionState = "done"
	ActionFailed    ActionState = "failed"  // it surely did not happen
	ActionUnknown   ActionState = "unknown" // nobody can say whether it happened
	ActionDenied    ActionState = "denied"
	ActionExpired   ActionState = "expired" // nobody decided in time, which means no
	ActionCancelled ActionState = "cancelled"
	ActionUndone    ActionState = "undone"
)

// Final reports whether nothing more will happen by itself.
func (s ActionState) Final() bool {
	return s != ActionPending && s != ActionApproved && s != ActionExecuting
}

// An Action is something to be done, with its resolved arguments, the words
// that led to it and the decision about it. Its arguments never change once it
// is stored: what was approved is what is done.
type Action struct {
	ID        string      `json:"id"` // evt_, msg_ or rem_ and random characters
	Version   int         `json:"-"`  // counts the changes; see [ActionStore]
	Tool      string      `json:"tool"`
	Principal string      `json:"key"` // who asked: "local" or a key's id
	KeyName   string      `json:"keyName,omitempty"`
	Client    string      `json:"client,omitempty"`
	State     ActionState `json:"state"`

	// Exactly one of these is set, by Tool.
	Appointment *Appointment `json:"event,omitempty"`
	Message     *Message     `json:"message,omitempty"`
	Reminder    *Reminder    `json:"reminder,omitempty"`

	// Connector is who carries it out, and Target what a grant is about: the
	// one calendar or the one address that is reached.
	Connector string `json:"connector"`
	Target    string `json:"target"`
	// Digest is the SHA-256 of tool, connector and resolved arguments: who
	// decides names the digest of what was seen.
	Digest string `json:"digest"`
	// IdempotencyKey tells calls that mean the same action: a client's own key for it,
	// or the digest.
	IdempotencyKey string `json:"-"`

	Evidence []Evidence `json:"evidence"`
	Warnings []string   `json:"cautions,omitempty"` // sentences for who decides
	// Grantable says that a grant may cover it: every sensitive argument was
	// said on this side.
	Grantable bool `json:"grantable"`

	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt time.Time  `json:"expiresAt"` // a pending action is denied then
	Decision  *Decision  `json:"decision,omitempty"`
	Attempts  int        `json:"attempts,omitempty"`
	RunAt     *time.Time `json:"runAt,omitempty"` // not before; set while a retry waits
	EndedAt   *time.Time `json:"endedAt,omitempty"`
	Receipt   string     `json:"receipt,omitempty"` // the other side's id
	Code      Code       `json:"code,omitempty"`    // why it did not succeed, for programs
	Error     string     `json:"error,omitempty"`   // the code, a colon and a sentence for people
	// PendingAudit is the type of the audit record about the last change, until that
	// is known to be written.
	PendingAudit string `json:"owed,omitempty"`
}

// OverAt is when nobody has a use for an action any more: when it ended, and for
// an appointment when that is over. It is nil for one that has not ended.
func (a *Action) OverAt() *time.Time {
	if a.EndedAt == nil || a.State != ActionDone || a.Appointment == nil {
		return a.EndedAt
	}
	if end := a.Appointment.Start.Add(a.Appointment.Duration); end.After(*a.EndedAt) {
		return &end
	}
	return a.EndedAt
}

// An Appointment is the argument of [CalendarCreate].
type Appointment struct {
	Title       string        `json:"title"`
	Start       time.Time     `json:"start"`
	Zone        string        `json:"zone"` // IANA name in which people read Start
	Duration    time.Duration `json:"duration"`
	Description string        `json:"description,omitempty"`
	Location    string        `json:"location,omitempty"`
}

// A Message is the argument of [MessageSend].
type Message struct {
	To       string `json:"to"`             // as it was asked for
	Name     string `json:"name,omitempty"` // of the contact that it is
	Address  string `json:"address"`
	Platform string `json:"platform"` // the connector: email, sms, ntfy, webhook
	Text     string `json:"text"`
	// Known says that the address stands in the contact book.
	Known bool `json:"known"`
}

// A Reminder is the argument of [ReminderCreate].
type Reminder struct {
	At     time.Time `json:"at"`   // the first time
	Zone   string    `json:"zone"` // IANA name; repeats keep its wall clock
	Note   string    `json:"note"`
	Repeat string    `json:"repeat,omitempty"` // an RRULE without DTSTART, checked; empty for once
}

// An Alarm is when the hub next tells its owner of a reminder. It exists from
// the moment its action is done until its last time has passed.
type Alarm struct {
	Action  string    `json:"action"` // the reminder's id
	Version int       `json:"-"`
	Next    time.Time `json:"next"` // zero if there is none any more
	// Firing is the time that is being told of: whoever finds it set after a
	// crash does not know whether the owner was told.
	Firing *time.Time `json:"firing,omitempty"`
	Fired  *time.Time `json:"fired,omitempty"` // the last time that was told of
	Error  string     `json:"error,omitempty"` // why the last one did not reach the owner
}

// Evidence is what was said about one argument of an action.
type Evidence struct {
	Arg      string  `json:"arg"`    // to, text, title, note, description, location
	Source   Origin  `json:"source"` // M, S, or empty: nobody said it
	Session  string  `json:"session,omitempty"`
	Segment  string  `json:"segment,omitempty"`
	Line     int     `json:"line,omitempty"`
	Start    float64 `json:"start,omitempty"` // seconds on the session's clock
	End      float64 `json:"end,omitempty"`
	At       string  `json:"at,omitempty"` // the same as RFC 3339
	Speaker  *int    `json:"speaker,omitempty"`
	Quote    string  `json:"quote,omitempty"`
	Coverage float64 `json:"cover"` // the part of the argument's words that was said
	Echo     bool    `json:"echo,omitempty"`
	// Claimed says that the agent named these words, and that they are there.
	Claimed bool `json:"claimed,omitempty"`
}

// A Decision is a person's word, or a grant's, about an action.
type Decision struct {
	Allow  bool      `json:"allow"`
	By     string    `json:"by"`   // owner, client, grant, policy
	From   string    `json:"from"` // terminal, page, elicitation, file; where it was made
	Grant  string    `json:"grant,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// A Grant is a bounded "confirm once": this key, this tool, this target, until
// then, so many a day.
type Grant struct {
	ID        string     `json:"id"`
	Principal string     `json:"key"`
	Tool      string     `json:"tool"`
	Target    string     `json:"target"`
	PerDay    int        `json:"perDay"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt time.Time  `json:"expiresAt"`
	From      string     `json:"from"` // the action it was made with, or the command
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
}

// A Contact is somebody in the owner's contact book.
type Contact struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Emails  []string `json:"emails,omitempty"`
	Phones  []string `json:"phones,omitempty"` // E.164
	Prefer  string   `json:"prefer,omitempty"` // email or sms
	Me      bool     `json:"me,omitempty"`     // the owner
}

// Result is how an attempt to carry out an action went.
type Result string

const (
	ResultOK        Result = "ok"
	ResultTemporary Result = "temporary" // it surely did not happen; later it may
	ResultPermanent Result = "permanent" // it surely did not and will not happen
	ResultUnknown   Result = "unknown"   // it may have happened
)

// An Outcome is the end of one attempt.
type Outcome struct {
	Result  Result
	Receipt string        // the other side's id for it
	After   time.Duration // for [ResultTemporary]: what the other side asked to wait
	// Message says what went wrong in a sentence for people. It holds nothing
	// of secrets, and of the other side's words only what cannot mislead.
	Message string
}

// A Connector carries out actions somewhere in the world. Its methods may be
// called concurrently.
type Connector interface {
	// Name is how actions and settings call it: builtin, caldav, email.
	Name() string
	// Repeatable says that doing an action again has no second effect, so that
	// it may be done again after a crash.
	Repeatable() bool
	// Do carries out an action. Whoever calls it has written the attempt down.
	Do(ctx context.Context, a *Action) Outcome
}

// A SingleTarget is a connector that reaches one address only, such as the
// owner's own ntfy topic: messages by it need no recipient.
type SingleTarget interface {
	Target() string
}

// A MessageChecker is a connector that can say, before anybody is asked to
// approve a message, why it could not send it.
type MessageChecker interface {
	Accepts(m *Message) error
}

// An Undoer is a connector whose effects can be taken back.
type Undoer interface {
	Undo(ctx context.Context, a *Action) Outcome
}

// An ActionStore keeps what the hub did and may do. All methods may be called
// concurrently, and what is written is on disk when they return.
type ActionStore interface {
	// SaveAction writes an action if the stored one has its Version, 0 meaning
	// that there is none, and counts the Version up. It returns false and
	// writes nothing if somebody else was first.
	SaveAction(ctx context.Context, a *Action) (bool, error)
	// Action finds one action; [NotFound] if there is none.
	Action(ctx context.Context, id string) (*Action, error)
	// Actions lists actions, newest first.
	Actions(ctx context.Context, f ActionFilter) ([]Action, error)
	// ForgetActions removes final actions that were over before a time, alarms
	// that still have a next time excepted, so that no byte of their text is
	// left, and returns how many.
	ForgetActions(ctx context.Context, before time.Time) (int, error)

	// SaveGrant writes a grant, new or changed.
	SaveGrant(ctx context.Context, g *Grant) error
	// Grants lists all grants, oldest first, revoked ones included.
	Grants(ctx context.Context) ([]Grant, error)

	// SaveAlarm works as SaveAction does.
	SaveAlarm(ctx context.Context, a *Alarm) (bool, error)
	// Alarms lists those with a Next before the given time, or with a Firing,
	// the earliest first; a zero time lists all.
	Alarms(ctx context.Context, before time.Time) ([]Alarm, error)

	// SaveContact writes a contact, new or changed; DeleteContact removes one.
	SaveContact(ctx context.Context, c *Contact) error
	DeleteContact(ctx context.Context, id string) error
	// Contacts lists all, by name.
	Contacts(ctx context.Context) ([]Contact, error)
}

// ActionFilter chooses actions. The zero value is every action.
type ActionFilter struct {
	States         []ActionState
	Principal      string
	Tool           string
	Target         string
	IdempotencyKey string
	Grant          string    // of its decision
	PendingAudit   bool      // only those with an audit record that may be missing
	Since          time.Time // created at or after
	Limit          int       // 0 for no limit
}

// actionPrefixes begin the ids of actions.
var actionPrefixes = map[string]string{CalendarCreate: "evt_", MessageSend: "msg_", ReminderCreate: "rem_"}

// NewActionID makes an id for an action of a tool.
func NewActionID(tool string) string { return actionPrefixes[tool] + strings.ToLower(rand.Text()[:16]) }

// ValidActionID reports whether id has the form of an action's.
func ValidActionID(id string) bool {
	for _, prefix := range actionPrefixes {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			return len(rest) == 16 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
		}
	}
	return false
}
