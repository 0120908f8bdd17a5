package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// The Inspector comes in by both doors as a person would, one process for each
// call, so a session must outlive the client that started it.
func TestInspector(t *testing.T) {
	node, launcher := script(t, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	h := startHub(t)
	for _, door := range []struct {
		name   string
		target []string
	}{
		{"stdio", []string{h.bin, "--stdio"}},
		{"http", []string{h.url}},
		{"http modern", []string{h.url, "--protocol-era", "modern"}},
	} {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			inspect := func(t *testing.T, args ...string) (stdout []byte, stderr string, code int) {
				t.Helper()
				cmd := command(t, h.env, node, append(append([]string{launcher, "--cli"}, door.target...), args...)...)
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
			call := func(t *testing.T, tool string, args any) map[string]any {
				t.Helper()
				data, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				out, errs, code := inspect(t, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", string(data), "--format", "json", "-q")
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

			if out, errs, code := inspect(t, "--method", "tools/list", "--strict"); code != 0 || strings.Contains(errs, "Warning") || strings.Contains(errs, "Error") {
				t.Errorf("tools/list --strict: exit %d\n%s", code, errs)
			} else if !bytes.Contains(out, []byte("start_transcription")) {
				t.Errorf("tools/list: %s", out)
			}

			started := call(t, "start_transcription", map[string]any{"language": "en", "title": "Inspected"})
			id, _ := started["sessionId"].(string)
			if ws, _ := started["wsEndpoint"].(string); id == "" || !strings.HasPrefix(ws, "ws://") || !strings.Contains(ws, id) {
				t.Fatalf("start_transcription: %v", started)
			}
			if got := call(t, "get_transcription", map[string]any{"sessionId": id}); got["totalSegments"] != 0.0 {
				t.Errorf("get_transcription: %v", got)
			}
			if got := call(t, "get_session_status", map[string]any{"sessionId": id}); got["status"] != "active" || got["title"] != "Inspected" {
				t.Errorf("get_session_status: %v", got)
			}
			if got := call(t, "stop_transcription", map[string]any{"sessionId": id}); got["status"] != "stopped" {
				t.Errorf("stop_transcription: %v", got)
			}
			_, errs, code := inspect(t, "--method", "tools/call", "--tool-name", "stop_transcription", "--tool-args-json", `{"sessionId":"`+id+`"}`, "--format", "json", "-q")
			if code != 1 || !strings.Contains(errs, "stopped") {
				t.Errorf("a second stop: exit %d\n%s", code, errs)
			}
		})
	}
}
