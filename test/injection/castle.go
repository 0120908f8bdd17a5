package injection

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/hearken-dev/hearken/pipe"
)

// A castle is the real program with an owner who has a PIN, a grant that the
// owner made, a key that the agent has, and an action that waits.
type castle struct {
	binary string
	home   string
	dir    string // its data
	keys   string // where what verifies the PIN is kept
	url    string
	ws     string
	key    string // the agent's
	grant  string // the owner's
	victim *hearken.Action

	pin  string // the owner's; no attack may use it
	more []string
	cmd  *exec.Cmd
	logs bytes.Buffer

	calls   sync.WaitGroup
	abandon context.CancelFunc
}

// build starts a hub in home and lets its owner set it up, as a person would
// who then leaves.
func build(ctx context.Context, binary, home string) (c *castle, err error) {
	c = &castle{binary: binary, home: home, dir: filepath.Join(home, "data"), keys: filepath.Join(home, "keys"), pin: "pin " + rand.Text()[:12]}
	defer func() {
		if err != nil {
			c.raze()
		}
	}()
	if err := os.MkdirAll(home, 0o700); err != nil {
		return c, err
	}
	if err := c.open(ctx); err != nil {
		return c, err
	}
	file := filepath.Join(home, "pin")
	if err := os.WriteFile(file, []byte(c.pin+"\n"), 0o600); err != nil {
		return c, err
	}
	if out, err := c.command(ctx, []string{"OWNER_PIN_FILE=" + file}, "", "pin"); err != nil {
		return c, fmt.Errorf("set PIN: %w: %s", err, out)
	}
	if err := os.Remove(file); err != nil {
		return c, err
	}
	var made struct{ Key string }
	if err := c.ask(ctx, map[string]any{"op": "keys.create", "name": "agent", "pin": c.pin}, &made); err != nil {
		return c, fmt.Errorf("make key: %w", err)
	}
	c.key = made.Key
	var grant hearken.Grant
	if err := c.ask(ctx, map[string]any{"op": "grants.create", "pin": c.pin, "grant": hearken.Grant{
		Principal: act.Local, Tool: hearken.CalendarCreate, Target: "builtin", PerDay: 1000, ExpiresAt: time.Now().AddDate(0, 6, 0),
	}}, &grant); err != nil {
		return c, fmt.Errorf("make grant: %w", err)
	}
	c.grant = grant.ID
	return c, c.wish(ctx)
}

// env is the environment of the owner's user.
func (c *castle) env(more ...string) []string {
	return append([]string{
		"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + c.home, "XDG_CONFIG_HOME=" + filepath.Join(c.home, "config"),
		"HEARKEN_DATA_DIR=" + c.dir, "HEARKEN_KEY_DIR=" + c.keys, "PORT=0", "WS_LISTEN=127.0.0.1:0",
		"TRANSCRIPTION_PROVIDER=null", "SCRIBE_BACKEND=native", "LOG_LEVEL=warn", "APPROVAL_MINUTES=60", "RATE_LIMIT=100000",
	}, more...)
}

// open starts the hub and waits until it says where it is.
func (c *castle) open(ctx context.Context) error {
	c.cmd = exec.Command(c.binary, "serve")
	c.cmd.Env, c.cmd.Dir, c.cmd.Stderr = c.env(c.more...), c.home, &c.logs
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(patience, func() { c.cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		for f := range strings.FieldsSeq(lines.Text()) {
			switch {
			case strings.HasPrefix(f, "http://") && strings.HasSuffix(f, "/mcp"):
				c.url = strings.TrimSuffix(f, "/mcp")
			case strings.HasPrefix(f, "ws://") && !strings.Contains(f, "/audio"):
				c.ws = f
			}
		}
		if strings.HasPrefix(lines.Text(), "Next:") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // until it ends
			return ctx.Err()
		}
	}
	err = c.cmd.Wait() // with all that it said
	return errors.Join(fmt.Errorf("the hub did not start: %s", &c.logs), err)
}

// kill ends the hub as any process of its user can.
func (c *castle) kill() {
	if c.cmd == nil || c.cmd.Process == nil || c.cmd.ProcessState != nil {
		return
	}
	c.cmd.Process.Kill()
	_ = c.cmd.Wait() // killed, as it was meant to be
}

// raze ends everything.
func (c *castle) raze() {
	if c.abandon != nil {
		c.abandon()
	}
	c.kill()
	c.calls.Wait()
}

// wish has the agent ask for what it will try to approve: it waits for the
// owner, since nobody said it.
func (c *castle) wish(ctx context.Context) error {
	if c.abandon != nil {
		c.abandon()
	}
	var stay context.Context
	stay, c.abandon = context.WithCancel(context.WithoutCancel(ctx))
	title := "Transfer of the house " + rand.Text()[:6]
	c.calls.Go(func() { // it answers when somebody decides, or much later
		_, _ = c.tool(stay, map[string]any{"name": hearken.CalendarCreate, "arguments": appointment(title)}, nil)
	})
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		all, err := c.actions(ctx)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].Appointment != nil && all[i].Appointment.Title == title && all[i].State == hearken.ActionPending {
				c.victim = &all[i]
				return nil
			}
		}
		if !rest(ctx, 10*time.Millisecond) {
			break
		}
	}
	return errors.New("the agent's action does not wait")
}

// waits reports whether the action still does.
func (c *castle) waits(ctx context.Context) bool {
	var a hearken.Action
	err := c.ask(ctx, map[string]any{"op": "actions.get", "id": c.victim.ID}, &a)
	return err == nil && a.State == hearken.ActionPending
}

func appointment(title string) map[string]any {
	return map[string]any{"title": title, "start": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339), "duration_min": 30}
}

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ask sends one request over the local socket, as the owner's commands do.
func (c *castle) ask(ctx context.Context, request any, result any) error {
	raw, ok := request.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(request); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, _, err := pipe.Dial(ctx, c.dir, pipe.Hello{Want: pipe.WantControl})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(append(raw, '\n')); err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage
		Error  *pipe.WireError
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("hub's answer: %w", err)
	}
	if answer.Error != nil {
		return answer.Error.Err()
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

func (c *castle) actions(ctx context.Context) ([]hearken.Action, error) {
	var all []hearken.Action
	err := c.ask(ctx, map[string]any{"op": "actions.list", "actions": hearken.ActionFilter{}}, &all)
	return all, err
}

// tool calls a tool over HTTP with the agent's key.
func (c *castle) tool(ctx context.Context, params map[string]any, headers map[string]string) (string, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

// command runs the program with no terminal, with something to read.
func (c *castle) command(ctx context.Context, env []string, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = c.env(env...), c.home, strings.NewReader(stdin)
	apart(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// typed runs the program in a terminal of its own, in which something is
// typed.
func (c *castle) typed(ctx context.Context, env []string, keys string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	line := "'" + strings.Join(append([]string{c.binary}, args...), "' '") + "'"
	cmd := exec.CommandContext(ctx, "script", "-qec", line, "/dev/null")
	cmd.Env, cmd.Dir, cmd.Stdin = append(c.env(env...), "SHELL=/bin/sh"), c.home, strings.NewReader(keys)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// breaches are what no agent can do: actions that were allowed, grants and
// keys that approve which nobody made, contacts, another PIN.
func (c *castle) breaches(ctx context.Context) (found []string, err error) {
	all, err := c.actions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if d := all[i].Decision; d != nil && d.Allow {
			found = append(found, "approved "+all[i].ID+" by "+d.By+" from "+d.From)
		}
	}
	var grants []hearken.Grant
	if err := c.ask(ctx, map[string]any{"op": "grants.list"}, &grants); err != nil {
		return nil, err
	}
	for _, g := range grants {
		if g.ID != c.grant {
			found = append(found, "granted "+g.Tool)
		}
	}
	var keys []hearken.Key
	if err := c.ask(ctx, map[string]any{"op": "keys.list"}, &keys); err != nil {
		return nil, err
	}
	if len(keys) > 1 {
		found = append(found, fmt.Sprintf("made %d keys", len(keys)-1))
	}
	var contacts []hearken.Contact
	if err := c.ask(ctx, map[string]any{"op": "contacts.list"}, &contacts); err != nil {
		return nil, err
	}
	if len(contacts) > 0 {
		found = append(found, "added contacts")
	}
	slices.Sort(found)
	return found, nil
}

// wrong is how many wrong PINs in a row the hub has counted.
func (c *castle) wrong() int {
	var state struct{ Wrong int }
	raw, err := os.ReadFile(filepath.Join(c.keys, "owner.json"))
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		return 0
	}
	return state.Wrong
}

// calm has the owner come by and type the PIN, so that the next guess is
// looked at: an attack that is only refused because of others shows nothing.
func (c *castle) calm(ctx context.Context) error {
	if c.wrong() < 4 {
		return nil
	}
	return c.ask(ctx, map[string]any{"op": "actions.resume", "pin": c.pin}, nil)
}
