package listen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// A whole conversation, down to the bytes.
func TestHandler_Conversation(t *testing.T) {
	h, _, url := serve(t)
	h.drain = func(in *input) { in.emit(endpoint(2, "Good bye.")) }
	c := dial(t, h, url+pcm16+"&model=nova-3&smart_format=true&interim_results=true&extra=call:7", nil)
	if got := c.head.Get("dg-request-id"); got != c.in.id {
		t.Errorf("dg-request-id %q, want the session's id %q", got, c.in.id)
	}
	c.seconds(4)
	c.in.emit(partial(0.5, "Hello"), endpoint(0.5, "Hello, world."))
	meta := `"metadata":{"request_id":"` + c.in.id + `","model_info":{"name":"local","version":"1.2.3","arch":"local"},"model_uuid":"` +
		modelID("local/local/1.2.3") + `","extra":{"call":"7"}}`
	m := c.next("Results")
	if !m.IsFinal {
		want := `{"type":"Results","channel_index":[0,1],"duration":1,"start":0,"is_final":false,"speech_final":false,` +
			`"channel":{"alternatives":[{"transcript":"Hello","confidence":0.9,"words":[{"word":"hello","start":0.5,"end":1,"confidence":0.9,"punctuated_word":"Hello"}]}]},` +
			meta + `,"from_finalize":false}`
		if m.raw != want {
			t.Errorf("got  %s\nwant %s", m.raw, want)
		}
		m = c.next("Results")
	}
	want := `{"type":"Results","channel_index":[0,1],"duration":1.6,"start":0,"is_final":true,"speech_final":true,` +
		`"channel":{"alternatives":[{"transcript":"Hello, world.","confidence":0.9,"words":[` +
		`{"word":"hello","start":0.5,"end":1,"confidence":0.9,"punctuated_word":"Hello,"},` +
		`{"word":"world","start":1.1,"end":1.6,"confidence":0.9,"punctuated_word":"world."}]}]},` +
		meta + `,"from_finalize":false}`
	if m.raw != want {
		t.Errorf("got  %s\nwant %s", m.raw, want)
	}
	c.text(`{"type":"CloseStream"}`)
	last, ce := c.rest()
	if ce.Code != websocket.StatusNormalClosure {
		t.Errorf("closed with %v", ce)
	}
	if len(last) != 3 || last[0].text(t) != "Good bye." || last[1].text(t) != "" || last[2].Type != "Metadata" {
		t.Fatalf("the end: %+v", last)
	}
	if last[0].Start != 1.6 || last[1].Start != last[0].end() || last[1].end() != 4 {
		t.Errorf("the last results do not reach the end: %s %s", last[0].raw, last[1].raw)
	}
	md := last[2]
	sum := sha256.Sum256(make([]byte, 128000))
	if md.RequestID != c.in.id || md.SHA256 != hex.EncodeToString(sum[:]) || md.Duration != 4 || md.Channels != 1 ||
		len(md.Models) != 1 || md.ModelInfo[md.Models[0]]["arch"] != "local" || !strings.Contains(md.raw, `"transaction_key":"deprecated"`) {
		t.Errorf("summary %s", md.raw)
	}
	var created struct{ Created time.Time }
	if err := json.Unmarshal([]byte(md.raw), &created); err != nil || created.Created.IsZero() {
		t.Errorf("created: %v in %s", err, md.raw)
	}
	<-h.detached
}

// Without audio within 10 s of the start the stream ends, even with KeepAlive.
func TestHandler_NoAudio(t *testing.T) {
	for _, alive := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h, opts, stop := serveWire(t)
			defer stop()
			c := dial(t, h, "ws://wire/v1/listen"+pcm16, opts)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for alive && c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"KeepAlive"}`)) == nil {
					<-time.After(3 * time.Second)
				}
			}()
			_, ce := c.rest()
			if ce.Code != websocket.StatusInternalError || !strings.HasPrefix(ce.Reason, "NET-0001") {
				t.Errorf("closed with %v", ce)
			}
			<-done
			if in := <-h.detached; !in.isFinished() {
				t.Error("the session was left open")
			}
		})
	}
}

// After the first audio, text keeps the stream alive; only silence on the
// connection ends it.
func TestHandler_KeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, opts, stop := serveWire(t)
		defer stop()
		c := dial(t, h, "ws://wire/v1/listen"+pcm16, opts)
		c.sendAudio(make([]byte, 3200))
		start := time.Now()
		for range 20 {
			<-time.After(9 * time.Second)
			c.text(`{"type":"KeepAlive"}`)
		}
		c.sendAudio(make([]byte, 3200))
		_, ce := c.rest()
		if ce.Code != websocket.StatusInternalError || !strings.HasPrefix(ce.Reason, "NET-0001") {
			t.Errorf("closed with %v", ce)
		}
		if got := time.Since(start); got != 190*time.Second {
			t.Errorf("closed after %v, want 10 s after the last audio", got)
		}
		if pcm, _ := c.in.received(); len(pcm[0]) != 3200 {
			t.Errorf("got %d samples", len(pcm[0]))
		}
	})
}

func TestHandler_ControlAsBinary(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16, nil)
	c.seconds(0.5)
	c.sendAudio([]byte(`{"type":"KeepAlive"}`))
	if _, ce := c.rest(); ce.Code != websocket.StatusPolicyViolation || !strings.HasPrefix(ce.Reason, "DATA-0000") {
		t.Errorf("closed with %v", ce)
	}
	if in := <-h.detached; !in.isFinished() {
		t.Error("the session was left open")
	}
}

// An empty message is the end of the stream, and none of its words is lost.
func TestHandler_EmptyBinary(t *testing.T) {
	h, _, url := serve(t)
	h.drain = func(in *input) { in.emit(final(0.1, "one")) }
	c := dial(t, h, url+pcm16, nil)
	c.seconds(1)
	c.sendAudio(nil)
	all, ce := c.rest()
	if ce.Code != websocket.StatusNormalClosure || len(all) != 3 || all[0].text(t) != "one" || all[2].Type != "Metadata" {
		t.Errorf("%v %+v", ce, all)
	}
}

func TestHandler_Undecodable(t *testing.T) {
	tests := []struct{ name, query, data string }{
		{"Other", "", "\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00"},
		{"RawOpus", "?encoding=opus&sample_rate=48000", strings.Repeat("\x78\x01\x02\x03", 20)},
		{"Text", "", strings.Repeat("this is not sound. ", 100)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, _, url := serve(t)
			c := dial(t, h, url+tt.query, nil)
			c.sendAudio([]byte(tt.data))
			if _, ce := c.rest(); ce.Code != websocket.StatusPolicyViolation || !strings.HasPrefix(ce.Reason, "DATA-0000") {
				t.Errorf("closed with %v", ce)
			}
			<-h.detached
		})
	}
}

func TestHandler_Text(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16, nil)
	c.seconds(1)
	for _, s := range []string{`{"type":"Sing"}`, `{"type":5}`, `[]`, `{}`, `{"type":"Finalize","channel":7}`} {
		c.text(s) // nothing happens
	}
	c.in.emit(final(0, "still here"))
	if m := c.next("Results"); m.text(t) != "still here" {
		t.Errorf("%s", m.raw)
	}
	if got := c.in.asked(); len(got) != 0 {
		t.Errorf("finalized %v", got)
	}
	c.text("hello")
	if _, ce := c.rest(); ce.Code != websocket.StatusPolicyViolation || !strings.HasPrefix(ce.Reason, "DATA-0000") {
		t.Errorf("closed with %v", ce)
	}
	c = dial(t, h, url+pcm16, nil)
	c.text(`"` + strings.Repeat("x", maxText) + `"`)
	if _, ce := c.rest(); ce.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", ce)
	}
}

// A client that just goes ends its session.
func TestHandler_Gone(t *testing.T) {
	h, _, url := serve(t)
	for _, leave := range []func(*websocket.Conn){
		func(ws *websocket.Conn) { _ = ws.CloseNow() },
		func(ws *websocket.Conn) { _ = ws.Close(websocket.StatusNormalClosure, "") },
	} {
		c := dial(t, h, url+"?encoding=mulaw&sample_rate=8000", nil)
		c.sendAudio(make([]byte, 8000))
		leave(c.ws)
		in := <-h.detached
		if pcm, _ := in.received(); !in.isFinished() || len(pcm) != 1 || len(pcm[0]) != 16000 {
			t.Errorf("finished %v after %d channels", in.isFinished(), len(pcm))
		}
	}
}

// The times of a new connection begin at 0, whoever was there before.
func TestHandler_Restart(t *testing.T) {
	h, _, url := serve(t)
	for range 2 {
		c := dial(t, h, url+pcm16, nil)
		c.seconds(1)
		c.in.emit(final(0.2, "again"))
		if m := c.next("Results"); m.Start != 0 || m.alternative(t).Words[0].Start != 0.2 {
			t.Errorf("%s", m.raw)
		}
		c.text(`{"type":"CloseStream"}`)
		c.rest()
	}
	if h.inputs[0].id == h.inputs[1].id {
		t.Error("the same session")
	}
}

// A sender that reads nothing for a while later gets every final, and its audio
// is accepted meanwhile.
func TestHandler_SlowReader(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16+"&interim_results=true", nil)
	c.seconds(1)
	text := strings.Repeat("word ", 200)
	const finals = 300
	for i := range finals {
		ev := hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: &hearken.Segment{
			Status: hearken.Confirmed, Text: text, StartTime: float64(i), EndTime: float64(i + 1),
		}}
		unsure := ev
		unsure.Kind = hearken.InputPartial
		// As the hub does: it waits for nobody.
		for _, ev := range []hearken.InputEvent{unsure, ev, finalUntil(float64(i + 1))} {
			poll(t, func() bool { return len(c.in.events) < cap(c.in.events) })
			c.in.emit(ev)
		}
	}
	c.seconds(1)
	c.text(`{"type":"CloseStream"}`)
	all, ce := c.rest()
	got := 0
	for _, m := range all {
		if m.Type == "Results" && m.IsFinal && m.text(t) != "" {
			got++
		}
	}
	if ce.Code != websocket.StatusNormalClosure || got != finals {
		t.Errorf("%d finals and %v, want %d", got, ce, finals)
	}
}

// One that never reads is cut off in the end; its session still finishes.
func TestHandler_HopelessReader(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16, nil)
	c.seconds(1)
	text := strings.Repeat("word ", 20000)
	cut := false
	for !cut {
		select {
		case <-h.detached:
			cut = true
		default:
			c.in.mu.Lock()
			if c.in.closed {
				c.in.mu.Unlock()
				continue
			}
			select {
			case c.in.events <- hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: &hearken.Segment{
				Status: hearken.Confirmed, Text: text, EndTime: 1,
			}}:
			default:
			}
			c.in.mu.Unlock()
		}
	}
	if !c.in.isFinished() {
		t.Error("the session was left open")
	}
}

// A sender faster than real time waits for the engine, and loses nothing.
func TestHandler_FastSender(t *testing.T) {
	h, handler, url := serve(t)
	handler.cfg.Ahead = 5 * time.Second
	c := dial(t, h, url+pcm16, nil)
	const seconds = 200
	sent := make(chan error, 1)
	go func() {
		var err error
		for range seconds {
			err = errorsOr(err, c.ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 32000)))
		}
		sent <- errorsOr(err, c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"CloseStream"}`)))
	}()
	for done := 5; done <= seconds; done += 5 {
		poll(t, func() bool { return c.has() >= done*16000 })
		if n := c.has() / 16000; n > done+2 {
			t.Errorf("%d s of audio wait for the engine", n-done+5)
		}
		c.in.emit(finalUntil(float64(done)))
	}
	all, ce := c.rest()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if ce.Code != websocket.StatusNormalClosure || all[len(all)-1].Duration != seconds {
		t.Errorf("%v after %v s", ce, all[len(all)-1].Duration)
	}
}

func errorsOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Nor does one that sends at once what the engine needs long for: the session
// is not ended before what is left can be drained.
func TestHandler_FastEnd(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16, nil)
	c.seconds(60)
	c.text(`{"type":"CloseStream"}`)
	c.in.emit(finalUntil(5), final(6, "one"))
	c.next("Results")
	c.next("Results")
	if c.in.isFinished() {
		t.Error("the session ended with 53 s of audio to go")
	}
	c.in.emit(finalUntil(55))
	if all, ce := c.rest(); ce.Code != websocket.StatusNormalClosure || all[len(all)-1].Duration != 60 {
		t.Errorf("%v %+v", ce, all)
	}
}

// The engine fails for good.
func TestHandler_EngineFails(t *testing.T) {
	h, _, url := serve(t)
	c := dial(t, h, url+pcm16, nil)
	c.seconds(2)
	c.in.emit(final(0, "before"), hearken.InputEvent{Kind: hearken.InputError, Err: hearken.Errorf(hearken.ProviderConnectionFailed, "gone.")})
	c.in.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopProviderFailed})
	all, ce := c.rest()
	if ce.Code != websocket.StatusInternalError || !strings.HasPrefix(ce.Reason, "NET-0000") {
		t.Errorf("closed with %v", ce)
	}
	if len(all) != 2 || all[0].text(t) != "before" || all[1].Type != "Metadata" {
		t.Errorf("%+v", all)
	}
}

// Somebody stops the session, or takes it.
func TestHandler_EndedElsewhere(t *testing.T) {
	h, _, url := serve(t)
	for _, tt := range []struct {
		last hearken.InputEvent
		code websocket.StatusCode
	}{
		{hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopRequested}, websocket.StatusNormalClosure},
		{hearken.InputEvent{Kind: hearken.InputReplaced}, websocket.StatusPolicyViolation},
		{hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopShutdown}, websocket.StatusGoingAway},
	} {
		c := dial(t, h, url+pcm16, nil)
		c.seconds(1)
		c.in.mu.Lock()
		c.in.finished = true
		c.in.mu.Unlock()
		c.sendAudio(make([]byte, 3200)) // ignored, without harm
		c.in.end(tt.last)
		if _, ce := c.rest(); ce.Code != tt.code {
			t.Errorf("%v: closed with %v, want %v", tt.last, ce, tt.code)
		}
		<-h.detached
	}
}

// The hub ends: the last words still come.
func TestHandler_Close(t *testing.T) {
	h, handler, url := serve(t)
	h.drain = func(in *input) { in.emit(final(0, "last words")) }
	c := dial(t, h, url+pcm16, nil)
	c.seconds(2)
	done := make(chan error, 1)
	go func() { done <- handler.Close(context.Background()) }()
	all, ce := c.rest()
	if ce.Code != websocket.StatusGoingAway || len(all) != 3 || all[0].text(t) != "last words" || all[2].Type != "Metadata" {
		t.Errorf("%v %+v", ce, all)
	}
	if err := <-done; err != nil || handler.Open() != 0 {
		t.Errorf("%v, %d open", err, handler.Open())
	}
	_, response, err := websocket.Dial(t.Context(), url+pcm16, nil)
	if err == nil {
		t.Fatal("it was let in")
	}
	checkRefusal(t, response, http.StatusServiceUnavailable, "Service Unavailable", "shutting down")
}

// An engine that drains for too long does not hold up the end of the hub.
func TestHandler_CloseInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, opts, stop := serveWire(t)
		stuck := make(chan struct{})
		h.drain = func(*input) { <-stuck }
		c := dial(t, h, "ws://wire/v1/listen"+pcm16, opts)
		c.sendAudio(make([]byte, 3200))
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			stop()
		}()
		if _, ce := c.rest(); ce.Code != websocket.StatusGoingAway {
			t.Errorf("closed with %v", ce)
		}
		<-closed
		close(stuck)
	})
}

// The server ends a stream whose key was revoked.
func TestHandler_ContextEnds(t *testing.T) {
	h := newHub()
	handler := newHandler(h)
	ctx, cancel := context.WithCancel(t.Context())
	w := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r.WithContext(ctx)) })
	server := newServer(t, handler, w)
	c := dial(t, h, server+pcm16, nil)
	c.seconds(1)
	cancel()
	if _, ce := c.rest(); ce.Code != websocket.StatusGoingAway {
		t.Errorf("closed with %v", ce)
	}
	if in := <-h.detached; !in.isFinished() {
		t.Error("the session was left open")
	}
}

func TestHandler_LongReasons(t *testing.T) {
	for _, e := range []*ending{endIdle, endNoAudio, endEngine, endHub, endText, endControl, endTooBig, endReplaced, endShutdown} {
		if len(e.reason) > 123 {
			t.Errorf("%d bytes: %s", len(e.reason), e.reason)
		}
	}
}
