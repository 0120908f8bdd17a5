package act_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A world is a queue with fakes of everything around it.
type world struct {
	*testing.T
	queue        *act.Queue
	store        hearken.Store
	audit        *auditLog
	cfg          act.Config
	exposed      act.ExposureConfig
	calendar     *recorder
	mail         *recorder
	topic        *recorder // messages to the owner
	hook         *recorder // messages to another program
	clock        *recorder // reminders
	conversation *conversation
	calls        *calls
	notices      noticeLog
}

// run runs a test on synctest's clock.
func run(t *testing.T, test func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		w := &world{
			T: t, store: storetest.NewMemory(), audit: &auditLog{}, conversation: &conversation{}, calls: newCalls(),
			calendar: &recorder{name: "builtin", repeatable: true}, clock: &recorder{name: "builtin", repeatable: true},
			mail: &recorder{name: "email"}, topic: &recorder{name: "ntfy"}, hook: &recorder{name: "webhook"},
		}
		w.exposed = act.ExposureConfig{Store: w.store, LastAudio: w.calls.LastAudio}
		w.cfg = act.Config{
			Dir: dir, Store: w.store, Audit: w.audit, Zone: berlin, Transcripts: w.conversation, Calls: w.calls, OnNotice: w.notices.add,
			Calendars: []hearken.Connector{undoable{w.calendar}}, Reminders: []hearken.Connector{undoable{w.clock}},
			Messengers: []hearken.Connector{w.mail, single{w.topic, "ntfy.example/ada", true}, single{w.hook, "hooks.example", false}},
		}
		w.contact(hearken.Contact{ID: "bob", Name: "Bob Novak", Emails: []string{"bob@example.org"}})
		w.contact(hearken.Contact{ID: "ada", Name: "Ada Lovelace", Emails: []string{"ada@example.org"}, Me: true})
		w.open()
		defer func() { w.close() }()
		test(w)
	})
}

func (w *world) contact(c hearken.Contact) {
	w.Helper()
	if err := w.store.SaveContact(w.Context(), &c); err != nil {
		w.Fatal(err)
	}
}

// open starts a hub on what is stored.
func (w *world) open() {
	w.Helper()
	var err error
	if w.cfg.Exposure, err = act.OpenExposure(w.Context(), w.exposed); err != nil {
		w.Fatal(err)
	}
	if w.queue, err = act.Open(w.Context(), w.cfg); err != nil {
		w.Fatal(err)
	}
}

func (w *world) close() {
	w.Helper()
	if err := w.queue.Close(context.Background()); err != nil {
		w.Error(err)
	}
}

// message asks for a message to Bob.
func (w *world) message(text string) act.Request {
	return act.Request{Principal: act.Local, Tool: hearken.MessageSend, Message: &act.MessageArgs{To: "Bob", Text: text}}
}

// event asks for an appointment in a day.
func (w *world) event(title string) act.Request {
	return act.Request{Principal: act.Local, Tool: hearken.CalendarCreate, Calendar: &act.CalendarArgs{
		Title: title, Start: time.Now().Add(24 * time.Hour).Format(time.RFC3339), Minutes: 30,
	}}
}

// reminder asks for a reminder.
func (w *world) reminder(note string, in time.Duration) act.Request {
	return act.Request{Principal: act.Local, Tool: hearken.ReminderCreate, Reminder: &act.ReminderArgs{
		Note: note, Time: time.Now().Add(in).Format(time.RFC3339),
	}}
}

// write asks for a message to somebody.
func (w *world) write(to, text string) act.Request {
	return act.Request{Principal: act.Local, Tool: hearken.MessageSend, Message: &act.MessageArgs{To: to, Text: text}}
}

func (w *world) propose(req act.Request) *hearken.Action {
	w.Helper()
	a, err := w.queue.Propose(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// approve approves as the owner.
func (w *world) approve(a *hearken.Action) *hearken.Action {
	w.Helper()
	_, won, err := w.queue.Decide(w.Context(), act.DecisionRequest{ID: a.ID, Digest: a.Digest, Allow: true, By: "owner", From: "terminal"})
	if err != nil || !won {
		w.Fatalf("approve: %v, %v", won, err)
	}
	return w.await(a)
}

func (w *world) await(a *hearken.Action) *hearken.Action {
	w.Helper()
	got, err := w.queue.Await(w.Context(), a.ID, time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	synctest.Wait() // its end is written down right after
	return got
}

// action reads an action as it is now.
func (w *world) action(id string) *hearken.Action {
	w.Helper()
	a, err := w.queue.Action(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// sleep lets time pass and everything due happen.
func (w *world) sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// recorder is a connector that records what was done.
type recorder struct {
	name       string
	repeatable bool

	mu       sync.Mutex
	outcomes []hearken.Outcome // of the next attempts; then all are ok
	done     []string
	undone   []string
	hook     func(*hearken.Action)
}

func (r *recorder) Name() string     { return r.name }
func (r *recorder) Repeatable() bool { return r.repeatable }

func (r *recorder) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hook != nil {
		r.hook(a)
	}
	r.done = append(r.done, a.ID)
	if len(r.outcomes) > 0 {
		out := r.outcomes[0]
		r.outcomes = r.outcomes[1:]
		return out
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: "receipt of " + a.ID}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.done)
}

// undoable is a recorder that can undo.
type undoable struct{ *recorder }

func (u undoable) Undo(_ context.Context, a *hearken.Action) hearken.Outcome {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.undone = append(u.undone, a.ID)
	return hearken.Outcome{Result: hearken.ResultOK}
}

// single is a recorder of messages to one target.
type single struct {
	*recorder
	target string
	own    bool
}

func (s single) Target() string { return s.target }
func (s single) Own() bool      { return s.own }

// noticeLog keeps what the owner was told.
type noticeLog struct {
	mu  sync.Mutex
	all []act.Notice
}

func (l *noticeLog) add(n act.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, n)
}

// take returns the notices since the last call.
func (l *noticeLog) take() []act.Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// auditLog is an audit in memory.
type auditLog struct {
	mu      sync.Mutex
	records []hearken.AuditRecord
	full    bool
}

var errFull = errors.New("no space left on device")

func (l *auditLog) Append(_ context.Context, r hearken.AuditRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return errFull
	}
	l.records = append(l.records, r)
	return nil
}

func (l *auditLog) setFull(full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = full
}

// all lists the records.
func (l *auditLog) all() []hearken.AuditRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// of lists the types of an action's records.
func (l *auditLog) of(id string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, r := range l.records {
		if r.Action == id {
			out = append(out, r.Type)
		}
	}
	return out
}

// conversation is one active capture.
type conversation struct {
	mu       sync.Mutex
	segments []hearken.Segment
}

const conversationID = "0198c0de-0000-7000-8000-000000000001"

// say puts words into the transcript, as said just now.
func (w *world) say(side hearken.Origin, text string) {
	w.conversation.mu.Lock()
	defer w.conversation.mu.Unlock()
	n := len(w.conversation.segments) + 1
	start := float64(10 * n)
	w.conversation.segments = append(w.conversation.segments, hearken.Segment{
		ID: string(side) + "-" + text[:min(len(text), 8)], Line: n, Origin: side, Status: hearken.Confirmed, Text: text,
		StartTime: start, EndTime: start + 3, IsFinal: true, Timestamp: conversationStart().Add(time.Duration(start) * time.Second),
	})
}

func conversationStart() time.Time { return time.Now().Add(-5 * time.Minute) }

func (c *conversation) Sessions(context.Context, hearken.SessionFilter) ([]hearken.Session, error) {
	return []hearken.Session{{
		ID: conversationID, Status: hearken.Active, StartedAt: conversationStart(), Principal: "local",
		Config: hearken.SessionConfig{Capture: true},
	}}, nil
}

func (c *conversation) Segments(_ context.Context, _ string, _ bool, yield func([]hearken.Segment) error) error {
	c.mu.Lock()
	all := slices.Clone(c.segments)
	c.mu.Unlock()
	return yield(all)
}

// mortal is a store of exposures that takes nothing more once its hub is dead.
type mortal struct {
	act.ExposureStore
	dead atomic.Bool
}

func (m *mortal) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	if m.dead.Load() {
		return errors.New("the hub is dead")
	}
	return m.ExposureStore.SaveExposure(ctx, principal, at)
}
