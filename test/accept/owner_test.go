//go:build accept

package accept

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

const ownerPIN = "battery staple"

// An owner is the person whose hub it is, at the command line. The PIN is in a
// file, as for scripts.
type owner struct {
	t   *testing.T
	h   *hubtest.Hub
	env []string
}

func newOwner(t *testing.T, h *hubtest.Hub) *owner {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pin")
	calendarFile(t, file, ownerPIN+"\n")
	o := &owner{t, h, append(slices.Clone(h.Env), "OWNER_PIN_FILE="+file)}
	if out := o.run("pin"); !strings.Contains(out, "The PIN is set") {
		t.Fatalf("pin: %s", out)
	}
	return o
}

// in is the same owner in a part of the test.
func (o *owner) in(t *testing.T) *owner { return &owner{t, o.h, o.env} }

// run runs a command of the owner's, which must succeed.
func (o *owner) run(args ...string) string {
	o.t.Helper()
	return must(o.t, filepath.Dir(o.h.Dir), o.env, hubtest.Binary(o.t), args...)
}

// key makes a key.
func (o *owner) key(name string, args ...string) string {
	o.t.Helper()
	var key struct{ Key string }
	out := o.run(append([]string{"keys", "create", "--name", name, "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &key); err != nil || key.Key == "" {
		o.t.Fatalf("keys create: %v in %s", err, out)
	}
	return key.Key
}

// actions are those with these words, in a state if one is given.
func (o *owner) actions(words, state string) []hearken.Action {
	o.t.Helper()
	args := []string{"actions", "list", "--json"}
	if state != "" {
		args = append(args, "--state", state)
	}
	cmd := exec.CommandContext(o.t.Context(), hubtest.Binary(o.t), args...)
	cmd.Env = o.env
	out, err := cmd.Output()
	var all []hearken.Action
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		o.t.Fatalf("actions list: %v in %s", err, out)
	}
	return slices.DeleteFunc(all, func(a hearken.Action) bool {
		return !(a.Appointment != nil && a.Appointment.Title == words ||
			a.Message != nil && a.Message.Text == words || a.Reminder != nil && a.Reminder.Note == words)
	})
}

// waitPending waits until an action with these words is pending, and returns its id.
func (o *owner) waitPending(words string) string {
	o.t.Helper()
	var found []hearken.Action
	hubtest.WaitUntil(o.t, 30*time.Second, fmt.Sprintf("an agent asks for %q", words), func() bool {
		found = o.actions(words, "pending")
		return len(found) > 0
	})
	return found[0].ID
}

// decide approves or denies the action with these words as soon as it waits.
func (o *owner) decide(verb, words string) {
	o.t.Helper()
	id := o.waitPending(words)
	out := o.run(verb, id)
	want := map[string]string{"approve": id + ": done", "deny": id + ": denied"}[verb]
	if !strings.Contains(spaced(out), spaced(words)) || !strings.Contains(out, want) {
		o.t.Errorf("%s shows %q, want %q", verb, out, want)
	}
}

// spaced is a text without its lines.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
