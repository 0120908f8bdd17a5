//go:build !windows

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// crashAt kills this process, like kill -9, when it reaches a failpoint for the
// nth time: "journaled:3".
func crashAt(spec string) func(string) {
	failpoint, times, ok := strings.Cut(spec, ":")
	if !ok {
		return nil
	}
	n, _ := strconv.ParseInt(times, 10, 64)
	var count atomic.Int64
	return func(at string) {
		if at == failpoint && count.Add(1) == n {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is here
		}
	}
}

// kills is how often TestCrash kills the hub; `make torture` sets more.
func kills(t *testing.T) int {
	if s := os.Getenv("HEARKEN_TEST_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 10
	}
	return 200
}

// TestCrash kills the hub many times, inside confirm, journal and persist and at
// random moments, while a sender sends and a reader reads. In the end the session
// still has every line that the reader saw, unchanged, and no word of the script
// is missing or doubled.
func TestCrash(t *testing.T) {
	p := newSandbox(t)
	hub := &crashingHub{sandbox: p, url: "http://" + freeAddress(t)}
	p.env = append(p.env, "PERSIST_INTERVAL_SEGMENTS=2", "MAX_SESSIONS=1", "PORT="+hub.url[strings.LastIndexByte(hub.url, ':')+1:])
	hub.run("")
	session := hub.start()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader := &lineReader{lines: map[int]string{}}
	var work sync.WaitGroup
	work.Go(func() { reader.follow(ctx, hub.url, session.SessionID) })
	work.Go(func() { sendForever(ctx, session.WSEndpoint) })

	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	failpoints := []string{"", "confirm", "journaled", "persist", "persisted"}
	count := map[string]int{}
	for total, idle := kills(t), 0; count["all"] < total; {
		before := reader.seen()
		if !eventually(func() bool { return reader.seen() > before || hub.dead() }) {
			t.Fatalf("nothing was confirmed after kill %d: %v\n%s", count["all"], count, hub.log)
		}
		if hub.failpoint == "" {
			<-time.After(time.Duration(rng.IntN(40)) * time.Millisecond)
			hub.kill()
		} else if !hub.crashes() {
			t.Fatalf("the hub never reached %q", hub.failpoint)
		}
		// A kill counts if the reader saw something since the one before.
		if reader.seen() > before {
			count["all"]++
			reached, _, _ := strings.Cut(hub.failpoint, ":")
			count[reached]++
			idle = 0
		} else if idle++; idle > 20 {
			t.Fatalf("the hub makes no progress: %v", count)
		}
		failpoint := failpoints[rng.IntN(len(failpoints))]
		if failpoint != "" {
			failpoint += ":" + strconv.Itoa(2+rng.IntN(8))
		}
		hub.run(failpoint)
	}
	cancel()
	work.Wait()
	t.Logf("killed %d times: %v; %d lines seen", count["all"], count, reader.seen())
	hub.kill() // it may have died already
	hub.run("")
	reader.check(t, hub, session.SessionID)
	hub.stop()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A crashingHub is the hub that is killed.
type crashingHub struct {
	*sandbox
	url       string
	failpoint string
	cmd       *exec.Cmd
	log       *bytes.Buffer
	gone      chan struct{}
}

// run starts the hub, which kills itself at a failpoint.
func (v *crashingHub) run(failpoint string) {
	v.Helper()
	v.failpoint, v.log, v.gone = failpoint, &bytes.Buffer{}, make(chan struct{})
	v.cmd = exec.Command("hearken", "serve")
	v.cmd.Env = append(v.env, "HEARKEN_TEST_CRASH="+failpoint)
	v.cmd.Stderr = v.log
	if err := v.cmd.Start(); err != nil {
		v.Fatal(err)
	}
	cmd, gone := v.cmd, v.gone
	go func() {
		cmd.Wait()
		close(gone)
	}()
}

func (v *crashingHub) kill() {
	v.cmd.Process.Kill()
	<-v.gone
}

func (v *crashingHub) stop() {
	v.cmd.Process.Signal(syscall.SIGTERM)
	<-v.gone
}

// dead reports whether the hub has ended.
func (v *crashingHub) dead() bool {
	select {
	case <-v.gone:
		return true
	default:
		return false
	}
}

// crashes waits for the hub to kill itself.
func (v *crashingHub) crashes() bool {
	if v.failpoint == "" {
		return false
	}
	select {
	case <-v.gone:
		return true
	case <-time.After(20 * time.Second):
		return false
	}
}

func (v *crashingHub) start() (s started) {
	v.Helper()
	if !eventually(func() bool {
		err := post(v.Context(), v.url, "start_transcription", object{}, &s)
		return err == nil
	}) {
		v.Fatalf("no session: %s", v.log)
	}
	return s
}

// sendForever sends silence at twenty times real time, and reconnects after each
// crash.
func sendForever(ctx context.Context, endpoint string) {
	frame := make([]byte, hearken.SampleRate/10*2)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		conn, _, err := websocket.Dial(ctx, endpoint+"&encoding=linear16&sample_rate=16000&channels=1", nil)
		if err != nil {
			<-tick.C
			continue
		}
		go func() {
			for {
				if _, _, err := conn.Read(ctx); err != nil {
					return
				}
			}
		}()
		for err == nil {
			<-tick.C
			err = conn.Write(ctx, websocket.MessageBinary, frame)
		}
		conn.CloseNow()
	}
}

// A lineReader reads a session as an agent does and remembers every line.
type lineReader struct {
	mu      sync.Mutex
	lines   map[int]string
	changed []string
}

func (w *lineReader) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.lines)
}

func (w *lineReader) follow(ctx context.Context, url, id string) {
	args := object{"sessionId": id, "waitSeconds": 2, "limit": 500}
	for ctx.Err() == nil {
		var page transcriptPage
		if err := post(ctx, url, "get_transcription", args, &page); err != nil {
			<-time.After(2 * time.Millisecond)
			continue
		}
		w.mu.Lock()
		for _, s := range page.Segments {
			if old, ok := w.lines[s.Line]; ok && old != s.Text {
				w.changed = append(w.changed, fmt.Sprintf("line %d: %q became %q", s.Line, old, s.Text))
			}
			w.lines[s.Line] = s.Text
		}
		w.mu.Unlock()
		args["cursor"] = page.Cursor
	}
}

// check compares the session with the lines that were read and with the script.
func (w *lineReader) check(t *testing.T, v *crashingHub, id string) {
	t.Helper()
	for _, c := range w.changed {
		t.Error(c)
	}
	if !eventually(func() bool {
		err := post(t.Context(), v.url, "stop_transcription", object{"sessionId": id}, nil)
		return err == nil || strings.Contains(err.Error(), "stopped")
	}) {
		t.Fatal("the session does not stop")
	}
	args := object{"sessionId": id, "limit": 500}
	line, word := 0, 0
	for more := true; more; {
		var page transcriptPage
		if err := post(t.Context(), v.url, "get_transcription", args, &page); err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Segments {
			if line++; s.Line != line {
				t.Fatalf("line %d comes after line %d", s.Line, line-1)
			}
			if saw, ok := w.lines[line]; ok && saw != s.Text {
				t.Errorf("line %d was seen as %q and is %q", line, saw, s.Text)
			}
			delete(w.lines, line)
			if want := fmt.Sprintf("word %d at %.1f", word, float64(word)/2); s.Text != want {
				t.Fatalf("line %d says %q, want %q", line, s.Text, want)
			}
			word++
		}
		args["cursor"], more = page.Cursor, page.More
	}
	if len(w.lines) > 0 {
		t.Errorf("%d lines that were seen are lost: %v", len(w.lines), w.lines)
	}
}

// post calls a tool as curl would.
func post(ctx context.Context, url, name string, args object, out any) error {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": args}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Result struct{ StructuredContent json.RawMessage }
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Message)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.StructuredContent, out)
}
