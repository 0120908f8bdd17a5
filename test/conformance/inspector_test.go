package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// The Inspector uses every transport as a person would, one process for each
// call, so a session must outlive the client that started it.
func TestInspector(t *testing.T) {
	node, launcher := script(t, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	h := startHub(t)
	// It keeps its environment from the servers that it starts.
	stdio := []string{h.Bin, "--stdio"}
	for _, v := range h.Env {
		stdio = append(stdio, "-e", v)
	}
	transports := map[string]inspector{
		"stdio":      {node, launcher, h.Env, stdio},
		"http":       {node, launcher, h.Env, []string{h.URL + "/mcp"}},
		"httpModern": {node, launcher, h.Env, []string{h.URL + "/mcp", "--protocol-era", "modern"}},
	}
	t.Run("transport", func(t *testing.T) {
		for name, i := range transports {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				i.lint(t)
				i.session(t, name)
			})
		}
	})
	// They all came to the same hub.
	list, err := json.Marshal(transports["http"].call(t, "list_sessions", nil))
	if err != nil {
		t.Fatal(err)
	}
	for name := range transports {
		if !bytes.Contains(list, []byte(`"Inspected by `+name+`"`)) {
			t.Errorf("the session of %s is not on the list: %s", name, list)
		}
	}
}

// An inspector is the command line for one transport.
type inspector struct {
	node, launcher string
	env, target    []string
}

func (i inspector) run(t *testing.T, args ...string) (stdout []byte, stderr string, code int) {
	t.Helper()
	cmd := command(t, i.env, i.node, append(append([]string{i.launcher, "--cli"}, i.target...), args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.Bytes(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), errs.String(), 0
}

// try calls a tool.
func (i inspector) try(t *testing.T, tool string, args map[string]any) (stdout []byte, stderr string, code int) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if args == nil {
		data = []byte("{}")
	}
	return i.run(t, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", string(data), "--format", "json", "-q")
}

// call calls a tool that must succeed and returns its structured content.
func (i inspector) call(t *testing.T, tool string, args map[string]any) map[string]any {
	t.Helper()
	out, errs, code := i.try(t, tool, args)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", tool, code, out, errs)
	}
	var res struct {
		Result struct{ StructuredContent map[string]any }
	}
	if err := json.Unmarshal(out, &res); err != nil || res.Result.StructuredContent == nil {
		t.Fatalf("%s: %v in %s", tool, err, out)
	}
	return res.Result.StructuredContent
}

// lint has the schemas of all tools judged.
func (i inspector) lint(t *testing.T) {
	t.Helper()
	out, errs, code := i.run(t, "--method", "tools/list", "--strict")
	if code != 0 || strings.Contains(errs, "Warning") || strings.Contains(errs, "Error") {
		t.Errorf("tools/list --strict: exit %d\n%s", code, errs)
	}
	if !bytes.Contains(out, []byte("start_transcription")) {
		t.Errorf("tools/list: %s", out)
	}
}

// session takes a session through its life.
func (i inspector) session(t *testing.T, name string) {
	t.Helper()
	started := i.call(t, "start_transcription", map[string]any{"language": "en", "title": "Inspected by " + name})
	id, _ := started["sessionId"].(string)
	if ws, _ := started["wsEndpoint"].(string); id == "" || !strings.HasPrefix(ws, "ws://") || !strings.Contains(ws, id) {
		t.Fatalf("start_transcription: %v", started)
	}
	this := map[string]any{"sessionId": id}
	if got := i.call(t, "get_transcription", this); got["totalSegments"] != 0.0 {
		t.Errorf("get_transcription: %v", got)
	}
	if got := i.call(t, "get_session_status", this); got["status"] != "active" || got["title"] != "Inspected by "+name {
		t.Errorf("get_session_status: %v", got)
	}
	if got := i.call(t, "stop_transcription", this); got["status"] != "stopped" {
		t.Errorf("stop_transcription: %v", got)
	}
	if _, errs, code := i.try(t, "stop_transcription", this); code != 1 || !strings.Contains(errs, "stopped") {
		t.Errorf("a second stop: exit %d\n%s", code, errs)
	}
}
