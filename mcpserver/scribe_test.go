package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/stt/stttest"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

func TestScribe_Tools(t *testing.T) {
	h := newTestHubWith(t, local,
		[]stttest.Line{{Start: 0, End: 2, Text: "good morning"}, {Start: 6, End: 8, Text: "the " + secret + ", please"}},
		[]stttest.Line{{Start: 3, End: 5, Text: "hello, what can I do for you"}})
	if o := h.callTOON("pscribe_status", nil); o.Get("running") != false || o.Get("session") != nil {
		t.Errorf("before: %v", o)
	}
	o := h.callTOON("pscribe_start", object{})
	id, _ := o.Get("session").(string)
	notes, _ := o.Get("notes").([]any)
	if o.Get("running") != true || !hearken.ValidID(id) || len(notes) != 3 || !strings.Contains(notes[0].(string), "everybody on the call") {
		t.Fatalf("pscribe_start: %v", o)
	}
	if again := h.callTOON("pscribe_start", nil); again.Get("session") != id {
		t.Errorf("a second start: %v", again)
	}
	h.capture.advance(t, 2.5)
	h.callTOON("pscribe_tail", object{"since_line": 1, "status": "confirmed", "wait_seconds": 45}) // each in its turn
	h.capture.advance(t, 3)
	h.callTOON("pscribe_tail", object{"since_line": 2, "status": "confirmed", "wait_seconds": 45})
	h.capture.advance(t, 4.5)

	// What the specification promises of a row.
	o = h.callTOON("pscribe_tail", object{"since_line": 1, "status": "confirmed", "wait_seconds": 45, "n": 1})
	table := o.Get("transcript").(toon.Table)
	want := []string{"timestamp", "source", "status", "segment", "confidence", "duration", "language", "text"}
	if diff := cmp.Diff(want, table.Columns); diff != "" {
		t.Error(diff)
	}
	first := rows(t, o)[0]
	if _, err := time.Parse(time.RFC3339, first["timestamp"].(string)); err != nil {
		t.Error(err)
	}
	delete(first, "timestamp")
	if diff := cmp.Diff(map[string]any{"source": "M", "status": "C", "segment": 1.0, "confidence": 0.9, "duration": 2.0, "language": "en", "text": "good morning"}, first); diff != "" {
		t.Error(diff)
	}
	if o.Get("session") != id || o[len(o)-1].Key != "next_since_line" || o.Get("next_since_line") != 2.0 {
		t.Errorf("around the rows: %v", o)
	}

	h.callTOON("pscribe_stop", nil)
	o = h.callTOON("pscribe_tail", object{"since_line": 2, "n": 50})
	var heard []string
	for _, r := range rows(t, o) {
		heard = append(heard, fmt.Sprint(r["source"], r["segment"], " ", r["text"]))
	}
	if diff := cmp.Diff([]string{"S2 hello, what can I do for you", "M3 the " + secret + ", please"}, heard); diff != "" || o.Get("next_since_line") != 4.0 {
		t.Errorf("the rest: %s\n%v", diff, o)
	}
	o = h.callTOON("pscribe_tail", object{"since_line": 900})
	if len(rows(t, o)) != 3 || o.Get("note") == nil || o.Get("next_since_line") != 4.0 {
		t.Errorf("a line beyond the end: %v", o)
	}
	if o := h.callTOON("pscribe_tail", object{"status": "unconfirmed"}); len(rows(t, o)) != 0 || o.Get("next_since_line") != 4.0 {
		t.Errorf("unconfirmed: %v", o)
	}

	// Few tokens: seconds, and once what is the same everywhere.
	o = h.callTOON("pscribe_tail", object{"format": "compact"})
	short := o.Get("transcript").(toon.Table)
	if diff := cmp.Diff([]string{"second", "source", "segment", "duration", "text"}, short.Columns); diff != "" || o.Get("status") != "C" || o.Get("language") != "en" || o.Get("confidence") != 0.9 || o.Get("source") != nil {
		t.Errorf("compact: %s\n%v", diff, o)
	}
	if diff := cmp.Diff([]any{3.0, "S", 2.0, 2.0, "hello, what can I do for you"}, short.Rows[1]); diff != "" {
		t.Error(diff)
	}

	h.callTOON("pscribe_new", nil)
	o = h.callTOON("pscribe_sessions", object{"limit": 5})
	list := o.Get("sessions").(toon.Table)
	if len(list.Rows) != 2 || list.Rows[1][0] != id || list.Rows[1][3] != 3.0 || list.Rows[0][4] != true || list.Rows[1][4] != false {
		t.Errorf("pscribe_sessions: %v", o)
	}
	o = h.callTOON("pscribe_cat", object{"session_ids": []string{id}})
	if len(rows(t, o)) != 3 || o.Get("session") != id {
		t.Errorf("pscribe_cat: %v", o)
	}
	o = h.callTOON("pscribe_cat", object{"last": 2})
	if inner := o.Get("session_1").(toon.Object); len(o) != 2 || len(rows(t, inner)) != 3 || inner.Get("session") != id {
		t.Errorf("pscribe_cat of two: %v", o)
	}
	if o := h.callTOON("pscribe_cat", object{"until": "2020-01-01T00:00:00Z"}); o.Get("sessions") != 0.0 {
		t.Errorf("pscribe_cat of nothing: %v", o)
	}
	o = h.callTOON("pscribe_grep", object{"pattern": "MORN|pleas", "ignore_case": true})
	if r := rows(t, o); len(r) != 2 || r[0]["text"] != "good morning" || o.Get("next_since_line") != nil {
		t.Errorf("pscribe_grep: %v", o)
	}
	if o := h.callTOON("pscribe_grep", object{"pattern": "hello", "context": 1}); len(rows(t, o)) != 3 {
		t.Errorf("pscribe_grep with context: %v", o)
	}
	if o := h.callTOON("pscribe_grep", object{"pattern": "o", "count": true}); o.Get("matches") != 2.0 || o.Get("sessions") != 1.0 {
		t.Errorf("pscribe_grep counts: %v", o)
	}
	if o := h.callTOON("pscribe_grep", object{"pattern": "--help"}); o.Get("sessions") != 0.0 {
		t.Errorf("pscribe_grep for a flag: %v", o)
	}
}

// What goes wrong is text that a model can act on.
func TestScribe_Refusals(t *testing.T) {
	h := newTestHub(t, local)
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"pscribe_stop", object{}, "[NOT_RUNNING] "},
		{"pscribe_stop", object{}, "Try: pscribe_start"},
		{"pscribe_tail", object{}, "[NO_SESSION] "},
		{"pscribe_tail", object{"n": 0}, "[INVALID_PARAMS] n must be between 1 and 10000, got 0."},
		{"pscribe_tail", object{"n": -3}, "[INVALID_PARAMS] n must be"},
		{"pscribe_tail", object{"n": "ten"}, "[INVALID_PARAMS] n must be a whole number, got \"ten\"."},
		{"pscribe_tail", object{"since_line": 0}, "[INVALID_PARAMS] since_line must be at least 1, got 0."},
		{"pscribe_tail", object{"wait_seconds": 46}, "[INVALID_PARAMS] wait_seconds must be between 0 and 45"},
		{"pscribe_tail", object{"status": "final"}, "[INVALID_PARAMS] status must be one of all, confirmed,"},
		{"pscribe_tail", object{"session_id": "../../etc/passwd"}, `[NO_SESSION] "../../etc/passwd" is not the id of a session. Try: pscribe_sessions`},
		{"pscribe_tail", object{"session_id": "0f8fad5b-d9cb-469f-a165-70867728950e"}, "[NO_SESSION] "},
		{"pscribe_cat", object{"since": "yesterday-ish"}, "[INVALID_PARAMS] since must be a time"},
		{"pscribe_cat", object{"since": "2026-02-02T00:00:00Z", "until": "2026-02-01T00:00:00Z"}, "[INVALID_PARAMS] since must be before until."},
		{"pscribe_cat", object{"last": 0}, "[INVALID_PARAMS] last must be between 1 and 200, got 0."},
		{"pscribe_cat", object{"status": "translated"}, "[INVALID_PARAMS] status must be one of all, confirmed, unconfirmed, speech, got"},
		{"pscribe_sessions", object{"limit": 0}, "[INVALID_PARAMS] limit must be"},
		{"pscribe_grep", object{}, "[INVALID_PARAMS] pattern is required."},
		{"pscribe_grep", object{"pattern": "("}, "[INVALID_PARAMS] "},
		{"pscribe_grep", object{"pattern": "x", "context": -1}, "[INVALID_PARAMS] context must be"},
		{"watch_transcript", object{}, "[INVALID_PARAMS] watch_transcript needs keywords"},
		{"watch_transcript", object{"keywords": []string{"..."}}, "[INVALID_PARAMS] The keyword"},
		{"watch_transcript", object{"patterns": []string{"("}}, "[INVALID_PARAMS] The pattern"},
		{"watch_transcript", object{"keywords": []string{"x"}, "timeout_seconds": 301}, "[INVALID_PARAMS] timeout_seconds must be"},
		{"watch_transcript", object{"keywords": []string{"x"}}, "[NO_SESSION] "},
	} {
		if text, _ := h.fails(tt.tool, tt.args, 0); !strings.Contains(text, tt.want) {
			t.Errorf("%s %v: %q lacks %q", tt.tool, tt.args, text, tt.want)
		}
	}
	h.capture.broken = hearken.Errorf(hearken.Forbidden, "The microphone is not for us.").WithTry("the settings")
	if text, _ := h.fails("pscribe_start", object{}, 0); text != "[PERMISSION_DENIED] The microphone is not for us. Try: the settings" {
		t.Errorf("a microphone that is denied: %s", text)
	}
	h.capture.broken = errors.New("no such device")
	if text, _ := h.fails("pscribe_start", object{}, 0); !strings.HasPrefix(text, "[NOT_FOUND] ") || !strings.Contains(text, "no such device") {
		t.Errorf("no microphone: %s", text)
	}
}

// A fakeScribe is a foreign scribe with fixed answers.
type fakeScribe struct {
	hearken.Scribe
	page *hearken.ScribePage
	err  error
}

func (f *fakeScribe) Tail(context.Context, hearken.TailRequest) (*hearken.ScribePage, error) {
	return f.page, f.err
}

// Text that may change never has a number beyond what is confirmed, whoever
// numbers it: last segment plus one would pass over its confirmed words.
func TestScribe_ForeignNumbers(t *testing.T) {
	f := &fakeScribe{page: &hearken.ScribePage{Session: "2024-01-15", Next: 8, Raw: "what?\nis: this", Entries: []hearken.Segment{
		{Line: 7, Status: hearken.Confirmed, Origin: hearken.Microphone, Text: "done"},
		{Line: 9, Status: hearken.Unconfirmed, Origin: hearken.System, Text: "not yet"},
	}}}
	factory := mcpserver.New(mcpserver.Options{Scribe: f})
	h := &testHub{t: t, client: connect(t, factory.Server(local)), handler: newHandler(factory.Server(local))}
	o := h.callTOON("pscribe_tail", nil)
	if r := rows(t, o); r[0]["segment"] != 7.0 || r[1]["segment"] != 7.0 || o.Get("next_since_line") != 8.0 || o.Get("raw") != "what?\nis: this" {
		t.Errorf("%v", o)
	}
	f.err = errors.New("secret words")
	if text, _ := h.fails("pscribe_tail", object{}, 0); !strings.HasPrefix(text, "[INTERNAL] ") || strings.Contains(text, "secret") {
		t.Errorf("a failure of ours: %s", text)
	}
	if text, _ := h.fails("pscribe_start", object{}, -32603); text == "" {
		t.Error("a panic without a message")
	}
}

// A page is bounded, and what does not fit comes with the next one.
func TestScribe_BoundedPages(t *testing.T) {
	h := newTestHub(t, local)
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("%d %s", i, strings.Repeat("漢字 word, ", 20)))
	}
	id := h.storeSession(1, texts...)
	var got []string
	for next := 1.0; ; {
		res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "pscribe_tail", Arguments: object{"session_id": id, "since_line": next, "n": 10000}})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if n := mcpserver.Tokens(text); n > 8400 {
			t.Errorf("a page of about %d tokens", n)
		}
		o, err := toontest.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		page := rows(t, o)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			got = append(got, r["text"].(string))
		}
		next = o.Get("next_since_line").(float64)
	}
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Error(diff)
	}
	o := h.callTOON("pscribe_tail", object{"session_id": id, "n": 10000}) // the newest that fit
	if r := rows(t, o); len(r) < 10 || r[len(r)-1]["segment"] != 300.0 || o.Get("next_since_line") != 301.0 {
		t.Errorf("the newest: %d rows, %v", len(r), o.Get("next_since_line"))
	}
	o = h.callTOON("pscribe_cat", object{"session_ids": []string{id}})
	n := float64(len(rows(t, o)))
	if n < 100 || n > 299 || o.Get("next_since_line") != n+1 || !strings.Contains(o.Get("more").(string), "pscribe_tail") {
		t.Errorf("a long session: %v rows, %v", n, o.Get("more"))
	}
}

// The toolset can be left out, and then nothing of it is there.
func TestScribe_Toolset(t *testing.T) {
	h := newTestHub(t, hearken.Caller{Principal: "local", Toolsets: []string{"transcription"}})
	list, err := h.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, "pscribe") {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	resources, err := h.client.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 0 {
		t.Errorf("resources: %+v, %v", resources, err)
	}
	only := connect(t, h.factory.Server(hearken.Caller{Toolsets: []string{"scribe", "read"}}))
	if list, err = only.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 6 {
		t.Errorf("reading the scribe: %d tools, %v", len(list.Tools), err)
	}
}
