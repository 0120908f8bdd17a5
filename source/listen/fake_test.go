package listen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A hub is a small stand-in whose engine says what a test has it say.
type hub struct {
	mu       sync.Mutex
	requests []hearken.StartRequest
	inputs   []*input
	started  chan *input // gets one for each stream
	detached chan *input // gets one for each Detach
	refusal  error       // of Start
	// drain is what the engine still has to say when a stream ends.
	drain func(in *input)
}

func newHub() *hub {
	return &hub{started: make(chan *input, 100), detached: make(chan *input, 100)}
}

func (h *hub) Start(_ context.Context, req hearken.StartRequest) (*hearken.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refusal != nil {
		return nil, h.refusal
	}
	h.requests = append(h.requests, req)
	provider := req.Provider
	if provider == "" {
		provider = "local"
	}
	return &hearken.Session{
		ID: fmt.Sprintf("11111111-2222-3333-4444-%012d", len(h.requests)), Provider: provider,
		Config: hearken.SessionConfig{Model: req.Model},
	}, nil
}

func (h *hub) Attach(_ context.Context, id, principal string) (hearken.Input, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := &input{hub: h, id: id, principal: principal, events: make(chan hearken.InputEvent, 32)}
	in.recorded = h.requests[len(h.requests)-1].Recorded
	h.inputs = append(h.inputs, in)
	h.started <- in
	return in, nil
}

// request is what the newest stream asked for.
func (h *hub) request() hearken.StartRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[len(h.requests)-1]
}

type input struct {
	hub           *hub
	id, principal string
	recorded      bool

	mu        sync.Mutex
	events    chan hearken.InputEvent
	closed    bool
	pcm       [][]int16
	described []any
	finalized [][]hearken.Origin
	finished  bool
}

func (in *input) Received() int64 { return 0 }
func (in *input) Epoch() int      { return 1 }

func (in *input) Describe(encoding string, sampleRate, channels int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.described = []any{encoding, sampleRate, channels}
	return nil
}

func (in *input) Write(channels ...[]int16) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.finished {
		return hearken.Errorf(hearken.SessionAlreadyStopped, "the session is stopped.")
	}
	if in.pcm == nil {
		in.pcm = make([][]int16, len(channels))
	}
	for i, c := range channels {
		in.pcm[i] = append(in.pcm[i], c...)
	}
	return nil
}

func (in *input) Skip(time.Duration, string) error  { return nil }
func (in *input) Events() <-chan hearken.InputEvent { return in.events }

func (in *input) Finalize(channels ...hearken.Origin) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.finalized = append(in.finalized, channels)
	if in.recorded && !in.closed { // nobody waits for the words
		for i, c := range in.pcm {
			in.events <- hearken.InputEvent{Kind: hearken.InputProgress, Origin: channelOrigins[i], Seconds: float64(len(c)) / 16000}
		}
	}
	return nil
}

func (in *input) Finish() error {
	in.mu.Lock()
	if in.finished {
		in.mu.Unlock()
		return hearken.Errorf(hearken.SessionAlreadyStopped, "the session is stopped.")
	}
	in.finished = true
	in.mu.Unlock()
	go func() {
		if in.hub.drain != nil {
			in.hub.drain(in)
		}
		in.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopFinished})
	}()
	return nil
}

func (in *input) Detach() {
	in.end(hearken.InputEvent{})
	in.hub.detached <- in
}

// emit has the hub say something.
func (in *input) emit(events ...hearken.InputEvent) {
	for _, ev := range events {
		in.mu.Lock()
		if !in.closed {
			in.events <- ev
		}
		in.mu.Unlock()
	}
}

func (in *input) end(last hearken.InputEvent) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.closed = true
	if last.Kind != "" {
		in.events <- last
	}
	close(in.events)
}

// received is the samples of each channel that came, and how they were
// described.
func (in *input) received() (pcm [][]int16, described []any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range in.pcm {
		pcm = append(pcm, append([]int16(nil), c...))
	}
	return pcm, in.described
}

func (in *input) isFinished() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.finished
}

func (in *input) asked() [][]hearken.Origin {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([][]hearken.Origin(nil), in.finalized...)
}

// said makes a segment of words of half a second each with a tenth between
// them.
func said(o hearken.Origin, start float64, text string) *hearken.Segment {
	confidence := 0.9
	seg := &hearken.Segment{Origin: o, Status: hearken.Confirmed, Text: text, StartTime: start, Confidence: &confidence, Language: "en"}
	at := start
	for w := range strings.FieldsSeq(text) {
		seg.Words = append(seg.Words, hearken.Word{Word: w, StartTime: at, EndTime: at + 0.5, Confidence: &confidence})
		seg.EndTime = at + 0.5
		at += 0.6
	}
	return seg
}

func final(start float64, text string) hearken.InputEvent {
	return hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.Microphone, Segment: said(hearken.Microphone, start, text)}
}

func endpoint(start float64, text string) hearken.InputEvent {
	ev := final(start, text)
	ev.Endpoint = true
	return ev
}

func partial(start float64, text string) hearken.InputEvent {
	ev := final(start, text)
	ev.Kind, ev.Segment.Status = hearken.InputPartial, hearken.Unconfirmed
	return ev
}

func finalUntil(seconds float64) hearken.InputEvent {
	return hearken.InputEvent{Kind: hearken.InputProgress, Origin: hearken.Microphone, Seconds: seconds}
}

// far makes an event one of the second channel.
func far(ev hearken.InputEvent) hearken.InputEvent {
	ev.Origin = hearken.System
	if ev.Segment != nil {
		ev.Segment.Origin = hearken.System
	}
	return ev
}

func newHandler(h *hub) *Handler {
	return New(Config{
		Sessions:  h,
		Providers: []string{"local", "openai", "deepgram"},
		Version:   "1.2.3",
		Principal: func(r *http.Request) (string, error) {
			switch p := r.Header.Get("X-Principal"); p {
			case "nobody":
				return "", hearken.Errorf(hearken.Unauthorized, "Invalid credentials.")
			case "other":
				return "", hearken.Errorf(hearken.Forbidden, "This key may not transcribe.")
			default:
				return p, nil
			}
		},
	})
}

// serve runs the handler with a fake hub.
func serve(t *testing.T) (*hub, *Handler, string) {
	t.Helper()
	h := newHub()
	handler := newHandler(h)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		shut(t, handler)
		server.Close()
	})
	return h, handler, "ws" + strings.TrimPrefix(server.URL, "http") + "/v1/listen"
}

func shut(t *testing.T, handler *Handler) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := handler.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// A client is a program written for Deepgram.
type client struct {
	t    *testing.T
	ws   *websocket.Conn
	in   *input // its session, at the hub
	head http.Header
}

const pcm16 = "?encoding=linear16&sample_rate=16000"

func dial(t *testing.T, h *hub, url string, opts *websocket.DialOptions) *client {
	t.Helper()
	ws, response, err := websocket.Dial(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 24)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &client{t, ws, <-h.started, response.Header}
}

// A message is one of the hub's.
type message struct {
	Type         string
	ChannelIndex []int `json:"channel_index"`
	Duration     float64
	Start        float64
	IsFinal      bool            `json:"is_final"`
	SpeechFinal  bool            `json:"speech_final"`
	FromFinalize bool            `json:"from_finalize"`
	Channel      json.RawMessage // differs by type
	LastWordEnd  float64         `json:"last_word_end"`
	Timestamp    float64
	RequestID    string `json:"request_id"`
	SHA256       string
	Channels     int
	Models       []string
	ModelInfo    map[string]map[string]string `json:"model_info"`
	Warnings     []warning

	raw string
}

func (m message) end() float64 { return m.Start + m.Duration }

func (m message) alternative(t *testing.T) alternative {
	t.Helper()
	var c channel
	if err := json.Unmarshal(m.Channel, &c); err != nil {
		t.Fatalf("%v in %s", err, m.raw)
	}
	return c.Alternatives[0]
}

func (m message) text(t *testing.T) string { return m.alternative(t).Transcript }

// read returns the next message, or how the connection was closed.
func (c *client) read() (message, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	_, b, err := c.ws.Read(ctx)
	if err != nil {
		return message{}, err
	}
	m := message{raw: string(b)}
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Errorf("%v in %s", err, b)
	}
	return m, nil
}

func (c *client) next(kind string) message {
	c.t.Helper()
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	if m.Type != kind {
		c.t.Fatalf("%s, want %s", m.raw, kind)
	}
	return m
}

// rest reads everything up to the close.
func (c *client) rest() ([]message, websocket.CloseError) {
	c.t.Helper()
	var all []message
	for {
		m, err := c.read()
		if err == nil {
			all = append(all, m)
			continue
		}
		ce := websocket.CloseError{}
		if !errors.As(err, &ce) {
			c.t.Fatalf("not closed: %v", err)
		}
		return all, ce
	}
}

func (c *client) sendAudio(b []byte) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageBinary, b); err != nil {
		c.t.Fatal(err)
	}
}

// seconds sends silence and waits until the hub has it.
func (c *client) seconds(n float64) {
	c.t.Helper()
	had := c.has()
	c.sendAudio(make([]byte, int(n*16000)*2))
	poll(c.t, func() bool { return c.has() >= had+int(n*16000) })
}

// has is how many samples the hub has.
func (c *client) has() int {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if len(c.in.pcm) == 0 {
		return 0
	}
	return len(c.in.pcm[0])
}

func (c *client) text(s string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

// poll waits until a condition holds.
func poll(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the condition never held")
		}
	}
}

// A wire is a network of one server, for tests in which time is not real.
type wire struct{ conns chan net.Conn }

func (w wire) Accept() (net.Conn, error) {
	c, ok := <-w.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (w wire) Close() error   { close(w.conns); return nil }
func (w wire) Addr() net.Addr { return &net.UnixAddr{Name: "wire"} }

// serveWire is serve in a bubble; call the function it returns at the end.
func serveWire(t *testing.T) (h *hub, opts *websocket.DialOptions, stop func()) {
	h = newHub()
	handler := newHandler(h)
	w := wire{make(chan net.Conn)}
	server := &http.Server{Handler: handler}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(w)
	}()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		w.conns <- theirs
		return ours, nil
	}}
	return h, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}, func() {
		shut(t, handler)
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	}
}
