//go:build accept

package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
)

func opencode(t *testing.T) string {
	return installed(t, "opencode", "opencode-linux-x64", "bin", "opencode")
}

// TestOpenCode_Connects has OpenCode start the hub. It ends all descendants of
// its servers when it leaves; the hub is everybody's and must not be one.
func TestOpenCode_Connects(t *testing.T) {
	a := newAgent(t, opencode(t))
	a.write(".config/opencode/opencode.json", a.own(readme(t, a.readme, "**OpenCode**")))
	if out := a.must("mcp", "list"); !strings.Contains(out, "hearken connected") {
		t.Errorf("mcp list: %s", out)
	}
	a.checkHubRuns()
}

// TestOpenCode_TakesNotes has the scripted model drive OpenCode.
func TestOpenCode_TakesNotes(t *testing.T) {
	root := engine(t)
	path := opencode(t)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	c := newConversation(t)
	m := newModel(t, c.next)
	a := joinHub(t, h, path)
	servers := a.own(readme(t, a.readme, "**OpenCode**"))
	a.write(".config/opencode/opencode.json", fmt.Sprintf(`{"model": "scripted/model", "small_model": "scripted/model",
		"provider": {"scripted": {"npm": "@ai-sdk/anthropic", "options": {"baseURL": "%s/v1", "apiKey": "none"},
			"models": {"model": {"name": "Scripted", "tool_call": true}}}},
		%s`, m.URL, strings.TrimPrefix(strings.TrimSpace(servers), "{")))
	out := a.must("run", "--model", "scripted/model", "Take notes of what is said.")
	if !strings.Contains(out, "Done.") {
		t.Errorf("OpenCode said %q", out)
	}
	c.check(m.results())
}

func TestGemini_Connects(t *testing.T) {
	a := newAgent(t, node(t), installed(t, "gemini", "@google", "gemini-cli", "bundle", "gemini.js"))
	a.write(".gemini/trustedFolders.json", fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, a.dir))
	a.must("mcp", "add", "-s", "user", "hearken", filepath.Join(a.dir, "bin", "hearken"), "--", "--stdio")
	if out := a.must("mcp", "list"); !strings.Contains(out, "hearken: ") || !strings.Contains(out, "Connected") {
		t.Errorf("mcp list: %s", out)
	}
	a.checkHubRuns()
}

// own is a block of the README with the path of this agent's program.
func (a *agent) own(block string) string {
	a.t.Helper()
	const placeholder = "/path/to/bin/hearken"
	if !strings.Contains(block, placeholder) {
		a.t.Fatalf("no %s in %s", placeholder, block)
	}
	return strings.ReplaceAll(block, placeholder, filepath.Join(a.dir, "bin", "hearken"))
}

// write writes a file below the agent's home.
func (a *agent) write(name, text string) {
	a.t.Helper()
	path := filepath.Join(a.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}
