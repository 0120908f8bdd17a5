package act_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A world is a desk with what is around it.
type world struct {
	*testing.T
	queue *act.Queue
	store hearken.Store
	audit *auditLog
	cfg   act.Config
	built *recorder // the built-in calendar
	mail  *recorder
	clock *recorder // reminders
	talk  *conversation
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
			T: t, store: storetest.NewMemory(), audit: &auditLog{}, talk: &conversation{},
			built: &recorder{name: "builtin", repeatable: true}, mail: &recorder{name: "email"}, clock: &recorder{name: "builtin", repeatable: true},
		}
		w.cfg = act.Config{
			Dir: dir, Store: w.store, Audit: w.audit, Zone: berlin, Transcripts: w.talk,
			Calendars: []hearken.Connector{w.built}, Messengers: []hearken.Connector{w.mail}, Reminders: []hearken.Connector{w.clock},
		}
		if err := w.store.SaveContact(t.Context(), &hearken.Contact{ID: "bob", Name: "Bob Novak", Emails: []string{"bob@example.org"}}); err != nil {
			t.Fatal(err)
		}
		w.open()
		defer func() { w.close() }()
		test(w)
	})
}

func (w *world) open() {
	w.Helper()
	var err error
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

func (w *world) propose(req act.Request) *hearken.Action {
	w.Helper()
	a, err := w.queue.Propose(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// approve is the owner's yes.
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

// pass lets time go by, and what is due by then be done.
func (w *world) sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// recorder is a connector that keeps what was done.
type recorder struct {
	name       string
	repeatable bool

	mu       sync.Mutex
	outcomes []hearken.Outcome // of the next attempts; then all are ok
	done     []string
	undone   []string
	hook     func(*hearken.Action)
}

func (s *recorder) Name() string     { return s.name }
func (s *recorder) Repeatable() bool { return s.repeatable }

func (s *recorder) Do(_ context.Context, a *hearken.Action) hearken.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook != nil {
		s.hook(a)
	}
	s.done = append(s.done, a.ID)
	if len(s.outcomes) > 0 {
		out := s.outcomes[0]
		s.outcomes = s.outcomes[1:]
		return out
	}
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: "receipt of " + a.ID}
}

func (s *recorder) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done)
}

// undoable is a shelf that takes things back.
type undoable struct{ *recorder }

func (u undoable) Undo(_ context.Context, a *hearken.Action) hearken.Outcome {
	u.undone = append(u.undone, a.ID)
	return hearken.Outcome{Result: hearken.ResultOK}
}

// paper is an audit in memory.
type auditLog struct {
	mu      sync.Mutex
	records []hearken.AuditRecord
	full    bool
}

var errFull = errors.New("no space left on device")

func (p *auditLog) Append(_ context.Context, r hearken.AuditRecord) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full {
		return errFull
	}
	p.records = append(p.records, r)
	return nil
}

func (p *auditLog) setFull(full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full = full
}

// of lists the types of an action's records.
func (p *auditLog) of(id string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, r := range p.records {
		if r.Action == id {
			out = append(out, r.Type)
		}
	}
	return out
}

// talk is one capture that goes on.
type conversation struct {
	mu       sync.Mutex
	segments []hearken.Segment
}

const talkID = "0198c0de-0000-7000-8000-000000000001"

// says puts words into the transcript, as said just now.
func (w *world) say(side hearken.Origin, text string) {
	w.talk.mu.Lock()
	defer w.talk.mu.Unlock()
	n := len(w.talk.segments) + 1
	start := float64(10 * n)
	w.talk.segments = append(w.talk.segments, hearken.Segment{
		ID: string(side) + "-" + text[:min(len(text), 8)], Line: n, Origin: side, Status: hearken.Confirmed, Text: text,
		StartTime: start, EndTime: start + 3, IsFinal: true, Timestamp: talkBegan().Add(time.Duration(start) * time.Second),
	})
}

func talkBegan() time.Time { return time.Now().Add(-5 * time.Minute) }

func (k *conversation) Sessions(context.Context, hearken.SessionFilter) ([]hearken.Session, error) {
	return []hearken.Session{{
		ID: talkID, Status: hearken.Active, StartedAt: talkBegan(), Principal: "local",
		Config: hearken.SessionConfig{Capture: true},
	}}, nil
}

func (k *conversation) Segments(_ context.Context, _ string, _ bool, yield func([]hearken.Segment) error) error {
	k.mu.Lock()
	all := slices.Clone(k.segments)
	k.mu.Unlock()
	return yield(all)
}
