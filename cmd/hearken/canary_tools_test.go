//go:build !windows

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
)

// A canaryCall is one call of a tool, and whether its result holds the canary.
type canaryCall struct {
	args  object
	reads bool
}

// canaryCalls are calls of every tool. A tool that is not here fails the test:
// whoever adds one says whether it reads.
func (h *canaryHub) canaryCalls(formats []string) map[string][]canaryCall {
	reads := func(args object) []canaryCall { return []canaryCall{{args, true}} }
	quiet := func(args object) []canaryCall { return []canaryCall{{args, false}} }
	var exports []canaryCall
	for _, format := range formats {
		exports = append(exports, canaryCall{object{"sessionId": h.session, "format": format}, true})
	}
	in := h.clock.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	return map[string][]canaryCall{
		"start_transcription":  quiet(object{}),
		"stop_transcription":   quiet(object{"sessionId": h.session}),
		"get_transcription":    reads(object{"sessionId": h.session, "includeWords": true, "includeInterim": true}),
		"list_sessions":        reads(object{}),
		"get_session_status":   {{object{"sessionId": h.session}, true}, {object{"sessionId": h.session, "includeNote": true}, true}},
		"export_session":       exports,
		"search_transcripts":   reads(object{"query": "dentist"}),
		"retranscribe_session": quiet(object{"sessionId": h.session}),
		"save_note":            reads(object{"sessionId": h.session, "text": "a " + canary}),
		"forget_recent":        quiet(object{"sessionId": h.record(false), "minutes": 1440}),
		"delete_session":       quiet(object{"sessionId": h.record(false)}),
		"pscribe_start":        quiet(object{}),
		"pscribe_status":       quiet(object{}),
		"pscribe_tail":         reads(object{}),
		"pscribe_cat":          reads(object{}),
		"pscribe_sessions":     quiet(object{}),
		"pscribe_grep":         reads(object{"pattern": "dentist"}),
		"watch_transcript":     reads(object{"keywords": []string{"dentist"}, "since_line": 1}),
		"pscribe_new":          quiet(object{}),
		"pscribe_stop":         quiet(object{}),
		"calendar_create":      quiet(object{"title": "Dentist appointment", "start": in, "duration_min": 30}),
		"message_send":         quiet(object{"to": "bob@stone.example", "text": "Dentist appointment"}),
		"reminder_create":      quiet(object{"note": "Dentist appointment", "time": in}),
		"action_status":        quiet(object{"id": h.propose(h.key.ID).ID}),
		"action_cancel":        quiet(object{"id": h.propose(h.key.ID).ID}),
	}
}

// propose asks for an action whose words are in a transcript, with the canary.
func (h *canaryHub) propose(principal string) *hearken.Action {
	h.Helper()
	a, err := h.app.queue.Propose(h.Context(), act.Request{Principal: principal, Tool: hearken.CalendarCreate, Calendar: &act.CalendarArgs{
		Title: "Dentist appointment", Start: h.clock.advance(time.Minute).Add(72 * time.Hour).UTC().Format(time.RFC3339), Minutes: 30,
	}})
	if err != nil {
		h.Fatal(err)
	}
	if !strings.Contains(fmt.Sprintf("%+v", a.Evidence), canary) {
		h.Fatalf("the evidence lacks the canary: %+v", a.Evidence)
	}
	return a
}

// startCapture starts the capture and waits until it holds the canary.
func (h *canaryHub) startCapture() {
	h.Helper()
	if _, err := h.app.scribe.Start(h.Context(), hearken.CaptureRequest{}); err != nil {
		h.Fatal(err)
	}
	if !eventually(func() bool {
		page, err := h.app.scribe.Tail(h.Context(), hearken.TailRequest{N: 5, Filter: hearken.OnlyConfirmed})
		return err == nil && strings.Contains(fmt.Sprintf("%+v", page.Entries), canary)
	}) {
		h.Fatal("the capture does not hold the canary")
	}
}

// Whatever gives a key the canary is recorded as reading before it answers:
// every tool, resource, prompt and completion.
func TestCanary_Tools(t *testing.T) {
	h := newCanaryHub(t)
	h.denyAll(h.key.ID)
	h.startCapture()
	type offered struct {
		Name, URI, URITemplate string
		InputSchema            struct {
			Properties struct{ Format struct{ Enum []string } }
		}
		Arguments []struct{ Name string }
	}
	tools := list[offered](h, h.key.Secret, "tools/list", "tools")
	var formats []string
	for _, tool := range tools {
		if tool.Name == "export_session" {
			formats = tool.InputSchema.Properties.Format.Enum
		}
	}
	if len(formats) < 6 {
		t.Errorf("exports have the formats %v", formats)
	}
	calls := h.canaryCalls(formats)
	for _, tool := range tools {
		if calls[tool.Name] == nil {
			t.Errorf("%s is a new tool. Add it to canaryCalls, and if it returns no transcript text to toolsWithoutText.", tool.Name)
		}
		for _, call := range calls[tool.Name] {
			if strings.HasPrefix(tool.Name, "pscribe_") || tool.Name == "watch_transcript" {
				h.startCapture() // another of these may have stopped it
			}
			h.check(fmt.Sprintf("%s %v", tool.Name, call.args), h.key.ID, call.reads, func() string {
				return h.rpc(h.key.Secret, "tools/call", object{"name": tool.Name, "arguments": call.args})
			})
		}
	}
	h.startCapture()
	templates := list[offered](h, h.key.Secret, "resources/templates/list", "resourceTemplates")
	resources := list[offered](h, h.key.Secret, "resources/list", "resources")
	for _, template := range templates {
		resources = append(resources, offered{URI: strings.ReplaceAll(template.URITemplate, "{id}", h.session)})
	}
	if len(resources) < 2 {
		t.Errorf("there are only the resources %v", resources)
	}
	for _, r := range resources {
		h.check(r.URI, h.key.ID, true, func() string { return h.rpc(h.key.Secret, "resources/read", object{"uri": r.URI}) })
		h.check("subscribe "+r.URI, h.key.ID, false, func() string { return h.rpc(h.key.Secret, "resources/subscribe", object{"uri": r.URI}) })
		h.check("complete "+r.URI, h.key.ID, false, func() string {
			return h.rpc(h.key.Secret, "completion/complete", object{"ref": object{"type": "ref/resource", "uri": r.URI}, "argument": object{"name": "id", "value": ""}})
		})
	}
	for _, p := range list[offered](h, h.key.Secret, "prompts/list", "prompts") {
		args := object{}
		for _, a := range p.Arguments {
			args[a.Name] = h.session
		}
		h.check("prompt "+p.Name, h.key.ID, false, func() string { return h.rpc(h.key.Secret, "prompts/get", object{"name": p.Name, "arguments": args}) })
	}
}

// A key that may only act gets the canary from no tool, resource, prompt or
// completion, and its grant applies at any time.
func TestCanary_OnlyActions(t *testing.T) {
	h := newCanaryHub(t)
	h.startCapture()
	grants := map[string]*newKey{"acting": h.acting, "everything": h.key}
	for _, key := range grants {
		if _, err := h.app.queue.Grant(t.Context(), hearken.Grant{Principal: key.ID, Tool: hearken.CalendarCreate, Target: "builtin", PerDay: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	h.denyAll(h.key.ID)
	for tool, calls := range h.canaryCalls([]string{"json"}) {
		if tool == "message_send" || tool == "reminder_create" {
			continue // nobody answers, and it would wait
		}
		for _, call := range calls {
			h.check("acting: "+tool, h.acting.ID, false, func() string {
				return h.rpc(h.acting.Secret, "tools/call", object{"name": tool, "arguments": call.args})
			})
		}
	}
	for _, uri := range []string{"pscribe://current/transcript", "hearken://sessions/" + h.session + "/transcript"} {
		h.check("acting: "+uri, h.acting.ID, false, func() string { return h.rpc(h.acting.Secret, "resources/read", object{"uri": uri}) })
		h.check("acting: complete", h.acting.ID, false, func() string {
			answer := h.rpc(h.acting.Secret, "completion/complete", object{"ref": object{"type": "ref/resource", "uri": uri}, "argument": object{"name": "id", "value": ""}})
			if strings.Contains(answer, h.session) {
				t.Errorf("it learns which sessions there are: %s", answer)
			}
			return answer
		})
	}
	if !eventually(func() bool { return !h.app.hub.LastAudio().Before(h.clock.Now()) }) {
		t.Fatal("the capture gives no audio")
	}
	for name, key := range grants {
		answer := h.rpc(key.Secret, "tools/call", object{"name": "calendar_create", "arguments": object{
			"title": "Water the plants", "start": h.clock.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339), "duration_min": 15,
		}})
		if done := strings.Contains(answer, `"status":"ok"`); done != (key == h.acting) {
			t.Errorf("the grant of the key that may do %s, while people speak: %s", name, answer)
		}
	}
}

// A question to the user of a client shows the words behind an action. They
// count as read, and a key that may only act does not get them.
func TestCanary_Question(t *testing.T) {
	for _, tt := range []struct {
		name     string
		toolsets []string
		reads    bool
	}{{"Everything", nil, true}, {"OnlyActions", []string{hearken.ActionsToolset}, false}} {
		t.Run(tt.name, func(t *testing.T) {
			h := newCanaryHub(t)
			key := h.newKey(hearken.ApproverClient, tt.toolsets)
			began, asked := h.clock.advance(2*time.Minute), ""
			client := mcp.NewClient(&mcp.Implementation{Name: "canary", Version: "1"}, &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = r.Params.Message
					if at := h.exposed(key.ID); tt.reads && at.Before(began) {
						t.Errorf("the question came before the reading was recorded, %s", at)
					}
					return &mcp.ElicitResult{Action: "decline"}, nil
				},
			})
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: withKey{key.Secret}}, DisableStandaloneSSE: true,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "calendar_create", Arguments: object{
				"title": "Dentist appointment", "start": h.clock.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339), "duration_min": 30,
			}}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(asked, "Dentist appointment") || strings.Contains(asked, canary) != tt.reads {
				t.Errorf("the question is %q", asked)
			}
		})
	}
}

// withKey sends a key along.
type withKey struct{ secret string }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.secret)
	return http.DefaultTransport.RoundTrip(r)
}
