//go:build !windows

package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// Requests on the local socket that return words of a transcript count as read
// by the local programs.
func TestCanary_Control(t *testing.T) {
	h := newCanaryHub(t)
	h.startCapture()
	if err := h.app.owner.SetPIN("", "482916"); err != nil {
		t.Fatal(err)
	}
	action := h.propose(act.Local)
	denied := &act.DecisionRequest{ID: action.ID, Digest: action.Digest, By: "owner", From: "terminal"}
	if _, _, err := h.app.queue.Decide(t.Context(), *denied); err != nil {
		t.Fatal(err)
	}
	conn, err := h.app.connect(t.Context(), pipe.Hello{Hearken: pipe.Version, Want: pipe.WantControl})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := map[string]bool{}
	ask := func(name string, req controlRequest) {
		answer := h.observe(name, act.Local, func() string {
			got, err := sendControl[json.RawMessage](t.Context(), conn, req)
			return fmt.Sprint(string(got), err)
		})
		read[name] = strings.Contains(answer, canary)
	}
	for _, op := range slices.Sorted(maps.Keys(ownerOps)) {
		ask(op, controlRequest{Op: op, ID: action.ID, PIN: "482916", NewPIN: "482916", Name: "new", Verdict: denied, Actions: &hearken.ActionFilter{}})
	}
	for _, do := range []string{"start", "status", "meter", "sessions", "tail", "cat", "grep", "new", "stop"} {
		ask("scribe "+do, controlRequest{Op: "scribe", Scribe: &scribeCall{
			Do: do, Limit: 10, Tail: &hearken.TailRequest{N: 10}, Cat: &hearken.CatRequest{}, Grep: &hearken.GrepRequest{Pattern: "dentist"},
		}})
	}
	for _, name := range []string{"actions.list", "actions.get", "actions.why", "actions.await", "actions.decide", "scribe tail", "scribe cat", "scribe grep"} {
		if !read[name] {
			t.Errorf("%s does not return the canary, so this test shows nothing of it", name)
		}
	}
}

// canaryCommands are the commands that show what was said.
func canaryCommands(session, action string) [][]string {
	commands := [][]string{
		{"sessions"}, {"sessions", "--json"}, {"show", session}, {"show", session, "--json"}, {"search", "dentist"}, {"search", "dentist", "--json"},
		{"scribe", "tail"}, {"scribe", "cat"}, {"scribe", "grep", "dentist"}, {"why", action}, {"approve"}, {"deny"}, {"actions", "list", "--json"},
	}
	for _, format := range []string{"txt", "json", "srt", "vtt", "md", "toon"} {
		commands = append(commands, []string{"export", "-f", format, session})
	}
	return commands
}

// otherCommands show nothing of what was said, use the same requests as others
// (listen reads like scribe tail), or read only files that are no sessions.
var otherCommands = []string{
	"serve", "transcribe", "listen", "delete", "undo", "grants", "pause", "resume", "pin", "contacts", "audit", "keys", "models", "store", "config", "version",
}

// A new command fails this: whoever adds it says whether it shows what was said.
func TestCanary_AllCommands(t *testing.T) {
	var known []string
	for _, args := range canaryCommands("", "") {
		known = append(known, args[0])
	}
	known = append(known, otherCommands...)
	for field := range reflect.TypeFor[grammar]().Fields() {
		if _, ok := field.Tag.Lookup("cmd"); !ok {
			continue
		}
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
		if !slices.Contains(known, name) {
			t.Errorf("%s is a new command. Add it to canaryCommands, or to otherCommands if it shows nothing of what was said.", name)
		}
	}
}

// command runs a command in this process. It connects to the hub of the data
// directory, or opens one for itself.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var out, log bytes.Buffer
	p := &program{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &log}
	p.override = func(o *Options) {
		o.Providers, o.Capture, o.PINRounds = []hearken.Provider{newCanaryEngine()}, silentCapture, 1000
	}
	if code := p.run(t.Context()); code != 0 {
		t.Errorf("%v: exit %d: %s", args, code, &log)
	}
	return out.String()
}

func TestCanary_Commands(t *testing.T) {
	h := newCanaryHub(t)
	action := h.propose(act.Local)
	for _, args := range canaryCommands(h.session, action.ID) {
		h.check(strings.Join(args, " "), act.Local, true, func() string { return command(t, args...) })
	}
}

// Commands count without a running hub too: the next hub knows.
func TestCanary_CommandsWithoutHub(t *testing.T) {
	cfg := testConfig(t)
	var session, action string
	t.Run("Recorded", func(t *testing.T) { // the hub closes at its end
		h := openCanaryHub(t, cfg)
		session, action = h.session, h.propose(act.Local).ID
	})
	for _, args := range canaryCommands(session, action) {
		db, err := sql.Open("sqlite", cfg.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("DELETE FROM exposure"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		began := time.Now().Truncate(time.Second)
		if out := command(t, args...); !strings.Contains(out, canary) {
			t.Errorf("%v does not show the canary: %q", args, out)
		}
		store, err := sqlite.Open(t.Context(), cfg.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		read, err := store.Exposures(t.Context())
		if err != nil || read[act.Local].Before(began) {
			t.Errorf("%v is not recorded as reading: %v, %v", args, read, err)
		}
		store.Close()
	}
}
