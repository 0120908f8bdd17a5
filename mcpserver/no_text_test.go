package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
)

// A caller that may not read transcripts learns none of their words from the
// tools that act, and neither does its client from a question.
func TestActions_NoTranscriptText(t *testing.T) {
	const said = "xylophone"
	for _, tt := range []struct {
		name     string
		toolsets []string
		reads    bool
	}{
		{"Actions", []string{"actions"}, false},
		{"All", nil, true},
		{"Transcription", []string{"actions", "transcription"}, true},
		{"Scribe", []string{"actions", "scribe"}, true},
	} {
		for _, version := range generations {
			t.Run(tt.name+"/"+version, func(t *testing.T) {
				c := newActionServer(t, func(o *mcpserver.Options) { o.ActionWait = time.Nanosecond })
				c.queue.quote = said
				var forms []*mcp.ElicitParams
				caller := hearken.Caller{Principal: "key_a", Approver: hearken.ApproverClient, Toolsets: tt.toolsets}
				client := c.connect(t, caller, version, answeringForms(&forms, accept(object{"decision": "allow"}), nil))
				asked := outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: morning})
				if len(forms) != 1 || !strings.Contains(forms[0].Message, "朝ラン") || strings.Contains(forms[0].Message, said) != tt.reads {
					t.Errorf("%d forms: %+v", len(forms), forms)
				}
				answers := []map[string]string{asked}
				for _, tool := range []string{"action_status", "action_cancel", "action_status"} {
					answers = append(answers, outcomeOf(t, client, &mcp.CallToolParams{Name: tool, Arguments: object{"id": asked["id"]}}))
				}
				// What waits for the owner, and what is refused.
				caller.Approver = ""
				client = c.connect(t, caller, version, nil)
				for _, title := range []string{"later", ""} {
					args := object{"title": title, "start": "2026-09-19T07:00:00+09:00", "duration_min": 30}
					answers = append(answers, outcomeOf(t, client, &mcp.CallToolParams{Name: "calendar_create", Arguments: args}))
				}
				if text := fmt.Sprint(answers); strings.Contains(text, said) {
					t.Errorf("the results tell what was said: %s", text)
				}
			})
		}
	}
}
