package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestWatchTranscript(t *testing.T) {
	h := newTestHubWith(t, local,
		[]stttest.Line{{Start: 0, End: 1, Text: "shall we begin"}, {Start: 4, End: 5, Text: "the weather is fine"}, {Start: 8, End: 9, Text: "I will send the contracts on Friday"}},
		[]stttest.Line{{Start: 2, End: 3, Text: "yes"}, {Start: 6, End: 7, Text: "the Contract is late"}, {Start: 10, End: 11, Text: "thank you, Zoë"}})
	h.callTOON("pscribe_start", nil)
	for i := range 6 { // each in its turn
		h.capture.advance(t, []float64{1.5, 2, 2, 2, 2, 2}[i])
		h.callTOON("pscribe_tail", object{"since_line": i + 1, "status": "confirmed", "wait_seconds": 45})
	}
	for _, tt := range []struct {
		name    string
		args    object
		matched []any
		texts   []string
	}{
		{"Keyword", object{"keywords": []string{"contract"}, "context": 0}, []any{4.0}, []string{"the Contract is late"}},
		{"AnyEnding", object{"keywords": []string{"contract*"}, "context": 0}, []any{4.0, 5.0}, []string{"the Contract is late", "I will send the contracts on Friday"}},
		{"AnyOrder", object{"keywords": []string{"late contract"}, "context": 0}, []any{4.0}, []string{"the Contract is late"}},
		{"Context", object{"keywords": []string{"late"}, "context": 1}, []any{4.0}, []string{"the weather is fine", "the Contract is late", "I will send the contracts on Friday"}},
		{"Phrase", object{"phrases": []string{"send the"}, "context": 0}, []any{5.0}, []string{"I will send the contracts on Friday"}},
		{"Accents", object{"phrases": []string{"you zoe"}, "context": 0}, []any{6.0}, []string{"thank you, Zoë"}},
		{"Pattern", object{"patterns": []string{`^I\b.*Fri`}, "context": 0}, []any{5.0}, []string{"I will send the contracts on Friday"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["since_line"] = 1
			o := h.callTOON("watch_transcript", tt.args)
			var texts []string
			for _, r := range rows(t, o) {
				texts = append(texts, r["text"].(string))
			}
			if got := o.Get("matched"); !equal(got, tt.matched) || strings.Join(texts, "|") != strings.Join(tt.texts, "|") || o.Get("next_since_line") != 7.0 {
				t.Errorf("%v", o)
			}
		})
	}
	o := h.callTOON("watch_transcript", object{"phrases": []string{"the send"}, "since_line": 1, "timeout_seconds": 1})
	if !equal(o.Get("matched"), []any{}) || o.Get("next_since_line") != 7.0 || o.Get("transcript") != nil {
		t.Errorf("nothing to be found: %v", o)
	}
}

func equal(got any, want []any) bool {
	list, ok := got.([]any)
	if !ok || len(list) != len(want) {
		return false
	}
	for i := range list {
		if list[i] != want[i] {
			return false
		}
	}
	return true
}

// Whoever waits is told so, gets what is said meanwhile, and learns of the
// end.
func TestWatchTranscript_Waits(t *testing.T) {
	h := newTestHub(t, local)
	h.callTOON("pscribe_start", nil)
	h.capture.advance(t, 10)
	h.callTOON("pscribe_tail", object{"since_line": 8, "wait_seconds": 45, "status": "confirmed"})
	progress := make(chan *mcp.ProgressNotificationParams, 100)
	ours, theirs := mcp.NewInMemoryTransports()
	served, err := h.factory.Server(local).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { progress <- req.Params },
	}).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		client.Close()
		served.Wait()
	}()
	params := &mcp.CallToolParams{Name: "watch_transcript", Arguments: object{"phrases": []string{"line 12"}, "timeout_seconds": 300, "context": 1}}
	params.SetProgressToken("p")
	answer := make(chan string, 1)
	go func() {
		res, err := client.CallTool(t.Context(), params)
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- res.Content[0].(*mcp.TextContent).Text
	}()
	if p := <-progress; p.ProgressToken != "p" || p.Total != 300 || p.Progress <= 0 {
		t.Errorf("progress: %+v", p)
	}
	h.capture.advance(t, 20)
	text := <-answer
	if n := strings.Count(text, secret); !strings.Contains(text, "line 12 of") || n > 6 { // two sides, and one entry around each
		t.Errorf("the answer:\n%s", text)
	}

	// When the capture ends there is nothing to wait for.
	last := h.callTOON("pscribe_tail", object{"n": 1})
	h.callTOON("pscribe_stop", nil)
	o := h.callTOON("watch_transcript", object{"keywords": []string{"zebra"}, "timeout_seconds": 300, "since_line": last.Get("next_since_line")})
	if o.Get("note") == nil {
		t.Errorf("after the end: %v", o)
	}
}

// A session that came in by another transport can be watched, too.
func TestWatchTranscript_OtherSessions(t *testing.T) {
	h := newTestHub(t, local)
	id := call[started](h, "start_transcription", object{}).SessionID
	h.speak(id, 10)
	o := h.callTOON("watch_transcript", object{"session_id": strings.ToUpper(id), "phrases": []string{"line 3"}, "since_line": 1, "context": 0})
	if r := rows(t, o); len(r) != 1 || !strings.HasPrefix(r[0]["text"].(string), "line 3 of") || o.Get("session") != id {
		t.Errorf("%v", o)
	}
	call[status](h, "stop_transcription", object{"sessionId": id})
	if o := h.callTOON("watch_transcript", object{"session_id": id, "keywords": []string{"zebra"}, "timeout_seconds": 300}); o.Get("note") == nil {
		t.Errorf("after its end: %v", o)
	}
}
