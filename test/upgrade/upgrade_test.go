package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/act"
	"github.com/hearken-dev/hearken/test/hubtest"
)

func TestMain(m *testing.M) { hubtest.Main(m) }

// TestOldData opens what each earlier version wrote to each kind of store,
// finds everything, and continues with it.
func TestOldData(t *testing.T) {
	server, err := StartPostgres(filepath.Join("..", ".."))
	switch {
	case err == nil:
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	case !errors.Is(err, ErrNoPostgres):
		t.Fatal(err)
	}
	versions, err := filepath.Glob(filepath.Join("testdata", "*", "sqlite"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("there is no fixture: %v", err)
	}
	for _, path := range versions {
		version := filepath.Dir(path)
		for store, backend := range Stores {
			t.Run(filepath.Base(version)+"/"+store, func(t *testing.T) {
				t.Parallel()
				f := Fixture(filepath.Join(version, store))
				env := []string{"STORAGE_BACKEND=" + backend}
				if backend == "postgres" {
					if server == nil {
						t.Skip(ErrNoPostgres)
					}
					env = append(env, "DATABASE_URL="+restore(t, server, f))
				}
				testFixture(t, f, env)
			})
		}
	}
}

// restore makes a database of a fixture's dump.
func restore(t *testing.T, server *Postgres, f Fixture) (address string) {
	t.Helper()
	address, drop, err := server.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	if err := Restore(t.Context(), address, f.Dump()); err != nil {
		t.Fatal(err)
	}
	return address
}

func testFixture(t *testing.T, f Fixture, env []string) {
	d := openCopy(t, f, env)
	d.checkAudit(t)
	d.start(t)
	d.checkSender(t)
	d.checkFacts(t)
	d.checkReminder(t)
	d.checkKeys(t)

	// A second start finds the same.
	d.hub.Stop()
	d.start(t)
	d.checkFacts(t)

	d.checkPaused(t)
	d.checkAppends(t)
	d.hub.Stop()
	d.checkAudit(t)
}

// A directory is a copy of a fixture, and the program that opens it.
type directory struct {
	hubtest.Program
	fixture    Fixture
	expected   *Expected
	data       string
	pin, wrong string // files with the right PIN and a wrong one
	hub        *hubtest.Hub
	reminders  chan string // that the owner got
	records    int         // of the audit, when it was last verified
	audit      string      // the records themselves
}

// openCopy copies a fixture.
func openCopy(t *testing.T, f Fixture, env []string) *directory {
	t.Helper()
	expected, err := f.Expected()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	d := &directory{
		fixture: f, expected: expected, data: filepath.Join(home, "data"), reminders: make(chan string, 100),
		pin: filepath.Join(home, "pin"), wrong: filepath.Join(home, "wrong"),
	}
	err = errors.Join(CopyData(f.Data(), d.data), os.WriteFile(d.pin, []byte(PIN), 0o600), os.WriteFile(d.wrong, []byte("161803"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	hook, err := act.OpenWebhook(func(_, text string) { d.reminders <- text })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hook.Close)
	d.Bin = hubtest.Binary(t)
	d.Env = append(append(hook.Env(),
		"PATH="+os.Getenv("PATH"), "HOME="+home, "XDG_RUNTIME_DIR="+home, "HEARKEN_DATA_DIR="+d.data, "TZ=UTC", "TIMEZONE="+Zone,
		"ACTION_DAYS=0",                                                     // or old actions would be removed
		"TRANSCRIPTION_PROVIDER=null", "DEEPGRAM_BASE_URL=ws://127.0.0.1:1", // nothing is sent anywhere
		"SMTP_HOST=localhost", "SMTP_PORT=1", "SMTP_FROM=Ada <ada@hub.example>",
	), env...)
	return d
}

// start starts a hub, and waits until it has dealt with what is overdue.
func (d *directory) start(t *testing.T) {
	t.Helper()
	if d.hub == nil {
		d.hub = hubtest.Open(t, d.data, d.Env...)
		d.URL = d.hub.URL
	} else {
		d.hub.Run()
	}
	hubtest.WaitUntil(t, 20*time.Second, "nothing waits for the owner", func() bool { return len(d.pending(t)) == 0 })
}

// checkFacts checks that the program shows all that the earlier version showed.
func (d *directory) checkFacts(t *testing.T) {
	t.Helper()
	want := d.expected
	var queries []string
	for _, s := range want.Facts.Searches {
		queries = append(queries, s.Query)
	}
	facts, err := Read(t.Context(), &d.Program, want.Key, queries)
	if err != nil {
		t.Fatal(err)
	}
	reportMissing(t, "facts", want.Facts, facts)
	for _, s := range facts.Searches {
		if s.Query == want.Forgotten && len(s.Hits) > 0 {
			t.Errorf("%q was forgotten and is found: %v", s.Query, s.Hits)
		}
	}
	path, _, err := Calendar(t.Context(), &d.Program)
	if err != nil || path != want.CalendarPath {
		t.Errorf("the calendar is at %q and was at %q, %v", path, want.CalendarPath, err)
	}
	whole, markdown, err := Export(t.Context(), &d.Program, want.Key, want.Exported)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.golden(t, "md"), markdown); diff != "" {
		t.Errorf("export (-old +new):\n%s", diff)
	}
	reportMissing(t, "export", json.RawMessage(d.golden(t, "json")), whole)
}

func (d *directory) golden(t *testing.T, format string) string {
	t.Helper()
	data, err := os.ReadFile(d.fixture.Export(format))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// reportMissing reports what was there and is not.
func reportMissing(t *testing.T, what string, want, got any) {
	t.Helper()
	list, err := Missing(want, got)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		t.Error(what + m)
	}
}

// checkSender checks that the sender of the interrupted session can go on where
// the earlier version had confirmed its audio.
func (d *directory) checkSender(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(d.URL, "http")+d.expected.Sender, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	var frame struct {
		Type            string
		ReceivedSamples int
	}
	if err := wsjson.Read(ctx, conn, &frame); err != nil || frame.Type != "ready" {
		t.Fatalf("the sender gets %+v, %v", frame, err)
	}
	for _, session := range d.expected.Facts.Sessions {
		if session.About["id"] != d.expected.Interrupted {
			continue
		}
		last, _ := session.Segments[len(session.Segments)-1].(map[string]any)
		end, _ := last["endTime"].(float64) // all audio before it is final
		if want := int(end * hearken.SampleRate); want == 0 || frame.ReceivedSamples != want {
			t.Errorf("the sender is to go on at %d, not at %d", frame.ReceivedSamples, want)
		}
	}
}

// checkReminder waits for the daily reminder, whose time has passed since the
// data was written. So the program has read when reminders are due.
func (d *directory) checkReminder(t *testing.T) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case text := <-d.reminders:
			if strings.Contains(text, d.expected.Daily) {
				return
			}
		case <-timeout:
			t.Errorf("the owner was not reminded to %q", d.expected.Daily)
			return
		}
	}
}

// checkKeys checks that a good key opens the door and a revoked one does not.
func (d *directory) checkKeys(t *testing.T) {
	t.Helper()
	if err := d.CallAs(t.Context(), d.expected.Key, "list_sessions", map[string]any{}, nil); err != nil {
		t.Errorf("the key does not work any more: %v", err)
	}
	err := d.CallAs(t.Context(), d.expected.RevokedKey, "list_sessions", map[string]any{}, nil)
	if err == nil || err.Error() != "Invalid API key" {
		t.Errorf("the revoked key: %v", err)
	}
}
