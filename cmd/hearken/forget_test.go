//go:build !windows

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A quoteTest is a data directory with a session, and with actions in several
// states that quote it.
type quoteTest struct {
	*testing.T
	cfg     *Config
	app     *App
	session string
}

// secretWord is said, and in no action's own text.
const secretWord = "xylophone"

func newQuoteTest(t *testing.T, backend string) *quoteTest {
	t.Helper()
	q := &quoteTest{T: t, cfg: testConfig(t)}
	q.cfg.StorageBackend = backend
	if backend == "json" {
		q.cfg.DatabaseURL = filepath.Join(q.cfg.DataDir, "hearken.json.d")
	}
	q.open(Options{})
	q.say()
	for i, state := range []hearken.ActionState{hearken.ActionPending, hearken.ActionDenied, hearken.ActionDone} {
		q.request(fmt.Sprintf("Lunch %d with Ada", i), state)
	}
	if left := q.find(secretWord); len(left) == 0 {
		t.Fatal("the scan finds nothing")
	}
	return q
}

// open opens a hub, and closes the one before.
func (q *quoteTest) open(opts Options) {
	q.Helper()
	q.close()
	opts.PINRounds, opts.Providers = 1000, []hearken.Provider{stttest.Every("local", 1)}
	app, err := Open(q.Context(), q.cfg, opts)
	if err != nil {
		q.Fatal(err)
	}
	q.app = app
	q.Cleanup(func() {
		if q.app == app {
			q.close()
		}
	})
}

func (q *quoteTest) close() {
	q.Helper()
	if q.app == nil {
		return
	}
	if err := q.app.closeInTime(); err != nil {
		q.Errorf("close: %v", err)
	}
	q.app = nil
}

// say stores a session that has just ended.
func (q *quoteTest) say() {
	q.Helper()
	now := time.Now().UTC()
	s := &hearken.Session{
		ID: "0198c0de-0000-7000-8000-000000000001", Status: hearken.Stopped, StartedAt: now.Add(-time.Minute), StoppedAt: &now, Duration: 60,
		SegmentCount: 1, Epoch: 1, Config: hearken.SessionConfig{Capture: true},
	}
	said := hearken.Segment{
		ID: "M1-1", Line: 1, Origin: hearken.Microphone, Status: hearken.Confirmed, IsFinal: true, StartTime: 40, EndTime: 50,
		Text: "a " + secretWord + " for lunch 0 lunch 1 lunch 2 with Ada", Timestamp: s.StartedAt.Add(40 * time.Second),
	}
	if err := q.app.hub.Save(q.Context(), s, []hearken.Segment{said}); err != nil {
		q.Fatal(err)
	}
	q.session = s.ID
}

// request requests an appointment and brings it into a state.
func (q *quoteTest) request(title string, state hearken.ActionState) {
	q.Helper()
	a, err := q.app.queue.Propose(q.Context(), act.Request{
		Principal: act.Local, Tool: hearken.CalendarCreate,
		Calendar: &act.CalendarArgs{Title: title, Start: time.Now().Add(48 * time.Hour).Format(time.RFC3339), Minutes: 30},
	})
	if err != nil {
		q.Fatal(err)
	}
	if !strings.Contains(a.Evidence[0].Quote, secretWord) {
		q.Fatalf("the action quotes %+v", a.Evidence)
	}
	if state == hearken.ActionPending {
		return
	}
	_, _, err = q.app.queue.Decide(q.Context(), act.DecisionRequest{
		ID: a.ID, Digest: a.Digest, Allow: state == hearken.ActionDone, By: "owner", From: "terminal",
	})
	if err == nil {
		a, err = q.app.queue.Await(q.Context(), a.ID, 10*time.Second)
	}
	if err != nil || a.State != state {
		q.Fatalf("%s, %v", a.State, err)
	}
}

// find returns the files that contain a text.
func (q *quoteTest) find(text string) (files []string) {
	q.Helper()
	for _, dir := range []string{q.cfg.DataDir, q.cfg.KeyDir} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) { // a temporary file
				return nil
			}
			if bytes.Contains(bytes.ToLower(data), []byte(text)) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			q.Fatal(err)
		}
	}
	return files
}

// wantForgotten checks that no byte of the words is left and that the actions
// are otherwise as they were.
func (q *quoteTest) wantForgotten() {
	q.Helper()
	if left := q.find(secretWord); len(left) > 0 {
		q.Errorf("still in %v", left)
	}
	all, err := q.app.store.Actions(q.Context(), hearken.ActionFilter{})
	if err != nil || len(all) != 3 {
		q.Fatalf("%d actions, %v", len(all), err)
	}
	var states []hearken.ActionState
	for i, a := range all {
		states = append(states, a.State)
		if want := fmt.Sprintf("Lunch %d with Ada", 2-i); a.Appointment.Title != want {
			q.Errorf("%s has the title %s, want %s", a.ID, a.Appointment.Title, want)
		}
		if want := (hearken.Evidence{Arg: "title", Source: hearken.Microphone, Deleted: true}); a.Evidence[0] != want {
			q.Errorf("%s has the evidence %+v", a.ID, a.Evidence[0])
		}
	}
	if want := []hearken.ActionState{hearken.ActionDone, hearken.ActionDenied, hearken.ActionPending}; !slices.Equal(states, want) {
		q.Errorf("the states are %v", states)
	}
}

// Quotes go with their session, whoever deletes it.
func TestDelete_Quotes(t *testing.T) {
	for _, backend := range []string{"sqlite", "json"} {
		for _, tt := range []struct {
			name    string
			prepare func(q *quoteTest)
		}{
			{"Hub", func(*quoteTest) {}},
			{"Command", func(q *quoteTest) {
				q.open(Options{Brief: true})
				if q.app.queue != nil {
					q.Fatal("a command has a queue")
				}
			}},
			{"OtherOwner", func(q *quoteTest) {
				other := &hearken.StoreOwner{DataDir: "OTHER /elsewhere", PIN: []byte{1}, SavedAt: time.Now()}
				if err := q.app.store.SaveOwner(q.Context(), other); err != nil {
					q.Fatal(err)
				}
				q.open(Options{})
				if q.app.actionsErr == nil {
					q.Fatal("the hub acts for another owner")
				}
			}},
		} {
			t.Run(backend+"/"+tt.name, func(t *testing.T) {
				q := newQuoteTest(t, backend)
				tt.prepare(q)
				if err := q.app.hub.Delete(t.Context(), q.session); err != nil {
					t.Fatal(err)
				}
				q.wantForgotten()
			})
		}
	}
}

func TestForget_Quotes(t *testing.T) {
	for _, backend := range []string{"sqlite", "json"} {
		t.Run(backend, func(t *testing.T) {
			q := newQuoteTest(t, backend)
			if n, err := q.app.hub.Forget(t.Context(), q.session, 10*time.Second); n != 0 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			if len(q.find(secretWord)) == 0 {
				t.Fatal("too much was forgotten")
			}
			if n, err := q.app.hub.Forget(t.Context(), q.session, 11*time.Second); n != 1 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			q.wantForgotten()
		})
	}
}

// A session that was deleted without its quotes, by a hub that ended in the
// middle or by an earlier version, leaves none after the next start.
func TestOpen_SweepsQuotes(t *testing.T) {
	for _, brief := range []bool{false, true} {
		t.Run(fmt.Sprintf("Brief=%t", brief), func(t *testing.T) {
			q := newQuoteTest(t, "sqlite")
			if err := q.app.store.Delete(t.Context(), q.session); err != nil {
				t.Fatal(err)
			}
			q.open(Options{Brief: brief})
			if brief {
				if err := q.app.ensureActions(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else if !eventually(func() bool { return len(q.find(secretWord)) == 0 }) {
				t.Error("the quotes are not swept")
			}
			q.wantForgotten()
		})
	}
}
