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

// ActionState is a step in the life of an action.
//
//	pending -> approved | denied | expired | cancelled
//	approved -> executing -> done | failed | unknown
//	done -> undone
type ActionState string

const (
	ActionPending   ActionState = "pending"   // waits for a decision
	ActionApproved  ActionState = "approved"  // will be carried out
	ActionExecuting ActionState = "executing" // is being carried out
	ActionDone      ActionState = "done"
	ActionFailed    ActionState = "failed"  // it surely did not happen
	ActionUnknown   ActionState = "unknown" // it may or may not have happened
	ActionDenied    ActionState = "denied"
	ActionExpired   ActionState = "expired" // nobody decided in time, so it was denied
	ActionCancelled ActionState = "cancelled"
	ActionUndone    ActionState = "undone"
)

// Final reports whether the action has ended.
func (s ActionState) Final() bool {
	return s != ActionPending && s != ActionApproved && s != ActionExecuting
}

// An Action is something to do: its resolved arguments, the words that led to
// it and the decision about it. Its arguments never change once it is stored:
// what was approved is what is done.
type Action struct {
	ID        string      `json:"id"` // evt_, msg_ or rem_ and random characters
	Version   int         `json:"-"`  // counts the changes; see [ActionStore.SaveAction]
	Tool      string      `json:"tool"`
	Principal string      `json:"key"` // who asked: "local" or a key's id
	KeyName   string      `json:"keyName,omitempty"`
	Client    string      `json:"client,omitempty"`
	State     ActionState `json:"state"`

	// Exactly one of these is set, by Tool.
	Appointment *Appointment `json:"event,omitempty"`
	Message     *Message     `json:"message,omitempty"`
	Reminder    *Reminder    `json:"reminder,omitempty"`

	// Connector carries the action out. Target is the one calendar or address
	// that it reaches; grants are about targets.
	Connector string `json:"connector"`
	Target    string `json:"target"`
	// Digest is the SHA-256 of tool, connector and resolved arguments. A
	// decision names the digest of what the decider saw.
	Digest string `json:"digest"`
	// IdempotencyKey is the same for calls that mean the same action: the
	// client's own key, or the digest.
	IdempotencyKey string `json:"-"`

	Evidence []Evidence `json:"evidence"`
	Warnings []string   `json:"cautions,omitempty"` // sentences for whoever decides
	// Grantable says that a grant may cover the action: it reaches nobody but the
	// owner, and can be undone unless it is a message.
	Grantable bool `json:"grantable"`
	// Call is the session that had live audio when the action was requested, if
	// any. Such actions are collected until the call has ended.
	Call string `json:"call,omitempty"`

	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt time.Time  `json:"expiresAt"` // then a pending action is denied
	Decision  *Decision  `json:"decision,omitempty"`
	Attempts  int        `json:"attempts,omitempty"`
	RunAt     *time.Time `json:"runAt,omitempty"` // not before; set while a retry waits
	EndedAt   *time.Time `json:"endedAt,omitempty"`
	Receipt   string     `json:"receipt,omitempty"` // the connector's id for it
	Code      Code       `json:"code,omitempty"`    // why it did not succeed; read it with [Action.FailureCode]
	Error     string     `json:"error,omitempty"`   // the code, a colon, a space and a sentence for people
	// PendingAudit is the type of the audit record about the last change, until
	// that record is known to be written.
	PendingAudit string `json:"owed,omitempty"`
}

// SetFailure records why the action has not succeeded.
func (a *Action) SetFailure(code Code, message string) {
	a.Code, a.Error = code, string(code)+": "+message
}

// FailureCode says why the action has not succeeded; empty if nothing failed.
func (a *Action) FailureCode() Code {
	code, _ := splitFailure(a.Code, a.Error)
	return code
}

// FailureMessage is the sentence of the action's error, without its code.
func (a *Action) FailureMessage() string {
	_, message := splitFailure(a.Code, a.Error)
	return message
}

// splitFailure splits the stored form of an error, the code and a sentence.
// Data of earlier versions has no separate code: it is the word in front of the
// error.
func splitFailure(code Code, text string) (Code, string) {
	if code != "" {
		return code, strings.TrimPrefix(text, string(code)+": ")
	}
	word, message, ok := strings.Cut(text, ": ")
	if !ok || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", text
	}
	return Code(word), message
}

// OverAt returns when the action stops being of use: when it ended, or when its
// appointment is over. It is nil for one that has not ended.
func (a *Action) OverAt() *time.Time {
	if a.EndedAt == nil || a.State != ActionDone || a.Appointment == nil {
		return a.EndedAt
	}
	if end := a.Appointment.Start.Add(a.Appointment.Duration); end.After(*a.EndedAt) {
		return &end
	}
	return a.EndedAt
}

// An Appointment holds the arguments of [CalendarCreate].
type Appointment struct {
	Title       string        `json:"title"`
	Start       time.Time     `json:"start"`
	Zone        string        `json:"zone"` // IANA name in which people read Start
	Duration    time.Duration `json:"duration"`
	Description string        `json:"description,omitempty"`
	Location    string        `json:"location,omitempty"`
}

// A Message holds the arguments of [MessageSend].
type Message struct {
	To       string `json:"to"`             // as requested
	Name     string `json:"name,omitempty"` // the contact's name, if it is one
	Address  string `json:"address"`
	Platform string `json:"platform"` // the connector: email, sms, ntfy, webhook
	Text     string `json:"text"`
	// Known says that the address is in the contact book.
	Known bool `json:"known"`
	// Own says that the address is the owner's.
	Own bool `json:"own,omitempty"`
}

// A Reminder holds the arguments of [ReminderCreate].
type Reminder struct {
	At     time.Time `json:"at"`   // the first time
	Zone   string    `json:"zone"` // IANA name; repeats keep its wall clock
	Note   string    `json:"note"`
	Repeat string    `json:"repeat,omitempty"` // an RRULE without DTSTART, checked; empty for once
}

// An Alarm says when a reminder fires next. It exists from the moment its
// action is done until its last time has passed.
type Alarm struct {
	Action  string    `json:"action"` // the reminder's id
	Version int       `json:"-"`
	Next    time.Time `json:"next"` // zero if there is none
	// Firing is the time that is being notified. If it is set after a crash,
	// nobody knows whether the notification arrived.
	Firing *time.Time `json:"firing,omitempty"`
	Fired  *time.Time `json:"fired,omitempty"` // the last time that was notified
	Code   Code       `json:"code,omitempty"`  // why the last one did not reach the owner; empty in older data
	Error  string     `json:"error,omitempty"` // the code, a colon, a space and a sentence
}

// SetFailure records why the owner was not notified; nil clears it.
func (a *Alarm) SetFailure(e *Error) {
	a.Code, a.Error = "", ""
	if e != nil {
		a.Code, a.Error = e.Code, string(e.Code)+": "+e.Message
	}
}

// FailureCode says why the owner was not notified; empty if nothing failed.
func (a *Alarm) FailureCode() Code {
	code, _ := splitFailure(a.Code, a.Error)
	return code
}

// Evidence is what was said about one argument of an action.
type Evidence struct {
	Arg      string  `json:"arg"`    // to, text, title, note, description, location
	Source   Origin  `json:"source"` // M (you), S (the other side), or empty: nobody said it
	Session  string  `json:"session,omitempty"`
	Segment  string  `json:"segment,omitempty"`
	Line     int     `json:"line,omitempty"`
	Start    float64 `json:"start,omitempty"` // seconds on the session's clock
	End      float64 `json:"end,omitempty"`
	At       string  `json:"at,omitempty"` // Start as RFC 3339
	Speaker  *int    `json:"speaker,omitempty"`
	Quote    string  `json:"quote,omitempty"`
	Coverage float64 `json:"cover"` // the share of the argument's words that was said
	Echo     bool    `json:"echo,omitempty"`
	// Overlap says that the other side may have been speaking at the same time,
	// so that these may be its words although the microphone picked them up.
	Overlap bool `json:"overlap,omitempty"`
	// Claimed says that the agent cited these words and they were found.
	Claimed bool `json:"claimed,omitempty"`
	// Deleted says that the words were deleted. Then only Arg, Source, Echo and
	// Overlap are left.
	Deleted bool `json:"deleted,omitempty"`
}

// A Decision is a yes or no to an action.
type Decision struct {
	Allow  bool      `json:"allow"`
	By     string    `json:"by"`   // owner, client, grant, policy
	From   string    `json:"from"` // where it was made: terminal, page, elicitation, file, grant, policy
	Grant  string    `json:"grant,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// A Grant is a bounded "confirm once": a key may use a tool on a target, so
// many times a day, until a date.
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

// A Contact is a person in the owner's contact book.
type Contact struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Emails  []string `json:"emails,omitempty"`
	Phones  []string `json:"phones,omitempty"` // E.164
	Prefer  string   `json:"prefer,omitempty"` // email or sms
	Me      bool     `json:"me,omitempty"`     // the owner
}

// Result says how an attempt to carry out an action went.
type Result string

const (
	ResultOK        Result = "ok"
	ResultTemporary Result = "temporary" // it surely did not happen, but may succeed later
	ResultPermanent Result = "permanent" // it surely did not happen and never will
	ResultUnknown   Result = "unknown"   // it may have happened
)

// An Outcome is the end of one attempt.
type Outcome struct {
	Result  Result
	Receipt string        // the connector's id for it
	After   time.Duration // for [ResultTemporary]: how long the connector asked to wait
	// Message says in a sentence what went wrong. It contains no secrets, and
	// of a server's answer only what cannot mislead.
	Message string
}

// A Connector carries out actions, such as a calendar or a mail server. Its
// methods may be called concurrently.
type Connector interface {
	// Name identifies it in actions and settings: builtin, caldav, email.
	Name() string
	// Repeatable says that carrying an action out twice has no second effect,
	// so that it may be retried after a crash.
	Repeatable() bool
	// Do carries out an action. The caller has recorded the attempt before.
	Do(ctx context.Context, a *Action) Outcome
}

// A SingleTarget is a connector that reaches one address only, such as the
// owner's ntfy topic. Messages through it need no recipient.
type SingleTarget interface {
	Target() string
	// Own reports whether only the owner reads what is sent there.
	Own() bool
}

// A MessageChecker is a connector that can say why it could not send a message,
// before anybody is asked to approve it.
type MessageChecker interface {
	Accepts(m *Message) error
}

// An Undoer is a connector whose effects can be undone.
type Undoer interface {
	Undo(ctx context.Context, a *Action) Outcome
}

// An ActionStore stores actions, grants, alarms and contacts. Its methods may
// be called concurrently. What is written is on disk when they return.
type ActionStore interface {
	// SaveAction writes an action if the stored one has the same Version (0
	// means that there is none) and increments Version. Otherwise it writes
	// nothing and returns false.
	SaveAction(ctx context.Context, a *Action) (bool, error)
	// Action returns one action, or [NotFound].
	Action(ctx context.Context, id string) (*Action, error)
	// Actions lists actions, newest first.
	Actions(ctx context.Context, f ActionFilter) ([]Action, error)
	// ForgetActions removes final actions that were over before a time, so that
	// no byte of their text is left, and returns how many. Reminders with a next
	// alarm stay.
	ForgetActions(ctx context.Context, before time.Time) (int, error)
	// ForgetInActions calls change with every action whose evidence is from a
	// session, and with every action if session is empty. It saves those for
	// which change returns true, increments their Version, and leaves no byte of
	// what change removed. It returns how many it saved. A change by somebody
	// else at the same time is not lost. As change may be called more than once
	// for an action, and with others that mention the session, it must check
	// what it changes, not do anything else, and not use the store.
	ForgetInActions(ctx context.Context, session string, change func(a *Action) bool) (int, error)

	// SaveGrant writes a grant, new or changed.
	SaveGrant(ctx context.Context, g *Grant) error
	// Grants lists all grants, oldest first, revoked ones included.
	Grants(ctx context.Context) ([]Grant, error)

	// SaveAlarm works like SaveAction.
	SaveAlarm(ctx context.Context, a *Alarm) (bool, error)
	// Alarms lists the alarms with a Next before the given time or with a
	// Firing, earliest first; a zero time lists all.
	Alarms(ctx context.Context, before time.Time) ([]Alarm, error)

	// SaveContact writes a contact, new or changed; DeleteContact removes one.
	SaveContact(ctx context.Context, c *Contact) error
	DeleteContact(ctx context.Context, id string) error
	// Contacts lists all contacts by name.
	Contacts(ctx context.Context) ([]Contact, error)
}

// ActionFilter selects actions. The zero value selects all.
type ActionFilter struct {
	States         []ActionState
	Principal      string
	Tool           string
	Target         string
	IdempotencyKey string
	Grant          string    // the grant of its decision
	PendingAudit   bool      // only those whose audit record may be missing
	Since          time.Time // created at or after
	Limit          int       // 0 for no limit
}

// actionPrefixes are the prefixes of action ids.
var actionPrefixes = map[string]string{CalendarCreate: "evt_", MessageSend: "msg_", ReminderCreate: "rem_"}

// NewActionID returns a new id for an action of a tool.
func NewActionID(tool string) string { return actionPrefixes[tool] + strings.ToLower(rand.Text()[:16]) }

// ValidActionID reports whether id has the form of an action's id.
func ValidActionID(id string) bool {
	for _, prefix := range actionPrefixes {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			return len(rest) == 16 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
		}
	}
	return false
}
