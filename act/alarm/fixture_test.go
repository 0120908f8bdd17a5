package alarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A fixture holds the store and the audit of a clock under test.
type fixture struct {
	*storetest.Memory
	t    *testing.T
	zero time.Time

	mu         sync.Mutex
	records    []hearken.AuditRecord
	auditFails bool // the audit cannot be written
	storeFails bool // the store neither
}

func newFixture(t *testing.T) *fixture {
	return &fixture{Memory: storetest.NewMemory(), t: t, zero: time.Now()}
}

func (d *fixture) Append(_ context.Context, r hearken.AuditRecord) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.auditFails {
		return errors.New("no space left on device")
	}
	d.records = append(d.records, r)
	return nil
}

func (d *fixture) SaveAlarm(ctx context.Context, a *hearken.Alarm) (bool, error) {
	d.mu.Lock()
	storeFails := d.storeFails
	d.mu.Unlock()
	if storeFails {
		return false, errors.New("disk I/O error")
	}
	return d.Memory.SaveAlarm(ctx, a)
}

func (d *fixture) set(auditFails, storeFails bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.auditFails, d.storeFails = auditFails, storeFails
}

// states are what the audit says of firing.
func (d *fixture) states() (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		list = append(list, r.State)
	}
	return list
}

// reminder stores an action that is approved.
func (d *fixture) reminder(in time.Duration, repeat string) *hearken.Action {
	d.t.Helper()
	a := &hearken.Action{
		ID: hearken.NewActionID(hearken.ReminderCreate), Tool: hearken.ReminderCreate, Principal: "local", State: hearken.ActionExecuting, CreatedAt: d.zero,
		Reminder: &hearken.Reminder{At: d.zero.Add(in), Zone: "UTC", Note: "water the plants", Repeat: repeat},
	}
	if saved, err := d.SaveAction(d.t.Context(), a); err != nil || !saved {
		d.t.Fatal(saved, err)
	}
	return a
}

// alarm is the stored one.
func (d *fixture) alarm(a *hearken.Action) hearken.Alarm {
	d.t.Helper()
	all, err := d.Alarms(d.t.Context(), time.Time{})
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(al hearken.Alarm) bool { return al.Action == a.ID })
	if i < 0 {
		d.t.Fatalf("%s has no alarm", a.ID)
	}
	return all[i]
}

func (d *fixture) open(notifiers ...Notifier) *Clock {
	d.t.Helper()
	return d.openWith(Config{Notifiers: notifiers})
}

func (d *fixture) openWith(cfg Config) *Clock {
	d.t.Helper()
	cfg.Store, cfg.Audit = d, d
	c, err := Open(d.t.Context(), cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func (d *fixture) do(c *Clock, in time.Duration, repeat string) *hearken.Action {
	d.t.Helper()
	a := d.reminder(in, repeat)
	if out := c.Do(d.t.Context(), a); out.Result != hearken.ResultOK || out.Receipt != a.ID {
		d.t.Fatal(out)
	}
	return a
}

// A fakeNotifier records its calls. It returns the given outcomes, and then ok
// after that.
type fakeNotifier struct {
	name    string
	zero    time.Time
	mu      sync.Mutex
	answers []hearken.Outcome
	told    []string // when it was told, and of when
	hang    bool
}

func (s *fakeNotifier) Name() string { return s.name }

func (s *fakeNotifier) Notify(ctx context.Context, n Notice) hearken.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := ""
	if n.Late {
		mark = " late"
	}
	s.told = append(s.told, fmt.Sprintf("%v of %v%s", time.Since(s.zero), n.Due.Sub(s.zero), mark))
	if s.hang {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return hearken.Outcome{Result: hearken.ResultUnknown, Message: "No answer."}
	}
	if len(s.answers) == 0 {
		return hearken.Outcome{Result: hearken.ResultOK}
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer
}

func (d *fixture) notifier(answers ...hearken.Outcome) *fakeNotifier {
	return &fakeNotifier{name: "screen", zero: d.zero, answers: answers}
}

func (s *fakeNotifier) want(t *testing.T, told ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(told, s.told); diff != "" {
		t.Errorf("%s (-want +got)\n%s", s.name, diff)
	}
}

func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var (
	forNow  = hearken.Outcome{Result: hearken.ResultTemporary, Message: "Busy."}
	forEver = hearken.Outcome{Result: hearken.ResultPermanent, Message: "No screen."}
	unknown = hearken.Outcome{Result: hearken.ResultUnknown, Message: "No answer."}
)
