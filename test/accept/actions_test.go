//go:build accept

package accept

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// acting starts a hub for agents that act. Times are Berlin's, and ws is its
// address for WebSocket.
func acting(t *testing.T, env ...string) (o *owner, ws string) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", hubtest.FreePort(t))
	h := hubtest.Start(t, append([]string{"TRANSCRIPTION_PROVIDER=null", "WS_LISTEN=" + address, "TIMEZONE=Europe/Berlin"}, env...)...)
	return newOwner(t, h), "ws://" + address
}

// mailing are the settings for a mail server.
func (h *mailHost) mailing() []string {
	return []string{
		"SMTP_HOST=localhost", fmt.Sprint("SMTP_PORT=", h.smtp), "SMTP_USER=alice", "SMTP_PASSWORD=" + mailPassword,
		"SMTP_FROM=Alice Nováková <alice@hub.test>", "ACTIONS_CA_FILE=" + h.ca,
	}
}

// importContact puts Bob into the contact book.
func (o *owner) importContact() {
	o.t.Helper()
	card := filepath.Join(o.t.TempDir(), "book.vcf")
	calendarFile(o.t, card, "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bob Ross\r\nN:Ross;Bob;;;\r\nNICKNAME:Bob\r\nEMAIL:bob@hub.test\r\nEND:VCARD\r\n")
	o.run("contacts", "import", card)
}

// nextMonth is a day to come.
func nextMonth() string { return time.Now().AddDate(0, 0, 30).Format(time.DateOnly) }

// TestActions_SDK has the official TypeScript SDK act over every transport while the
// owner decides at the command line.
func TestActions_SDK(t *testing.T) {
	nodejs := node(t)
	post := startMail(t)
	o, _ := acting(t, post.mailing()...)
	o.importContact()
	var acts []*acted
	t.Run("by", func(t *testing.T) {
		var mu sync.Mutex
		for _, transport := range []string{"stdio", "http", "sse", "ws", "stdio2026", "http2026"} {
			t.Run(transport, func(t *testing.T) {
				edition(t, transport)
				t.Parallel() // one call of each waits 45 seconds for nobody
				o := o.in(t)
				env := []string{"DAY=" + nextMonth()}
				if !strings.HasPrefix(transport, "stdio") { // its process is the owner's own
					env = append(env, "KEY="+o.key(transport))
				}
				a := act(t, o, nodejs, transport, env...)
				a.check(t, o, transport)
				mu.Lock()
				acts = append(acts, a)
				mu.Unlock()
			})
		}
	})
	for i := range acts { // each email arrived once
		text := emailText(t, post.read(t, "bob", i+1))
		if !strings.HasPrefix(text, "I'll be late by ") {
			t.Errorf("Bob got %q", text)
		}
	}
	if n := post.emails(t, "bob"); n != len(acts) {
		t.Errorf("%d letters came of %d", n, len(acts))
	}
	if out := o.run("audit", "verify"); !strings.Contains(out, " verified, ") {
		t.Errorf("audit verify: %s", out)
	}
}

// TestActions_Questions: who sits before the client is asked only for keys
// that the owner made for that.
func TestActions_Questions(t *testing.T) {
	nodejs := node(t)
	o, _ := acting(t)
	for _, transport := range []string{"http2026", "http", "ws"} {
		t.Run(transport, func(t *testing.T) {
			edition(t, transport)
			o := o.in(t)
			for _, answer := range []string{"allow", "deny", "decline"} {
				// A name of its own: the same call again would be the same action.
				key := o.key(transport+answer, "--approver", "client")
				a := act(t, o, nodejs, transport, "DAY="+nextMonth(), "KEY="+key, "QUESTIONS="+answer, "APPROVED_BY_CLIENT=yes")
				if len(a.Questions) != 1 || !strings.Contains(a.Questions[0].Message, "Asked by "+transport) {
					t.Errorf("%s: %d questions were asked: %+v", answer, len(a.Questions), a.Questions)
				}
				if answer == "allow" {
					a.ok(t, "asked", "evt_")
				} else {
					a.failed(t, "asked", hearken.ActionWasDenied, false)
				}
			}
			// A plain key's client could show the question, and is not asked.
			a := act(t, o, nodejs, transport, "DAY="+nextMonth(), "KEY="+o.key(transport), "QUESTIONS=allow")
			if len(a.Questions) != 0 {
				t.Errorf("the client was asked %+v", a.Questions)
			}
			a.ok(t, "asked", "evt_")
		})
	}
}

// edition skips the test if the edition of the SDK for a transport is not installed.
func edition(t *testing.T, transport string) {
	t.Helper()
	if strings.HasSuffix(transport, "2026") {
		installed(t, "client", "@modelcontextprotocol", "client", "package.json")
	} else {
		installed(t, "sdk", "@modelcontextprotocol", "sdk", "package.json")
	}
}

// acted is what an agent that acts saw.
type acted struct {
	Tools     []string
	Answers   map[string]answered
	Questions []struct{ Message string }
	Progress  []string
	Left      *struct{ Message string }

	UsedTicket *struct{ Code any }
}

// answered is the result of a call: what the contract has, and the same as MCP
// clients look for it.
type answered struct {
	outcome
	StructuredContent outcome
	Content           []struct{ Text string }
	IsError           bool
}

type outcome struct{ Status, ID, Error string }

// act runs the script, and has the owner do what it says.
func act(t *testing.T, o *owner, nodejs, transport string, env ...string) *acted {
	t.Helper()
	target := []string{o.h.URL}
	if strings.HasPrefix(transport, "stdio") {
		target = []string{hubtest.Binary(t), "--stdio"}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nodejs, append([]string{"actions.mjs", transport}, target...)...)
	var out, errs bytes.Buffer
	cmd.Env = append(append(slices.Clone(o.h.Env), "CLIENTS="+os.Getenv("HEARKEN_ACCEPT_CLIENTS")), env...)
	cmd.Stdout, cmd.WaitDelay = &out, 5*time.Second
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		switch verb, words, _ := strings.Cut(lines.Text(), " "); verb {
		case "approve", "deny":
			o.decide(verb, words)
		default:
			errs.WriteString(lines.Text() + "\n")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	var a acted
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v in %s%s", err, &errs, &out)
	}
	return &a
}

// ok is what an action that was done answers.
func (a *acted) ok(t *testing.T, as, prefix string) string {
	t.Helper()
	r := a.whole(t, as)
	if r.Status != "ok" || !strings.HasPrefix(r.ID, prefix) || r.Error != "" || r.IsError {
		t.Errorf("%s: %+v", as, r)
	}
	return r.ID
}

// failed is what one that was not done answers.
func (a *acted) failed(t *testing.T, as string, code hearken.Code, isError bool) {
	t.Helper()
	if r := a.whole(t, as); r.Status != "error" || !strings.HasPrefix(r.Error, string(code)+": ") || r.IsError != isError {
		t.Errorf("%s: %+v, want %s", as, r, code)
	}
}

// whole is an answer that says the same three times.
func (a *acted) whole(t *testing.T, as string) answered {
	t.Helper()
	r, there := a.Answers[as]
	var text outcome
	if !there || len(r.Content) != 1 || json.Unmarshal([]byte(r.Content[0].Text), &text) != nil || text != r.outcome || r.StructuredContent != r.outcome {
		t.Errorf("%s: %+v", as, r)
	}
	return r
}

// check compares what the script saw with what it should see.
func (a *acted) check(t *testing.T, o *owner, transport string) {
	t.Helper()
	names := []string{"calendar_create", "message_send", "reminder_create", "action_status", "action_cancel"}
	for _, name := range names {
		if transport == "ws" { // the contract's names on the contract's transport
			name = strings.Replace(name, "_", ".", 1)
		}
		if !slices.Contains(a.Tools, name) {
			t.Errorf("%s is not among the tools %q", name, a.Tools)
		}
	}
	id := a.ok(t, "event", "evt_")
	if same := a.ok(t, "same", "evt_"); same != id {
		t.Errorf("the same call made %s and %s", id, same)
	}
	a.ok(t, "reminder", "rem_")
	a.ok(t, "message", "msg_")
	a.failed(t, "denied", hearken.ActionWasDenied, false)
	a.failed(t, "stranger", hearken.UnknownRecipient, true)
	a.failed(t, "past", hearken.TimeInPast, true)
	if status := a.ok(t, "status", "evt_"); status != id {
		t.Errorf("the status of %s is that of %s", id, status)
	}
	a.ok(t, "undone", id)
	a.failed(t, "after", hearken.ActionWasCancelled, false)

	a.failed(t, "unattended", hearken.ApprovalPending, false)
	a.failed(t, "waiting", hearken.ApprovalPending, false)
	a.ok(t, "cancelled", "evt_")
	a.failed(t, "gone", hearken.ActionWasCancelled, false)
	if len(a.Progress) < 5 || !strings.HasPrefix(a.Progress[0], "Waiting for the owner to approve evt_") {
		t.Errorf("while it waited the client was told %q", a.Progress)
	}
	if a.Left == nil {
		t.Error("a call that was given up succeeded")
	}
	want := "cancelled"
	if transport == "http2026" {
		want = "pending"
	}
	if left := o.actions("Left by "+transport, want); len(left) != 1 {
		t.Errorf("the action of a call that was given up is not %s: %+v", want, o.actions("Left by "+transport, ""))
	}
	if transport == "ws" && (a.UsedTicket == nil || a.UsedTicket.Code != 401.0) {
		t.Errorf("a ticket that was used: %+v", a.UsedTicket)
	}
	why := o.run("why", a.Answers["message"].ID)
	for _, words := range []string{"bob@hub.test", "I'll be late by " + transport, "allowed by owner (file)", "Nobody was heard saying"} {
		if !strings.Contains(why, words) {
			t.Errorf("why does not say %q but\n%s", words, why)
		}
	}
}
