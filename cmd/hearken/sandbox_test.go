//go:build !windows

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
)

// A sandbox is a data directory with its own environment, for hubs in other
// processes.
type sandbox struct {
	*testing.T
	data string
	env  []string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	p := &sandbox{T: t, data: filepath.Join(t.TempDir(), "data")}
	p.env = isolatedEnv(shortDir(t), p.data)
	t.Cleanup(func() { stopHub(t, p.data) })
	return p
}

// stdio starts an agent's server, as the agent would.
func (p *sandbox) stdio() *mcp.ClientSession {
	p.Helper()
	cmd := exec.Command("hearken", "--stdio")
	cmd.Env = p.env
	var log bytes.Buffer
	cmd.Stderr = &log
	s := p.connect(&mcp.CommandTransport{Command: cmd})
	p.Cleanup(func() {
		if p.Failed() {
			p.Logf("stderr of --stdio:\n%s", &log)
		}
	})
	return s
}

func (p *sandbox) connect(transport mcp.Transport) *mcp.ClientSession {
	p.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(p.Context(), transport, nil)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { s.Close() })
	return s
}

// hub waits until the hub of the sandbox serves HTTP.
func (p *sandbox) hub() pipe.HubInfo {
	p.Helper()
	var h pipe.HubInfo
	if !eventually(func() (ok bool) { h, ok = pipe.ReadHubInfo(p.data); return ok && h.HTTP != "" }) {
		p.Fatalf("no hub: %+v", h)
	}
	return h
}

type object = map[string]any

// tool calls a tool and fails if it does.
func tool[Out any](t *testing.T, s *mcp.ClientSession, name string, args object) (out Out) {
	t.Helper()
	out, err := tryTool[Out](t.Context(), s, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func tryTool[Out any](ctx context.Context, s *mcp.ClientSession, name string, args object) (out Out, err error) {
	return call[Out](ctx, &client{session: s}, name, args)
}

type started struct {
	SessionID  string
	WSEndpoint string
}

// send sends seconds of audio to a session and disconnects.
func send(t *testing.T, endpoint string, seconds int) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), endpoint+"&encoding=linear16&sample_rate=16000&channels=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	go func() {
		for { // read what the hub sends, so that it never waits for us
			if _, _, err := conn.Read(context.Background()); err != nil {
				return
			}
		}
	}()
	for range seconds * 10 {
		if err := conn.Write(t.Context(), websocket.MessageBinary, make([]byte, hearken.SampleRate/10*2)); err != nil {
			t.Fatal(err)
		}
	}
	conn.Close(websocket.StatusGoingAway, "") // with 1000 the session would end
}

// await reads a session until it has n entries and returns their texts.
func await(t *testing.T, s *mcp.ClientSession, id string, n int) []string {
	t.Helper()
	var page transcriptPage
	if !eventually(func() bool {
		page = tool[transcriptPage](t, s, "get_transcription", object{"sessionId": id})
		return len(page.Segments) >= n
	}) {
		t.Fatalf("only %d entries of %d came", len(page.Segments), n)
	}
	var texts []string
	for _, s := range page.Segments {
		texts = append(texts, s.Text)
	}
	return texts
}

// Two agents on stdio and one client on HTTP share a session while audio comes
// in. It continues after the agent that started it has disconnected.
func TestShared(t *testing.T) {
	p := newSandbox(t)
	first := p.stdio()
	hub := p.hub()
	second := p.stdio()
	third := p.connect(&mcp.StreamableClientTransport{Endpoint: hub.HTTP + "/mcp", DisableStandaloneSSE: true})

	s := tool[started](t, first, "start_transcription", object{"title": "together"})
	if !strings.HasPrefix(s.WSEndpoint, "ws"+strings.TrimPrefix(hub.HTTP, "http")+"/audio/"+s.SessionID) {
		t.Errorf("wsEndpoint is %s, the hub is at %s", s.WSEndpoint, hub.HTTP)
	}
	send(t, s.WSEndpoint, 2)
	before := await(t, first, s.SessionID, 3)
	if err := first.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	send(t, s.WSEndpoint, 2)
	for _, reader := range []*mcp.ClientSession{second, third} {
		after := await(t, reader, s.SessionID, 6)
		if strings.Join(after[:3], "|") != strings.Join(before[:3], "|") {
			t.Errorf("one read %q, another %q", before, after)
		}
	}
	if p.hub().PID != hub.PID {
		t.Error("the hub is another one")
	}
	tool[object](t, second, "stop_transcription", object{"sessionId": s.SessionID})
	list := tool[sessionList](t, third, "list_sessions", nil)
	if len(list.Sessions) != 1 || list.Sessions[0].Status != hearken.Stopped || list.Sessions[0].Title != "together" {
		t.Errorf("got %+v", list)
	}
}

// command runs a command in the sandbox and returns its output.
func (p *sandbox) command(args ...string) string {
	p.Helper()
	cmd := exec.Command("hearken", args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("hearken %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The commands work on an active session, and after the hub has ended.
func TestCommands(t *testing.T) {
	p := newSandbox(t)
	agent := p.stdio()
	hub := p.hub()
	s := tool[started](t, agent, "start_transcription", object{"title": "standup"})
	send(t, s.WSEndpoint, 40)
	texts := await(t, agent, s.SessionID, 50)
	tool[object](t, agent, "save_note", object{"sessionId": s.SessionID, "text": "a note"})
	checkCommands := func() {
		t.Helper()
		for _, tt := range []struct {
			args []string
			want string
		}{
			{[]string{"sessions"}, s.SessionID},
			{[]string{"show"}, texts[0]},
			{[]string{"show", "-n", "1", s.SessionID[:13]}, "word "},
			{[]string{"search", "word", "3"}, texts[3]},
			{[]string{"export", "-f", "srt"}, "-->"},
			{[]string{"export", "-f", "md"}, "a note"},
			{[]string{"export", "--format=json", s.SessionID}, texts[49]},
			{[]string{"export", "--format=json"}, `"note":{"sessionId":"` + s.SessionID + `","text":"a note"`},
			{[]string{"export", "-f", "toon"}, "standup"},
		} {
			if out := p.command(tt.args...); !strings.Contains(out, tt.want) {
				t.Errorf("hearken %s lacks %q:\n%s", strings.Join(tt.args, " "), tt.want, out)
			}
		}
	}
	checkCommands()
	tool[object](t, agent, "stop_transcription", object{"sessionId": s.SessionID})
	if n := strings.Count(p.command("show"), "word "); n < 79 {
		t.Errorf("show gives %d entries", n)
	}
	agent.Close()
	stopHub(t, p.data)
	checkCommands() // with the hub in the same process
	if out := p.command("delete", "--yes", "last"); !strings.Contains(out, "Deleted "+s.SessionID) {
		t.Errorf("delete says %q", out)
	}
	if out := p.command("sessions", "--json"); strings.Contains(out, s.SessionID) {
		t.Errorf("the session still exists: %s", out)
	}
	if alive(hub.PID) {
		t.Error("the hub is still running")
	}
}

// If the hub is killed, its agents continue with the next one, which still has
// every word that they have seen.
func TestKilled(t *testing.T) {
	p := newSandbox(t)
	agent := p.stdio()
	hub := p.hub()
	s := tool[started](t, agent, "start_transcription", nil)
	send(t, s.WSEndpoint, 3)
	before := await(t, agent, s.SessionID, 5)

	if err := syscall.Kill(hub.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var after transcriptPage
	if !eventually(func() bool {
		// A call that was under way is answered with an error, once.
		var err error
		after, err = tryTool[transcriptPage](t.Context(), agent, "get_transcription", object{"sessionId": s.SessionID})
		return err == nil
	}) {
		t.Fatal("the agent did not reconnect")
	}
	if next := p.hub(); next.PID == hub.PID {
		t.Error("the hub is still the same")
	}
	if len(after.Segments) < len(before) {
		t.Fatalf("%d entries are left of %d", len(after.Segments), len(before))
	}
	for i := range before {
		if after.Segments[i].Text != before[i] {
			t.Errorf("entry %d was %q and is %q", i, before[i], after.Segments[i].Text)
		}
	}
	if after.Status != hearken.Active {
		t.Errorf("the session is %s and does not wait for its sender", after.Status)
	}
}

// The wsEndpoint names the proxy.
func TestPublicURL(t *testing.T) {
	p := newSandbox(t)
	p.env = append(p.env, "PUBLIC_URL=https://hearken.example.org/speech/")
	s := tool[started](t, p.stdio(), "start_transcription", nil)
	if want := "wss://hearken.example.org/speech/audio/" + s.SessionID; !strings.HasPrefix(s.WSEndpoint, want) {
		t.Errorf("wsEndpoint is %s, want %s", s.WSEndpoint, want)
	}
}

// Many agents that start at the same moment start one hub.
func TestStarters(t *testing.T) {
	p := newSandbox(t)
	pids := make(chan int)
	for range 4 {
		go func() {
			cmd := exec.Command("hearken", "--stdio")
			cmd.Env, cmd.Stdin = p.env, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			out, err := cmd.CombinedOutput()
			holder, _ := pipe.ReadHubInfo(p.data)
			if err != nil || !bytes.Contains(out, []byte(`"id":1`)) {
				t.Errorf("%v: %s", err, out)
			}
			pids <- holder.PID
		}()
	}
	seen := map[int]bool{}
	for range 4 {
		seen[<-pids] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d hubs were started", len(seen))
	}
	log, err := os.ReadFile(filepath.Join(p.data, pipe.LogName))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "hub started"); n != 1 {
		t.Errorf("%d hubs were started:\n%s", n, log)
	}
}

// An agent that ends all descendants of its servers must not end the hub that
// others share.
func TestSpawnedHubIsNobodysChild(t *testing.T) {
	p := newSandbox(t)
	p.stdio()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.hub().PID), "status"))
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "PPid:\t")
	parent, _, _ := strings.Cut(rest, "\n")
	command, err := os.ReadFile(filepath.Join("/proc", parent, "cmdline"))
	if err == nil && strings.Contains(string(command), "hearken") {
		t.Errorf("the hub is a child of %q", command)
	}
}
