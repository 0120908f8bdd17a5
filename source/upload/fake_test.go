package upload

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const session = "11111111-2222-3333-4444-555555555555"

// A hub is a small fake with one engine that follows a script.
type hub struct {
	script     []hearken.Segment // said when the engine has processed them to their end
	steps      chan float64      // seconds that the engine may process next; nil for all it has
	start      error             // of Start
	attach     error             // of Attach
	dies       float64           // the second at which the session ends by itself
	reason     string            // for which it ends then, or when it is finished
	cause      error             // sent before that
	drops      bool              // audio
	noProgress bool              // no progress is reported beyond the last words
	replace    bool              // another sender takes over instead of the end
	crowded    bool              // every other final is lost, because its queue is full

	mu        sync.Mutex
	requests  []hearken.StartRequest
	encoding  string
	pcm       []int16
	processed int64 // samples
	ahead     int64 // the most samples that were not processed yet
	finished  int
	detached  int
	asked     int // for the last words
	lost      int // finals that nobody took
}

func (h *hub) Start(_ context.Context, req hearken.StartRequest) (*hearken.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, req)
	return &hearken.Session{ID: session}, h.start
}

func (h *hub) Attach(_ context.Context, id, principal string) (hearken.Input, error) {
	if h.attach != nil {
		return nil, h.attach
	}
	h.mu.Lock()
	h.pcm, h.processed, h.finished = nil, 0, 0 // of the session before
	h.mu.Unlock()
	in := &input{hub: h, events: make(chan hearken.InputEvent, 32), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	go in.engine()
	return in, nil
}

func (h *hub) seen(f func() bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f()
}

// An input is like the hub's: its queue of events is short and does not wait.
type input struct {
	hub    *hub
	events chan hearken.InputEvent
	finals int
	wake   chan struct{}
	gone   chan struct{}

	mu     sync.Mutex
	closed bool
}

func (in *input) Received() int64                   { return 0 }
func (in *input) Epoch() int                        { return 0 }
func (in *input) Skip(time.Duration, string) error  { return nil }
func (in *input) Events() <-chan hearken.InputEvent { return in.events }

func (in *input) Describe(encoding string, _, _ int) error {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	in.hub.encoding = encoding
	return nil
}

func (in *input) Write(channels ...[]int16) error {
	h := in.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.ended() {
		return hearken.Errorf(hearken.SessionAlreadyStopped, "the session is stopped.")
	}
	h.pcm = append(h.pcm, channels[0]...)
	h.ahead = max(h.ahead, int64(len(h.pcm))-h.processed)
	wake(in.wake)
	return nil
}

func (in *input) Finalize(...hearken.Origin) error {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	in.hub.asked++
	return nil
}

func (in *input) Finish() error {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	if in.ended() {
		return hearken.Errorf(hearken.SessionAlreadyStopped, "the session is stopped.")
	}
	in.hub.finished++
	wake(in.wake)
	return nil
}

func (in *input) Detach() {
	in.end(hearken.InputEvent{})
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	in.hub.detached++
}

func (in *input) ended() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}

func (in *input) push(ev hearken.InputEvent) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	if ev.Kind == hearken.InputFinal && in.hub.crowded {
		if in.finals++; in.finals%2 == 0 {
			in.fill()
			in.hub.lost++ // the engine holds the hub's lock
			return
		}
	}
	select {
	case in.events <- ev:
	default:
		if ev.Kind == hearken.InputFinal {
			in.hub.lost++
		}
	}
}

// fill fills the queue, so that the next event finds no space however fast the
// receiver is.
func (in *input) fill() {
	for {
		select {
		case in.events <- hearken.InputEvent{Kind: hearken.InputProgress}:
		default:
			return
		}
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
		if len(in.events) == cap(in.events) {
			<-in.events
		}
		in.events <- last
	}
	close(in.events)
	close(in.gone)
}

// engine processes the audio and says what its script holds.
func (in *input) engine() {
	next, allowed := 0, math.Inf(1)
	if in.hub.steps != nil {
		allowed = 0
	}
	for {
		select {
		case <-in.wake:
		case s, more := <-in.hub.steps:
			if allowed += s; !more {
				return
			}
		case <-in.gone:
			return
		}
		next = in.listen(next, allowed)
	}
}

func (in *input) listen(next int, allowed float64) int {
	h := in.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	total := float64(len(h.pcm)) / hearken.SampleRate
	now := min(total, allowed)
	h.processed = int64(now * hearken.SampleRate)
	for ; next < len(h.script) && h.script[next].EndTime <= now; next++ {
		s := h.script[next]
		s.Line = cmp.Or(s.Line, next+1)
		in.push(hearken.InputEvent{Kind: hearken.InputPartial, Segment: &hearken.Segment{Text: "wrong", Status: hearken.Unconfirmed}})
		in.push(hearken.InputEvent{Kind: hearken.InputFinal, Segment: &s})
	}
	if !h.noProgress {
		in.push(hearken.InputEvent{Kind: hearken.InputProgress, Seconds: now})
	}
	if h.drops {
		in.push(hearken.InputEvent{Kind: hearken.InputDropped, Seconds: 1})
	}
	if h.finished > 0 && now >= total || h.dies > 0 && now >= h.dies {
		if h.cause != nil {
			in.push(hearken.InputEvent{Kind: hearken.InputError, Err: h.cause})
		}
		last := hearken.InputEvent{Kind: hearken.InputClosed, Reason: cmp.Or(h.reason, hearken.StopFinished)}
		if h.replace {
			last = hearken.InputEvent{Kind: hearken.InputReplaced}
		}
		in.end(last)
	}
	return next
}

// decode decodes what the package audio can.
func decode(ctx context.Context, path string, sink func(channels ...[]int16) error) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if audio.DetectFormat(b) == "" {
		return hearken.Errorf(hearken.Undecodable, "%s is no sound.", path).WithTry("install ffmpeg")
	}
	d, err := audio.NewDecoder(audio.Format{Channels: 1}, sink)
	if err != nil {
		return err
	}
	if _, err := d.Write(b); err != nil {
		return err
	}
	return d.Close()
}

// A server is a handler that is served.
type server struct {
	*Handler
	t   *testing.T
	url string
	dir string // of uploads
}

func open(t *testing.T, h *hub, change ...func(*Config)) *server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "uploads")
	cfg := Config{
		Sessions: h, Decode: decode, TempDir: dir,
		Engines: []Engine{{Name: "local"}, {Name: "deepgram"}, {Name: "openai", Translates: true}},
		Principal: func(r *http.Request) (string, error) {
			if r.Header.Get("Authorization") == "Bearer wrong" {
				return "", hearken.Errorf(hearken.Unauthorized, "there is no such key.")
			}
			return "somebody", nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	d := &server{Handler: New(cfg), t: t, dir: dir}
	server := httptest.NewServer(d)
	t.Cleanup(func() {
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("uploads are left: %q", left)
		}
	})
	d.url = server.URL
	return d
}

// An upload is a form in the making: names and values in turn.
type upload struct {
	name   string // of the file; no file if it is empty
	data   []byte
	fields []string
}

func (u upload) encode(t *testing.T) (contentType string, b *bytes.Buffer) {
	t.Helper()
	b = &bytes.Buffer{}
	w := multipart.NewWriter(b)
	for i := 0; i+1 < len(u.fields); i += 2 {
		if err := w.WriteField(u.fields[i], u.fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if u.name != "" {
		part, err := w.CreateFormFile("file", u.name)
		if err == nil {
			_, err = part.Write(u.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b
}

// request makes a request of an upload.
func (d *server) request(ctx context.Context, path string, u upload) *http.Request {
	d.t.Helper()
	kind, body := u.encode(d.t)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	return r
}

// post uploads and returns the whole answer.
func (d *server) post(path string, u upload) (*http.Response, string) {
	d.t.Helper()
	return d.do(d.request(d.t.Context(), path, u))
}

func (d *server) do(r *http.Request) (*http.Response, string) {
	d.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res, string(b)
}

// until waits for something that another goroutine does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: it does not happen", what)
		}
	}
}

// wav is so many seconds of a tone.
func wav(seconds float64) []byte {
	pcm := make([]int16, int(seconds*hearken.SampleRate))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(float64(i)/5))
	}
	return audio.EncodeWAV(hearken.SampleRate, pcm)
}

// said is a confirmed segment whose words have equal shares of its time.
func said(start, end float64, text ...string) hearken.Segment {
	confidence := 0.9
	s := hearken.Segment{
		Origin: hearken.Microphone, Status: hearken.Confirmed, IsFinal: true, Language: "en",
		StartTime: start, EndTime: end, Confidence: &confidence,
	}
	for i, w := range text {
		if i > 0 {
			s.Text += " "
		}
		s.Text += w
		share := (end - start) / float64(len(text))
		s.Words = append(s.Words, hearken.Word{Word: w, StartTime: start + share*float64(i), EndTime: start + share*float64(i+1)})
	}
	return s
}

// with changes a segment.
func with(s hearken.Segment, change func(*hearken.Segment)) hearken.Segment {
	s.Words = slices.Clone(s.Words)
	change(&s)
	return s
}
