package ws

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

func asClose(err error, ce *websocket.CloseError) bool { return errors.As(err, ce) }

// ramp is audio in which every sample differs.
func ramp(n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(i*3 - 8000)
	}
	return out
}

func TestHandler_Conversation(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	if diff := cmp.Diff(message{"type": "ready", "receivedSamples": 0.0, "epoch": 7.0}, c.next()); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	c.text(`{"type":"config","encoding":"linear16","sampleRate":16000,"channels":1}`)
	pcm := ramp(16000)
	for chunk := range slices.Chunk(audio.AppendBytes(nil, pcm), 3201) { // odd on purpose
		c.sendAudio(chunk)
	}
	if diff := cmp.Diff(message{"type": "ack", "samples": 16000.0}, c.next()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.audio(); len(got) != 1 || !slices.Equal(got[0], pcm) {
		t.Error("the hub did not get what was sent")
	}
	if diff := cmp.Diff([]any{"linear16", 16000, 1}, h.declared); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}

	events := h.sender().events
	segment := &hearken.Segment{ID: "s1", Text: "Olá", StartTime: 0.5}
	for _, ev := range []hearken.InputEvent{
		{Kind: hearken.InputSpeechStarted, Seconds: 0.5},
		{Kind: hearken.InputPartial, Segment: segment},
		{Kind: hearken.InputFinal, Segment: segment},
		{Kind: hearken.InputFinal, Segment: &hearken.Segment{Text: "Olá", StartTime: 0.5, Event: hearken.EventGap}},
		{Kind: hearken.InputLag, Seconds: 1.5},
		{Kind: hearken.InputDropped, Seconds: 2},
		{Kind: hearken.InputError, Err: hearken.Errorf(hearken.ProviderConnectionFailed, "no engine.")},
		{Kind: hearken.InputError, Err: errors.New("a secret of the hub")},
	} {
		events <- ev
	}
	for _, want := range []message{
		{"type": "speechStarted", "time": 0.5},
		{"type": "partial"},
		{"type": "final"},
		{"type": "final", "event": "gap"},
		{"type": "lag", "seconds": 1.5},
		{"type": "dropped", "seconds": 2.0},
		{"type": "error", "code": "provider_connection_failed", "message": "no engine."},
		{"type": "error", "code": "internal", "message": "the hub failed; its log says why."},
	} {
		got := c.next()
		if s, ok := got["segment"].(map[string]any); ok {
			if words, ok := s["words"].([]any); s["text"] != "Olá" || s["startTime"] != 0.5 || !ok || len(words) != 0 {
				t.Errorf("segment %v", s)
			}
			delete(got, "segment")
			if kind, ok := s["event"]; ok {
				got["event"] = kind
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	c.text(`{"type":"finish"}`)
	if diff := cmp.Diff(message{"type": "closed", "reason": "finished"}, c.until("closed")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ce := c.closed(); ce.Code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", ce)
	}
	<-h.detached
}

func TestHandler_Formats(t *testing.T) {
	left, right := ramp(1600), ramp(1600)
	slices.Reverse(right)
	wav := audio.EncodeWAV(16000, left, right)
	tests := []struct {
		query    string
		data     []byte
		declared []any
		samples  int
		ack      float64
	}{
		{"?encoding=linear16&sample_rate=16000&channels=1", audio.AppendBytes(nil, left), []any{"linear16", 16000, 1}, 1600, 1600},
		{"?encoding=linear16&sample_rate=48000", audio.AppendBytes(nil, ramp(4800)), []any{"linear16", 48000, 1}, 1600, 4800},
		{"?encoding=linear16&sample_rate=16000&channels=2", wav[44:], []any{"linear16", 16000, 2}, 1600, 1600},
		{"?encoding=mulaw", make([]byte, 800), []any{"mulaw", 8000, 1}, 1600, 800},
		{"?encoding=alaw&sample_rate=8000", make([]byte, 800), []any{"alaw", 8000, 1}, 1600, 800},
		{"", wav, []any{"wav", 16000, 2}, 1600, 1600},
		{"?channels=1", wav, []any{"wav", 16000, 1}, 1600, 1600},
		{"?encoding=linear16", wav, []any{"linear16", 16000, 1}, len(wav) / 2, float64(len(wav) / 2)},
		{"", audio.AppendBytes(nil, left), []any{"linear16", 16000, 1}, 1600, 1600},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.query, " ", tt.declared), func(t *testing.T) {
			h, _, url := serve(t, 0)
			c := dial(t, url+known+tt.query, "a")
			c.until("ready")
			for chunk := range slices.Chunk(tt.data, 999) {
				c.sendAudio(chunk)
			}
			c.text(`{"type":"finish"}`)
			if got := c.until("ack")["samples"]; got != tt.ack {
				t.Errorf("acknowledged %v, want %v", got, tt.ack)
			}
			c.closed()
			if diff := cmp.Diff(tt.declared, h.declared); diff != "" {
				t.Errorf("described (-want +got):\n%s", diff)
			}
			got := h.audio()
			if len(got) != tt.declared[2] || len(got[0]) != tt.samples {
				t.Errorf("got %d channels of %d samples", len(got), len(got[0]))
			}
			if len(got) == 2 && !(slices.Equal(got[0], left) && slices.Equal(got[1], right)) {
				t.Error("the channels are not those that were sent")
			}
		})
	}
}

// A sender that returns counts in its own rate.
func TestHandler_Return(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known+"?encoding=mulaw&sample_rate=8000", "a")
	c.until("ready")
	c.sendAudio(make([]byte, 8000))
	_ = c.ws.CloseNow() // in the middle of an utterance
	<-h.detached
	if got := h.audio(); len(got[0]) != 16000 {
		t.Errorf("got %d samples, want all 16000", len(got[0]))
	}
	c = dial(t, url+known+"?encoding=mulaw&sample_rate=8000", "a")
	if got := c.until("ready")["receivedSamples"]; got != 8000.0 {
		t.Errorf("receivedSamples %v, want 8000", got)
	}
}

// A sender that closes with 1000 has finished. Others may come back.
func TestHandler_SenderCloses(t *testing.T) {
	for name, tt := range map[string]struct {
		end      func(*websocket.Conn) error
		finished bool
	}{
		"Normal":    {func(ws *websocket.Conn) error { return ws.Close(websocket.StatusNormalClosure, "") }, true},
		"GoingAway": {func(ws *websocket.Conn) error { return ws.Close(websocket.StatusGoingAway, "") }, false},
		"NoStatus":  {func(ws *websocket.Conn) error { return ws.Close(websocket.StatusNoStatusRcvd, "") }, false},
		"Own":       {func(ws *websocket.Conn) error { return ws.Close(4000, "") }, false},
		"Broken":    {func(ws *websocket.Conn) error { return ws.CloseNow() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, url := serve(t, 0)
			c := dial(t, url+known+"?encoding=mulaw", "a")
			c.until("ready")
			c.sendAudio(make([]byte, 800))
			poll(t, func() bool { got := h.audio(); return len(got) == 1 && len(got[0]) > 1000 })
			_ = tt.end(c.ws)
			<-h.detached
			if h.finished != tt.finished {
				t.Errorf("finished: %v", h.finished)
			}
			if got := h.audio(); len(got[0]) != 1600 {
				t.Errorf("%d samples", len(got[0]))
			}
		})
	}
}

// Mu-law that was declared as PCM16 is noticed.
func TestHandler_Doubt(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known+"?encoding=linear16&sample_rate=8000", "a")
	c.until("ready")
	mulaw := make([]byte, 16000)
	for i := range mulaw { // a tone of 200 Hz
		mulaw[i] = []byte{0xff, 0xa8, 0x98, 0x90, 0x8d, 0x8b, 0x8a, 0x8b, 0x8d, 0x90, 0x98, 0xa8, 0x7f, 0x28, 0x18, 0x10, 0x0d, 0x0b, 0x0a, 0x0b, 0x0d, 0x10, 0x18, 0x28}[i%24]
	}
	c.sendAudio(mulaw)
	c.sendAudio(mulaw)
	if m := c.until("error"); m["code"] != "undecodable" || !strings.Contains(m["message"].(string), "encoding=mulaw") {
		t.Errorf("%v", m)
	}
	c.text(`{"type":"finish"}`)
	for m := c.next(); m["type"] != "closed"; m = c.next() {
		if m["type"] == "error" {
			t.Errorf("again: %v", m)
		}
	}
	if got := h.audio(); len(got[0]) != 32000 {
		t.Errorf("%d samples", len(got[0]))
	}
}

func TestHandler_Refusals(t *testing.T) {
	const unknown = "00000000-0000-0000-0000-000000000000"
	tests := []struct {
		path, principal string
		code            websocket.StatusCode
		name            string
	}{
		{unknown, "a", 4404, "session_not_found"},
		{"not-a-uuid", "a", 4404, "session_not_found"},
		{stopped, "a", 4410, "session_already_stopped"},
		{broken, "a", websocket.StatusInternalError, "internal"},
		{known, "b", 4403, "session_already_active"},
		{known, "nobody", 4401, "unauthorized"},
		{known + "?encoding=opus", "a", 4400, "invalid"},
		{known + "?sample_rate=4000", "a", 4400, "invalid"},
		{known + "?sample_rate=much", "a", 4400, "invalid"},
		{known + "?channels=3", "a", 4400, "invalid"},
		{known + "?channels=0", "a", 4400, "invalid"},
	}
	_, _, url := serve(t, 0)
	first := dial(t, url+known, "a")
	first.until("ready")
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.principal, func(t *testing.T) {
			c := dial(t, url+tt.path, tt.principal)
			m := c.next()
			if m["type"] != "error" || m["code"] != tt.name || m["message"] == "" {
				t.Errorf("frame %v, want an error with %s", m, tt.name)
			}
			if ce := c.closed(); ce.Code != tt.code || ce.Reason == "" {
				t.Errorf("closed with %v, want %d", ce, tt.code)
			}
		})
	}
	// Nothing of this has disturbed the one who sends.
	first.sendAudio(make([]byte, 3200))
	if got := first.until("ack")["samples"]; got != 1600.0 {
		t.Errorf("acknowledged %v", got)
	}
}

func TestHandler_Replaced(t *testing.T) {
	h, _, url := serve(t, 0)
	old := dial(t, url+known, "a")
	old.until("ready")
	c := dial(t, url+known, "a")
	c.until("ready")
	if ce := old.closed(); ce.Code != 4409 {
		t.Errorf("closed with %v, want 4409", ce)
	}
	<-h.detached
	c.sendAudio(make([]byte, 3200))
	c.text(`{"type":"finish"}`)
	c.until("closed")
}

func TestHandler_TextWhereAudioBelongs(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	for _, text := range []string{"hello", `{"type":"sing"}`, `{"type":5}`, `[]`, ""} {
		c.text(text)
		m := c.next()
		if m["type"] != "error" || m["code"] != "invalid" || !strings.Contains(m["message"].(string), "binary messages") {
			t.Errorf("%q: %v", text, m)
		}
	}
	c.sendAudio(make([]byte, 3200))
	c.text(`{"type":"config","encoding":"mulaw"}`)
	if m := c.until("error"); !strings.Contains(m["message"].(string), "before the first audio") {
		t.Errorf("%v", m)
	}
	if got := h.audio(); len(got[0]) != 1600 {
		t.Errorf("got %d samples", len(got[0]))
	}
	for range maxBadFrames {
		_ = c.ws.Write(t.Context(), websocket.MessageText, []byte("hello"))
	}
	if ce := c.closed(); ce.Code != 4400 {
		t.Errorf("closed with %v, want 4400", ce)
	}
}

func TestHandler_BadConfig(t *testing.T) {
	_, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	c.text(`{"type":"config","encoding":"linear16","sampleRate":96000,"channels":1}`)
	if m := c.next(); m["code"] != "invalid" || !strings.Contains(m["message"].(string), "96000") {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != 4400 {
		t.Errorf("closed with %v, want 4400", ce)
	}
}

func TestHandler_Undecodable(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	c.sendAudio([]byte("\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00"))
	if m := c.next(); m["code"] != "undecodable" || !strings.Contains(m["message"].(string), "send PCM16") {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != 4400 {
		t.Errorf("closed with %v, want 4400", ce)
	}
	<-h.detached // the session itself goes on
	if h.finished {
		t.Error("the session was ended")
	}
}

func TestHandler_StoppedMeanwhile(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	h.sender().end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopRequested})
	if m := c.until("closed"); m["reason"] != "requested" {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", ce)
	}
}

func TestHandler_AudioToStopped(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	h.mu.Lock()
	h.finished = true // and no event says so
	h.mu.Unlock()
	c.sendAudio(make([]byte, 3200))
	if m := c.until("error"); m["code"] != "session_already_stopped" {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != 4410 {
		t.Errorf("closed with %v, want 4410", ce)
	}
}

func TestHandler_HugeMessage(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known+"?encoding=linear16", "a")
	c.until("ready")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		w, err := c.ws.Writer(t.Context(), websocket.MessageBinary)
		if err != nil {
			return
		}
		defer w.Close()
		piece := make([]byte, 64<<10)
		for range 1024 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}()
	if m := c.until("error"); m["code"] != "message_too_big" {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v, want 1009", ce)
	}
	<-h.detached
	<-wrote
	runtime.ReadMemStats(&after)
	if n := len(h.audio()[0]) * 2; n > maxMessage {
		t.Errorf("%d bytes of it were accepted", n)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
}

func TestHandler_HugeText(t *testing.T) {
	_, _, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	c.text(strings.Repeat("x", maxText+1))
	if ce := c.closed(); ce.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v, want 1009", ce)
	}
}

// A peer whose cable was cut neither closes nor answers.
func TestHandler_HalfOpen(t *testing.T) {
	h, handler, url := serve(t, 20*time.Millisecond)
	address := strings.TrimPrefix(url, "ws://")
	address = address[:strings.Index(address, "/")]
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	fmt.Fprintf(raw, "GET /audio/%s HTTP/1.1\r\nHost: x\r\nX-Principal: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", known)
	response, err := http.ReadResponse(bufio.NewReader(raw), nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response, err)
	}
	<-h.detached
	if ctx := t.Context(); handler.Close(ctx) != nil {
		t.Error("the connection is still there")
	}
}

// One that is only quiet answers pings and stays.
func TestHandler_Quiet(t *testing.T) {
	h, _, url := serve(t, 200*time.Millisecond)
	pings := make(chan struct{}, 100)
	ws, _, err := websocket.Dial(t.Context(), url+known, &websocket.DialOptions{
		HTTPHeader:     http.Header{"X-Principal": {"a"}},
		OnPingReceived: func(_ context.Context, _ []byte) bool { pings <- struct{}{}; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	go func() {
		for range 6 {
			<-pings
		}
		h.sender().end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopRequested})
	}()
	c := &client{t, ws}
	c.until("closed")
}

// The audio of a sender that never reads is still accepted.
func TestHandler_SlowReader(t *testing.T) {
	h, _, url := serve(t, 0)
	c := dial(t, url+known+"?encoding=linear16", "a")
	in := waitSender(t, h)
	text := strings.Repeat("word ", 20000)
	full := false
	for !full { // until neither the socket nor the events take any more
		select {
		case in.events <- hearken.InputEvent{Kind: hearken.InputFinal, Segment: &hearken.Segment{Text: text}}:
		case <-time.After(200 * time.Millisecond):
			full = true
		}
	}
	for range 20 {
		c.sendAudio(make([]byte, 3200))
	}
	poll(t, func() bool { return in.Received() == 20*1600 })
	_ = c.ws.CloseNow()
	<-h.detached
}

func TestHandler_Close(t *testing.T) {
	h, handler, url := serve(t, 0)
	c := dial(t, url+known, "a")
	c.until("ready")
	done := make(chan error, 1)
	go func() { done <- handler.Close(t.Context()) }()
	if m := c.until("closed"); m["reason"] != hearken.StopShutdown {
		t.Errorf("%v", m)
	}
	if ce := c.closed(); ce.Code != websocket.StatusGoingAway {
		t.Errorf("closed with %v", ce)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	<-h.detached
	if handler.Open() != 0 {
		t.Error("a connection is left")
	}
	_, response, err := websocket.Dial(t.Context(), url+known, nil)
	if err == nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("after Close: %v", err)
	}
}

// A browser that sends its key as a subprotocol needs one agreed to.
func TestHandler_Subprotocol(t *testing.T) {
	_, handler, url := serve(t, 0)
	handler.cfg.Subprotocols = []string{"token"}
	ws, _, err := websocket.Dial(t.Context(), url+known, &websocket.DialOptions{Subprotocols: []string{"token", "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if got := ws.Subprotocol(); got != "token" {
		t.Errorf("agreed to %q", got)
	}
}

func TestHandler_NotAWebSocket(t *testing.T) {
	_, _, url := serve(t, 0)
	response, err := http.Get("http" + strings.TrimPrefix(url, "ws") + known)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusUpgradeRequired || !json.Valid(b) {
		t.Errorf("%d %s", response.StatusCode, b)
	}
}

func waitSender(t *testing.T, h *hub) *input {
	t.Helper()
	poll(t, func() bool { return h.sender() != nil })
	return h.sender()
}

// poll waits until a condition holds.
func poll(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass")
		}
	}
}
