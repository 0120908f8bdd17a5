//go:build accept

package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// claude is Claude Code's program.
func claude(t *testing.T) string {
	return installed(t, "claude", "@anthropic-ai", "claude-code-linux-x64", "claude")
}

// TestClaude_Connects adds Hearken as the README says and has Claude Code look
// whether it works; no hub runs before.
func TestClaude_Connects(t *testing.T) {
	a := newAgent(t, claude(t))
	out := a.sh(readme(t, a.readme, "**Claude Code**"))
	if !strings.Contains(out, "Added stdio MCP server hearken") {
		t.Errorf("mcp add: %s", out)
	}
	if out := a.must("mcp", "list"); !strings.Contains(out, "hearken: ") || !strings.Contains(out, "Connected") {
		t.Errorf("mcp list: %s", out)
	}
	a.checkHubRuns()
}

// TestClaude_TakesNotes has a scripted model drive Claude Code through a whole
// session, over every transport.
func TestClaude_TakesNotes(t *testing.T) {
	for _, transport := range []string{"stdio", "http", "sse", "ws"} {
		t.Run(transport, func(t *testing.T) {
			root := engine(t)
			path := claude(t)
			h := hubtest.Start(t, "HEARKEN_MODELS="+root)
			c := newConversation(t)
			m := newModel(t, c.next)
			a := joinHub(t, h, path)
			switch transport {
			case "stdio":
				a.sh(readme(t, a.readme, "**Claude Code**"))
			case "http":
				a.must("mcp", "add", "--transport", "http", "hearken", h.URL+"/mcp")
			case "sse":
				a.must("mcp", "add", "--transport", "sse", "hearken", h.URL+"/sse")
			case "ws":
				a.must("mcp", "add-json", "hearken", fmt.Sprintf(`{"type": "ws", "url": "ws%s/mcp", "headers": {"Authorization": "Bearer %s"}}`,
					strings.TrimPrefix(h.URL, "http"), newKey(t, h)))
			}
			a.env = append(a.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none")
			out := a.must("-p", "Take notes of what is said.", "--allowedTools", "mcp__hearken")
			if strings.TrimSpace(out) != "Done." {
				t.Errorf("Claude Code said %q", out)
			}
			c.check(m.results())
			for _, tool := range []string{"search_transcripts", "export_session", "delete_session"} {
				if !m.tools[tool] {
					t.Errorf("the model was not offered %s", tool)
				}
			}
		})
	}
}

// TestClaude_Acts has the scripted model ask for an appointment over Claude
// Code's own WebSocket, by the contract. The owner is somebody else.
func TestClaude_Acts(t *testing.T) {
	path := claude(t)
	o, ws := acting(t)
	const title = "Send the contract to Žaneta"
	m := newModel(t, func(shown []string) *call {
		if len(shown) > 0 {
			return nil
		}
		return &call{"calendar_create", map[string]any{"title": title, "start": nextMonth() + "T15:00:00+01:00", "duration_min": 30}}
	})
	a := joinHub(t, o.h, path)
	a.must("mcp", "add-json", "hearken", fmt.Sprintf(`{"type": "ws", "url": %q, "headers": {"Authorization": "Bearer %s"}}`, ws, o.key("claude")))
	a.env = append(a.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none")
	said := make(chan string, 1)
	go func() {
		out, err := run(t, a.dir, a.env, path, "-p", "Put it into my calendar.", "--allowedTools", "mcp__hearken")
		said <- fmt.Sprint(strings.TrimSpace(out), err)
	}()
	id := o.waitPending(title)
	if out := o.run("approve", id); !strings.Contains(out, id+": done") {
		t.Errorf("approve: %s", out)
	}
	if out := <-said; out != "Done.<nil>" {
		t.Errorf("Claude Code said %q", out)
	}
	shown := m.results()
	if len(shown) != 1 || !strings.Contains(shown[0], `"status":"ok"`) || !strings.Contains(shown[0], id) {
		t.Errorf("the model was shown %q, want %s", shown, id)
	}
	if why := o.run("why", id); !strings.Contains(why, "claude-code") {
		t.Errorf("why: %s", why)
	}
	for _, tool := range []string{"message_send", "reminder_create", "action_status", "action_cancel"} {
		if !m.tools[tool] {
			t.Errorf("the model was not offered %s", tool)
		}
	}
}
