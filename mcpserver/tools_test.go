package mcpserver_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

var local = hearken.Caller{Principal: "local"}

// The fields of answers that these tests look at.
type (
	started struct{ SessionID, WSEndpoint, Language, Provider string }
	page    struct {
		SessionID, Status          string
		Segments, Interim          []hearken.Segment
		TotalSegments, NextSegment int
		Cursor                     string
		More, Resync, Truncated    bool
	}
	sessions struct {
		Sessions []struct {
			ID, Status, Title, StopReason string
			SegmentCount                  int
			Duration                      float64
		}
		Truncated bool
	}
	status struct {
		ID, Status, Title, Health, Sender, ProviderState, StopReason string
		SegmentCount, UnsavedSegments                                int
		Duration, LagSeconds                                         float64
		LastAudioAt                                                  string
		Durable                                                      bool
		Note                                                         *struct{ Text, By, SavedAt string }
	}
	hits struct {
		Hits []struct {
			SessionID, Title, Text, Source string
			Line, FromSegment              int
		}
		Truncated bool
	}
)

func TestSession_Life(t *testing.T) {
	h := newTestHub(t, local)
	s := call[started](h, "start_transcription", object{"title": "Standup"})
	if s.Language != "en" || s.Provider != "local" || !strings.Contains(s.WSEndpoint, "/audio/"+s.SessionID+"?ticket=") {
		t.Errorf("start_transcription: %+v", s)
	}
	_, ticket, _ := strings.Cut(s.WSEndpoint, "ticket=")
	if who, ok := h.hub.CheckTicket(s.SessionID, ticket); !ok || who != "local" {
		t.Errorf("the ticket of the endpoint is not the session's: %q, %v", who, ok)
	}

	// A reader that follows by cursor sees each line once, in order.
	in := h.speak(s.SessionID, 10)
	var texts []string
	cursor := ""
	follow := func(until int) {
		t.Helper()
		for len(texts) < until {
			args := object{"sessionId": s.SessionID, "waitSeconds": 20, "limit": 2}
			if cursor != "" {
				args["cursor"] = cursor
			}
			p := call[page](h, "get_transcription", args)
			if len(p.Segments) == 0 {
				t.Fatalf("nothing came within 20 s after %d lines: %+v", len(texts), p)
			}
			for _, seg := range p.Segments {
				texts = append(texts, seg.Text)
			}
			cursor = p.Cursor
		}
	}
	follow(4)
	h.write(in, 4)
	follow(6)
	st := call[status](h, "get_session_status", object{"sessionId": s.SessionID})
	if st.Status != "active" || st.Title != "Standup" || st.Sender != "connected" || st.ProviderState != "open" || st.LastAudioAt == "" || st.SegmentCount < len(texts) {
		t.Errorf("get_session_status: %+v", st)
	}

	stop := call[struct {
		SessionID, Status string
		Duration          float64
		SegmentCount      int
	}](h, "stop_transcription", object{"sessionId": strings.ToUpper(s.SessionID)})
	if stop.Status != "stopped" || stop.SegmentCount != 7 || stop.Duration != 14 {
		t.Errorf("stop_transcription: %+v", stop)
	}
	follow(7)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("line %d of %s", i+1, secret))
	}
	if diff := gocmp.Diff(want, texts); diff != "" {
		t.Errorf("what the reader saw:\n%s", diff)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": s.SessionID, "cursor": cursor}); p.Status != "stopped" || p.More || len(p.Segments) != 0 || p.Cursor != cursor {
		t.Errorf("after the end: %+v", p)
	}

	if msg, _ := h.fails("stop_transcription", object{"sessionId": s.SessionID}, -32002); !strings.Contains(msg, s.SessionID) {
		t.Errorf("a second stop: %s", msg)
	}
	h.fails("forget_recent", object{"sessionId": s.SessionID}, 0)
	gone := call[struct{ Removed int }](h, "forget_recent", object{"sessionId": s.SessionID, "minutes": 0.1})
	if gone.Removed == 0 || gone.Removed == 7 {
		t.Errorf("forget_recent removed %d", gone.Removed)
	}
	if p := call[page](h, "get_transcription", object{"sessionId": s.SessionID}); len(p.Segments) != 7-gone.Removed+1 {
		t.Errorf("%d segments after %d were forgotten, with the event that says so", len(p.Segments), gone.Removed)
	}
	call[object](h, "delete_session", object{"sessionId": s.SessionID})
	h.fails("get_transcription", object{"sessionId": s.SessionID}, -32001)
	h.fails("delete_session", object{"sessionId": s.SessionID}, -32001)
	if l := call[sessions](h, "list_sessions", object{}); len(l.Sessions) != 0 {
		t.Errorf("list_sessions after all were deleted: %+v", l)
	}
}

func TestErrors(t *testing.T) {
	h := newTestHub(t, local)
	id := h.storeSession(1, "one "+secret)
	const unknown = "019a0000-0000-7000-8000-ffffffffffff"
	for _, tool := range []string{"stop_transcription", "get_transcription", "get_session_status", "export_session", "delete_session", "search_transcripts", "save_note", "forget_recent"} {
		extra := object{}
		switch tool {
		case "search_transcripts":
			extra["query"] = "x"
		case "save_note":
			extra["text"] = "x"
		case "forget_recent":
			extra["minutes"] = 1
		}
		with := func(session any) object {
			args := object{"sessionId": session}
			maps.Copy(args, extra)
			return args
		}
		for _, malformed := range []string{"no-uuid", "../../etc/passwd", unknown + "0", strings.Repeat("a", 5000)} {
			if msg, _ := h.fails(tool, with(malformed), -32001); len(msg) > 200 {
				t.Errorf("%s: a message of %d bytes", tool, len(msg))
			}
		}
		if tool != "search_transcripts" { // finds nothing there
			h.fails(tool, with(unknown), -32001)
		}
		h.fails(tool, with(7), 0)
	}
	for _, tt := range []struct {
		tool string
		args any
		code int64
		want string
	}{
		{"stop_transcription", object{"sessionId": id}, -32002, id},
		{"start_transcription", object{"provider": "parrot"}, -32003, "parrot"},
		{"start_transcription", object{"vocabulary": []string{"ok", strings.Repeat("x", 101)}}, 0, "terms of 1 to 100 characters, got one of 101."},
		{"start_transcription", object{"provider": 7}, 0, "provider must be a string"},
		{"start_transcription", object{"lang": "en"}, 0, `no argument "lang"; it takes language, provider`},
		{"start_transcription", []int{1}, 0, "must be an object"},
		{"list_sessions", object{"limit": 0}, 0, "limit must be between 1 and 200, got 0."},
		{"list_sessions", object{"limit": 100000}, 0, "limit must be between 1 and 200"},
		{"list_sessions", object{"status": "paused"}, 0, "status must be one of active, stopped, all"},
		{"list_sessions", object{"since": "whenever"}, 0, "since must be a time"},
		{"get_transcription", object{"sessionId": id, "limit": 0}, 0, "limit must be between 1 and 500, got 0."},
		{"get_transcription", object{"sessionId": id, "limit": 501}, 0, "limit must be between 1 and 500"},
		{"get_transcription", object{"sessionId": id, "waitSeconds": 21}, 0, "waitSeconds must be between 0 and 20"},
		{"get_transcription", object{"sessionId": id, "cursor": "abc"}, 0, "not a cursor"},
		{"get_transcription", object{"sessionId": id, "cursor": "12345678.0.0"}, 0, "does not belong to session " + id},
		{"get_transcription", object{}, 0, "sessionId is required."},
		{"export_session", object{"sessionId": id, "format": "docx"}, 0, "format must be one of json, txt, srt, vtt, md, toon, got"},
		{"search_transcripts", object{"query": "..."}, 0, "no word to search for"},
		{"search_transcripts", object{"query": "x", "limit": 101}, 0, "limit must be between 1 and 100"},
		{"save_note", object{"sessionId": id}, 0, "needs a text, a title or both"},
		{"forget_recent", object{"sessionId": id, "minutes": -1}, 0, "minutes must be between 0.1 and 1440, got -1."},
		{"no_such_tool", object{}, -32602, "no_such_tool"},
	} {
		if msg, _ := h.fails(tt.tool, tt.args, tt.code); !strings.Contains(msg, tt.want) {
			t.Errorf("%s %v: %q lacks %q", tt.tool, tt.args, msg, tt.want)
		}
	}

	h.engine.Refuse(hearken.Errorf(hearken.APIKeyMissing, "The engine wants a key.").WithTry("set KEY"))
	msg, data := h.fails("start_transcription", object{}, -32004)
	if want := `{"code":"api_key_missing","message":"The engine wants a key.","try":"set KEY"}`; data != want || !strings.Contains(msg, "wants a key") {
		t.Errorf("a missing key: %s, %s", msg, data)
	}
}

// A store that is down takes nothing from those who follow a live session.
func TestErrors_StoreDown(t *testing.T) {
	h := newTestHub(t, local)
	stored := h.storeSession(1, "x")
	id := call[started](h, "start_transcription", object{}).SessionID
	h.speak(id, 4)
	h.store.Fail(errors.New("disk I/O error"))
	defer h.store.Fail(nil)
	for tool, args := range map[string]object{
		"list_sessions":      {},
		"get_transcription":  {"sessionId": stored},
		"search_transcripts": {"query": "x"},
		"save_note":          {"sessionId": stored, "text": "x"},
	} {
		if msg, data := h.fails(tool, args, -32000); !strings.Contains(data, "repository_error") || !strings.Contains(msg, "disk I/O error") {
			t.Errorf("%s: %s %s", tool, msg, data)
		}
	}
	if p := call[page](h, "get_transcription", object{"sessionId": id, "waitSeconds": 20}); len(p.Segments) == 0 {
		t.Errorf("the live session: %+v", p)
	}
	if st := call[status](h, "get_session_status", object{"sessionId": id, "includeNote": true}); st.Status != "active" || st.Note != nil {
		t.Errorf("the live session's status: %+v", st)
	}
	if e := call[object](h, "export_session", object{"sessionId": id, "format": "txt"}); !strings.Contains(e["data"].(string), "line 1") {
		t.Errorf("the live session's export: %v", e)
	}
}

func TestListSessions(t *testing.T) {
	h := newTestHub(t, local)
	for i := range 25 {
		h.storeSession(i+1, "x")
	}
	active := call[started](h, "start_transcription", object{}).SessionID
	l := call[sessions](h, "list_sessions", object{})
	if len(l.Sessions) != 20 || !l.Truncated || l.Sessions[0].ID != active || l.Sessions[0].Status != "active" || l.Sessions[1].Title != "Meeting 25" {
		t.Errorf("the default list: %+v", l)
	}
	if l := call[sessions](h, "list_sessions", object{"limit": 26}); len(l.Sessions) != 26 || l.Truncated {
		t.Errorf("all: %d, truncated %v", len(l.Sessions), l.Truncated)
	}
	if l := call[sessions](h, "list_sessions", object{"status": "active"}); len(l.Sessions) != 1 || l.Sessions[0].ID != active {
		t.Errorf("active: %+v", l)
	}
	l = call[sessions](h, "list_sessions", object{"status": "stopped", "until": "2026-11-01T09:03:00Z"})
	if len(l.Sessions) != 2 || l.Sessions[0].Title != "Meeting 2" || l.Sessions[0].Duration != 3600 || l.Sessions[0].StopReason != "requested" {
		t.Errorf("until: %+v", l)
	}
}

func TestSearchTranscripts(t *testing.T) {
	h := newTestHub(t, local)
	h.storeSession(1, "nothing", "the budget of "+secret, "more")
	second := h.storeSession(2, "a", "b", "c", "d", "e", "the budget is "+strings.Repeat("very ", 100)+"late", "来週の会議の予定")
	got := call[hits](h, "search_transcripts", object{"query": "budget"})
	if len(got.Hits) != 2 || got.Truncated {
		t.Fatalf("search: %+v", got)
	}
	if hit := got.Hits[0]; hit.SessionID != second || hit.Title != "Meeting 2" || hit.Line != 6 || hit.FromSegment != 2 || hit.Source != "M" || len(hit.Text) > 310 {
		t.Errorf("newest hit: %+v", hit)
	}
	if around := call[page](h, "get_transcription", object{"sessionId": second, "fromSegment": got.Hits[0].FromSegment}); !slices.ContainsFunc(around.Segments, func(s hearken.Segment) bool { return s.Line == 6 }) {
		t.Errorf("reading around the hit: %+v", around)
	}
	if got := call[hits](h, "search_transcripts", object{"query": "budget", "limit": 1}); len(got.Hits) != 1 || !got.Truncated {
		t.Errorf("limit 1: %+v", got)
	}
	if got := call[hits](h, "search_transcripts", object{"query": "budget", "sessionId": second, "ranked": true}); len(got.Hits) != 1 {
		t.Errorf("in one session: %+v", got)
	}
	if got := call[hits](h, "search_transcripts", object{"query": "budget", "until": "2026-11-01T09:02:00Z"}); len(got.Hits) != 1 || got.Hits[0].Title != "Meeting 1" {
		t.Errorf("until: %+v", got)
	}
	if got := call[hits](h, "search_transcripts", object{"query": "会議"}); len(got.Hits) != 1 || got.Hits[0].Line != 7 {
		t.Errorf("Japanese: %+v", got)
	}
	if got := call[hits](h, "search_transcripts", object{"query": "zeppelin"}); got.Hits == nil || len(got.Hits) != 0 {
		t.Errorf("no hit: %+v", got)
	}
}

func TestSaveNote(t *testing.T) {
	h := newTestHub(t, local)
	id := h.storeSession(1, "x")
	if st := call[status](h, "get_session_status", object{"sessionId": id, "includeNote": true}); st.Note != nil || st.Health != "stopped" {
		t.Errorf("without a note: %+v", st)
	}
	call[object](h, "save_note", object{"sessionId": id, "text": "# First"})
	out := call[struct{ Title, SavedAt string }](h, "save_note", object{"sessionId": id, "text": "# Summary of " + secret, "title": "Budget"})
	if out.Title != "Budget" || out.SavedAt == "" {
		t.Errorf("save_note: %+v", out)
	}
	st := call[status](h, "get_session_status", object{"sessionId": id})
	if st.Title != "Budget" || st.Note == nil || st.Note.Text != "" || st.Note.By != "local" {
		t.Errorf("status with a note: %+v", st)
	}
	st = call[status](h, "get_session_status", object{"sessionId": id, "includeNote": true})
	if st.Note.Text != "# Summary of "+secret {
		t.Errorf("the note: %+v", st.Note)
	}
	call[object](h, "save_note", object{"sessionId": id, "title": "Only a title"})
	if st = call[status](h, "get_session_status", object{"sessionId": id, "includeNote": true}); st.Title != "Only a title" || st.Note.Text != "# Summary of "+secret {
		t.Errorf("after a title alone: %+v", st)
	}
}

func TestExportSession(t *testing.T) {
	h := newTestHub(t, local)
	id := h.storeSession(1, "Good morning.", "The budget is late.")
	call[object](h, "save_note", object{"sessionId": id, "text": "**Late.**"})
	type exported struct {
		SessionID, Format, Data string
		Truncated               bool
		NextSegment             int
	}
	for format, want := range map[string][]string{
		"":     {`"Good morning."`, `"word": "morning."`, `"Meeting 1"`},
		"txt":  {"Good morning.", "The budget is late."},
		"srt":  {"1\n00:00:02,000 --> ", "Good morning.\n\n2\n"},
		"vtt":  {"WEBVTT\n\n00:00:02.000 --> "},
		"md":   {"Meeting 1", "**Late.**", "Good morning."},
		"toon": {"[2]{"},
	} {
		args := object{"sessionId": id}
		if format != "" {
			args["format"] = format
		}
		e := call[exported](h, "export_session", args)
		if e.SessionID != id || e.Format != cmp.Or(format, "json") || e.Truncated {
			t.Errorf("%s: %+v", format, e)
		}
		compact := strings.NewReplacer(`": `, `":`).Replace
		for _, w := range want {
			if !strings.Contains(compact(e.Data), compact(w)) {
				t.Errorf("%s lacks %q:\n%s", format, w, e.Data)
			}
		}
	}

	// What is too long for one answer comes in pieces that leave nothing out.
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("%d ", i)+strings.Repeat("a", 8000))
	}
	long := h.storeSession(2, texts...)
	var got []string
	for from := 0; ; {
		e := call[exported](h, "export_session", object{"sessionId": long, "fromSegment": from})
		var doc struct{ Segments []hearken.Segment }
		if err := json.Unmarshal([]byte(e.Data), &doc); err != nil {
			t.Fatal(err)
		}
		if len(e.Data) > 5<<20 {
			t.Errorf("a piece of %d bytes", len(e.Data))
		}
		for _, s := range doc.Segments {
			got = append(got, s.Text)
		}
		if !e.Truncated {
			break
		}
		if from = e.NextSegment; from != len(got) {
			t.Fatalf("the piece after %d segments begins at %d", len(got), from)
		}
	}
	if !slices.Equal(texts, got) {
		t.Errorf("%d of %d segments came out", len(got), len(texts))
	}
}
