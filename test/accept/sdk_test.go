//go:build accept

package accept

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestSDK has the official TypeScript SDK come in by every door, as a program
// that somebody else writes would.
func TestSDK(t *testing.T) {
	root := engine(t)
	nodejs := node(t)
	h := hubtest.Start(t, "HEARKEN_MODELS="+root)
	key := newKey(t, h)
	for _, transport := range []struct {
		name string
		args []string
	}{
		{"stdio", []string{hubtest.Binary(t), "--stdio"}},
		{"http", []string{h.URL}},
		{"sse", []string{h.URL}},
		{"ws", []string{h.URL}},
		{"stdio2026", []string{hubtest.Binary(t), "--stdio"}},
		{"http2026", []string{h.URL}},
	} {
		t.Run(transport.name, func(t *testing.T) {
			if strings.HasSuffix(transport.name, "2026") {
				installed(t, "client", "@modelcontextprotocol", "client", "package.json")
			} else {
				installed(t, "sdk", "@modelcontextprotocol", "sdk", "package.json")
			}
			env := append(slices.Clone(h.Env), "CLIENTS="+os.Getenv("HEARKEN_ACCEPT_CLIENTS"))
			if transport.name == "ws" { // the others let this computer's processes in
				env = append(env, "KEY="+key)
			}
			saw := useSDK(t, env, nodejs, append([]string{"sdk.mjs", transport.name}, transport.args...))
			saw.check(t, transport.name)
		})
	}
}

// What the script saw.
type saw struct {
	Server                                 struct{ Name, Version string }
	Instructions                           string
	Tools, Heard, Sessions                 []string
	Lines                                  []int
	Beside, QuietSeconds, CancelledSeconds float64
	Quiet, Found                           int
	Cancelled, Again, Unknown, Gone        *struct {
		Code    any
		Message string
	}
	Stopped struct{ Status string }
	Invalid bool
	SRT     string
}

func (s *saw) check(t *testing.T, transport string) {
	if s.Server.Name != "hearken" || s.Instructions == "" {
		t.Errorf("server %+v, instructions %q", s.Server, s.Instructions)
	}
	if !slices.Contains(s.Tools, "start_transcription") || len(s.Tools) < 10 {
		t.Errorf("tools %v", s.Tools)
	}
	if s.Quiet != 0 || s.QuietSeconds < 2 || s.Beside > s.QuietSeconds-0.5 {
		t.Errorf("a wait of 2 s took %.2f s with %d segments, a call beside it %.2f s", s.QuietSeconds, s.Quiet, s.Beside)
	}
	if s.Cancelled == nil || s.CancelledSeconds > 5 {
		t.Errorf("cancelled after %.2f s: %v", s.CancelledSeconds, s.Cancelled)
	}
	if !strings.Contains(plain(strings.Join(s.Heard, " ")), theWords) {
		t.Errorf("transcript %q", s.Heard)
	}
	for i, line := range s.Lines {
		if line != i+1 {
			t.Errorf("lines %v: not each of them once", s.Lines)
			break
		}
	}
	if s.Stopped.Status != "stopped" {
		t.Errorf("stop: %+v", s.Stopped)
	}
	if s.Again == nil || s.Again.Code != -32002.0 {
		t.Errorf("second stop: %+v", s.Again)
	}
	if s.Unknown == nil || s.Unknown.Code != -32001.0 || s.Gone == nil || s.Gone.Code != -32001.0 {
		t.Errorf("unknown session: %+v; deleted session: %+v", s.Unknown, s.Gone)
	}
	if !s.Invalid {
		t.Error("a limit of 0 was taken")
	}
	if s.Found == 0 || !strings.Contains(plain(s.SRT), "country") || !strings.Contains(s.SRT, " --> ") {
		t.Errorf("%d found; srt %q", s.Found, s.SRT)
	}
	if !slices.Contains(s.Sessions, "SDK by "+transport) {
		t.Errorf("sessions %q", s.Sessions)
	}
	t.Logf("%s %s: wait of 2 s %.2f s, a call beside it %.3f s, cancelled after %.2f s", s.Server.Name, s.Server.Version, s.QuietSeconds, s.Beside, s.CancelledSeconds)
}

// useSDK runs the script, and sends sound when the script asks for it.
func useSDK(t *testing.T, env []string, nodejs string, args []string) *saw {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pcm, err := os.ReadFile(recording(t, spoken))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, nodejs, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.WaitDelay = env, &out, 5*time.Second
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if endpoint, ok := strings.CutPrefix(lines.Text(), "endpoint "); ok {
			go func() { sent <- send(ctx, endpoint, pcm) }()
			continue
		}
		errs.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	var s saw
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("%v in %s%s", err, &errs, &out)
	}
	if err := <-sent; err != nil {
		t.Errorf("send: %v", err)
	}
	return &s
}
