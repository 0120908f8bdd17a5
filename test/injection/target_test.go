package injection

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// A target is the real program with an owner who has a PIN, a grant that the
// owner made for reminders, a key that the agent has, and an appointment that
// waits for approval.
type target struct {
	*hubtest.Server
	home   string
	keys   string // the directory of what verifies the PIN
	ws     string // the address for JSON-RPC over WebSocket
	key    string // the agent's
	grant  string // the owner's
	action *hearken.Action

	pin       string // the owner's; no attack may use it
	calls     sync.WaitGroup
	stopCalls context.CancelFunc
}

// newTarget starts a hub in home and sets it up, as an owner does who then
// leaves.
func newTarget(ctx context.Context, binary, home string) (t *target, err error) {
	t = &target{home: home, pin: "pin " + rand.Text()[:12], stopCalls: func() {}}
	t.Server, err = hubtest.NewServer(binary, filepath.Join(home, "data"),
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "TRANSCRIPTION_PROVIDER=null", "SCRIBE_BACKEND=native",
		"APPROVAL_MINUTES=60", "RATE_LIMIT=100000")
	if err != nil {
		return nil, err
	}
	if t.ws, err = t.ListenWebSocket(); err != nil {
		return nil, err
	}
	t.useKeys(filepath.Join(home, "keys"))
	defer func() {
		if err != nil {
			t.stop()
		}
	}()
	if err := t.Start(ctx); err != nil {
		return t, err
	}
	file := t.writeFile("pin", t.pin+"\n")
	if out, err := t.run(ctx, []string{"OWNER_PIN_FILE=" + file}, "", "pin"); err != nil {
		return t, fmt.Errorf("set PIN: %w: %s", err, out)
	}
	if err := os.Remove(file); err != nil {
		return t, err
	}
	var made struct{ Key string }
	if err := t.control(ctx, map[string]any{"op": "keys.create", "name": "agent", "pin": t.pin}, &made); err != nil {
		return t, fmt.Errorf("make key: %w", err)
	}
	t.key = made.Key
	var grant hearken.Grant
	if err := t.control(ctx, map[string]any{"op": "grants.create", "pin": t.pin, "grant": hearken.Grant{
		Principal: act.Local, Tool: hearken.ReminderCreate, Target: "builtin", PerDay: 1000, ExpiresAt: time.Now().AddDate(0, 6, 0),
	}}, &grant); err != nil {
		return t, fmt.Errorf("make grant: %w", err)
	}
	t.grant = grant.ID
	return t, t.requestAction(ctx)
}

// useKeys has the program keep what verifies the PIN in a directory.
func (t *target) useKeys(dir string) {
	t.keys = dir
	t.Env = append(t.Env, "HEARKEN_KEY_DIR="+dir)
}

// env is the environment of the owner's user for a command. A hub that the
// command starts must not take the target's address.
func (t *target) env(more ...string) []string {
	return slices.Concat(t.Env, []string{"PORT=0", "WS_LISTEN=127.0.0.1:0"}, more)
}

// stop ends everything.
func (t *target) stop() {
	t.stopCalls()
	t.Kill()
	t.calls.Wait()
}

// requestAction has the agent ask for what it will try to approve. The action
// waits for the owner, since no grant covers it.
func (t *target) requestAction(ctx context.Context) error {
	t.stopCalls()
	var calling context.Context
	calling, t.stopCalls = context.WithCancel(context.WithoutCancel(ctx))
	title := "Transfer of the house " + rand.Text()[:6]
	t.calls.Go(func() { // it returns when somebody decides, or much later
		_, _ = t.tool(calling, map[string]any{"name": hearken.CalendarCreate, "arguments": appointment(title)}, nil)
	})
	err := hubtest.Poll(ctx, timeout, 10*time.Millisecond, func() (bool, error) {
		all, err := t.actions(ctx)
		for i := range all {
			if all[i].Appointment != nil && all[i].Appointment.Title == title && all[i].State == hearken.ActionPending {
				t.action = &all[i]
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("the agent's action is not pending: %w", err)
	}
	return nil
}

// actionPending reports whether the action still waits for the owner.
func (t *target) actionPending(ctx context.Context) bool {
	var a hearken.Action
	err := t.control(ctx, map[string]any{"op": "actions.get", "id": t.action.ID}, &a)
	return err == nil && a.State == hearken.ActionPending
}

func appointment(title string) map[string]any {
	return map[string]any{"title": title, "start": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339), "duration_min": 30}
}

// control sends one request over the local socket, as the owner's commands do.
func (t *target) control(ctx context.Context, request, result any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return hubtest.Control(ctx, t.Dir, request, result)
}

func (t *target) actions(ctx context.Context) ([]hearken.Action, error) {
	var all []hearken.Action
	err := t.control(ctx, map[string]any{"op": "actions.list", "actions": hearken.ActionFilter{}}, &all)
	return all, err
}

// tool calls a tool over HTTP with the agent's key.
func (t *target) tool(ctx context.Context, params map[string]any, headers map[string]string) (string, error) {
	header := http.Header{"Authorization": {"Bearer " + t.key}}
	for k, v := range headers {
		header.Set(k, v)
	}
	result, err := hubtest.Post(ctx, http.DefaultClient, t.URL, header, hubtest.RequestWith(1, params))
	return string(result), err
}

// writeFile leaves a file in the owner's home.
func (t *target) writeFile(name, text string) string {
	path := filepath.Join(t.home, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic("injection: " + err.Error()) // the home is a temporary directory of the test
	}
	return path
}

// run runs a command without a terminal, with this on standard input.
func (t *target) run(ctx context.Context, env []string, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.Bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = t.env(env...), t.home, strings.NewReader(stdin)
	detach(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// runInTerminal runs a command in a terminal of its own in which something is
// typed.
func (t *target) runInTerminal(ctx context.Context, env []string, typed string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	line := "'" + strings.Join(append([]string{t.Bin}, args...), "' '") + "'"
	cmd := exec.CommandContext(ctx, "script", "-qec", line, "/dev/null")
	cmd.Env, cmd.Dir, cmd.Stdin = append(t.env(env...), "SHELL=/bin/sh"), t.home, strings.NewReader(typed)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// breaches are what no agent may bring about: approved actions, grants and keys
// that the owner did not make, contacts.
func (t *target) breaches(ctx context.Context) (found []string, err error) {
	all, err := t.actions(ctx)
	var grants []hearken.Grant
	var keys []hearken.Key
	var contacts []hearken.Contact
	err = errors.Join(err,
		t.control(ctx, map[string]any{"op": "grants.list"}, &grants),
		t.control(ctx, map[string]any{"op": "keys.list"}, &keys),
		t.control(ctx, map[string]any{"op": "contacts.list"}, &contacts))
	if err != nil {
		return nil, err
	}
	for i := range all {
		if d := all[i].Decision; d != nil && d.Allow {
			found = append(found, "approved "+all[i].ID+" by "+d.By+" from "+d.From)
		}
	}
	for _, g := range grants {
		if g.ID != t.grant {
			found = append(found, "granted "+g.Tool)
		}
	}
	if len(keys) > 1 {
		found = append(found, fmt.Sprintf("made %d keys", len(keys)-1))
	}
	if len(contacts) > 0 {
		found = append(found, "added contacts")
	}
	slices.Sort(found)
	return found, nil
}

// wrongGuesses is how many wrong PINs in a row the hub has counted.
func (t *target) wrongGuesses() int {
	var state struct{ Wrong int }
	raw, err := os.ReadFile(filepath.Join(t.keys, "owner.json"))
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		return 0
	}
	return state.Wrong
}

// resetLockout has the owner type the PIN, so that the hub evaluates the next
// guess: an attack that is refused only because of earlier ones shows nothing.
func (t *target) resetLockout(ctx context.Context) error {
	if t.wrongGuesses() < 4 {
		return nil
	}
	return t.control(ctx, map[string]any{"op": "actions.resume", "pin": t.pin}, nil)
}
