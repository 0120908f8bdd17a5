package upload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
)

// events reads server-sent events; comments are events that begin with a
// colon.
func events(t *testing.T, r io.Reader) (next func() string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	return func() string {
		t.Helper()
		if !lines.Scan() {
			return "end"
		}
		line := lines.Text()
		if lines.Scan(); lines.Text() != "" {
			t.Errorf("no empty line after %q but %q", line, lines.Text())
		}
		return strings.TrimPrefix(line, "data: ")
	}
}

// TestStream has each segment sent as soon as it is confirmed: the engine
// continues only when the one before has been seen.
func TestStream(t *testing.T) {
	h := &hub{steps: make(chan float64), script: talk()}
	d := open(t, h)
	u := upload{"a.wav", wav(3.25), []string{"model", "whisper-1", "stream", "true", "response_format", "text"}}
	go func() { h.steps <- 1.8 }()
	res, err := http.DefaultClient.Do(d.request(t.Context(), transcriptions, u))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Request-Id") != session {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	next := events(t, res.Body)
	for _, tt := range []struct {
		want string
		step float64
	}{
		{`{"type":"transcript.text.delta","delta":"Hello there."}`, 1},
		{`{"type":"transcript.text.delta","delta":" R&D <now>?"}`, 10},
		{`{"type":"transcript.text.done","text":"Hello there. R&D <now>?","usage":{"type":"duration","seconds":4}}`, 0},
	} {
		if got := next(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		if tt.step > 0 {
			h.steps <- tt.step
		}
	}
	if got := next(); got != "end" {
		t.Errorf("after the end: %s", got)
	}
}

func TestStream_Diarized(t *testing.T) {
	d := open(t, &hub{script: []hearken.Segment{
		with(said(0, 1, "Yes."), func(s *hearken.Segment) { s.Speaker = new(0) }),
		with(said(1, 2, "No."), func(s *hearken.Segment) { s.Speaker = new(1) }),
	}})
	_, body := d.post(transcriptions, upload{"a.wav", wav(2), []string{"model", "local", "stream", "1", "response_format", "diarized_json"}})
	want := `data: {"type":"transcript.text.delta","delta":"Yes.","segment_id":"seg_0"}

data: {"type":"transcript.text.segment","id":"seg_0","start":0,"end":1,"text":"Yes.","speaker":"A"}

data: {"type":"transcript.text.delta","delta":" No.","segment_id":"seg_1"}

data: {"type":"transcript.text.segment","id":"seg_1","start":1,"end":2,"text":"No.","speaker":"B"}

data: {"type":"transcript.text.done","text":"Yes. No.","usage":{"type":"duration","seconds":2}}

`
	if body != want {
		t.Error(body)
	}
}

// TestStream_Quiet has an engine that says nothing for a while.
func TestStream_Quiet(t *testing.T) {
	h := &hub{steps: make(chan float64)}
	d := open(t, h)
	d.keepAliveEvery = time.Millisecond
	res, err := http.DefaultClient.Do(d.request(t.Context(), transcriptions, upload{"a.wav", wav(1), []string{"model", "local", "stream", "true"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	next := events(t, res.Body)
	for range 3 {
		if got := next(); got != ": listening" {
			t.Errorf("a sign of life: %q", got)
		}
	}
	h.steps <- 5
	got := ": listening"
	for got == ": listening" {
		got = next()
	}
	if got != `{"type":"transcript.text.done","text":"","usage":{"type":"duration","seconds":1}}` {
		t.Error(got)
	}
}

// TestPace has a recording of several times what the hub may hold, and an
// engine of little speed: nothing is ever too far ahead, and all words come.
func TestPace(t *testing.T) {
	h := &hub{steps: make(chan float64)}
	var want strings.Builder
	for i := range 300 {
		text := "w" + strconv.Itoa(i)
		want.WriteString(" " + text)
		h.script = append(h.script, with(said(float64(i), float64(i)+0.9, text), func(s *hearken.Segment) { s.Line = i + 1 }))
	}
	d := open(t, h, func(c *Config) {
		c.Ahead = 20 * time.Second
		// No real engine is as fast as this one, which sends more at once than
		// anybody can take.
		c.Read = func(context.Context, string) ([]hearken.Segment, error) { return h.script, nil }
	})
	done := make(chan struct{})
	var steps sync.WaitGroup
	steps.Go(func() {
		until(t, "as far ahead as it may be", func() bool { return h.seen(func() bool { return h.ahead > 19*hearken.SampleRate }) })
		for {
			select {
			case h.steps <- 0.7:
			case <-done:
				return
			}
		}
	})
	res, body := d.post(transcriptions, upload{"a.wav", wav(301), []string{"model", "local", "response_format", "text"}})
	close(done)
	steps.Wait()
	if res.StatusCode != http.StatusOK || strings.TrimSpace(body) != strings.TrimSpace(want.String()) {
		t.Errorf("%d, %d finals lost: %s", res.StatusCode, h.lost, body)
	}
	if h.ahead > 20*hearken.SampleRate+1 { // seconds are rounded to samples
		t.Errorf("the sound was %d samples ahead", h.ahead)
	}
	if len(h.pcm) != 301*hearken.SampleRate {
		t.Errorf("%d samples", len(h.pcm))
	}
}

// TestCrowded has a hub that sends more at once than there is space for.
func TestCrowded(t *testing.T) {
	h := &hub{steps: make(chan float64), crowded: true}
	for i := range 100 {
		h.script = append(h.script, with(said(float64(i)/10, float64(i+1)/10, strconv.Itoa(i)), func(s *hearken.Segment) { s.Line = i + 1 }))
	}
	var read func(context.Context, string) ([]hearken.Segment, error)
	d := open(t, h, func(c *Config) {
		c.Read = func(ctx context.Context, id string) ([]hearken.Segment, error) { return read(ctx, id) }
	})
	u := upload{"a.wav", wav(11), []string{"model", "local", "response_format", "text"}}
	post := func() (int, string) {
		go func() { h.steps <- 20 }()
		res, body := d.post(transcriptions, u)
		return res.StatusCode, body
	}
	read = func(_ context.Context, id string) ([]hearken.Segment, error) {
		if id != session {
			t.Errorf("read %q", id)
		}
		return h.script, nil
	}
	if status, body := post(); status != 200 || len(strings.Fields(body)) != 100 || !strings.HasPrefix(body, "0 1 2 ") || !strings.HasSuffix(body, " 98 99\n") {
		t.Errorf("%d %s", status, body)
	}
	if h.lost == 0 {
		t.Fatal("nothing was lost, so this shows nothing")
	}
	read = func(context.Context, string) ([]hearken.Segment, error) { return nil, errors.New("secret") }
	if status, body := post(); status != 500 || strings.Contains(body, "secret") {
		t.Errorf("store gone: %d %s", status, body)
	}
	d.cfg.Read = nil
	if status, body := post(); status != 503 {
		t.Errorf("no store: %d %s", status, body)
	}
}

// TestSettle has the session finished only when the engine is near the end,
// because the hub does not wait long from then on.
func TestSettle(t *testing.T) {
	h := &hub{steps: make(chan float64), script: []hearken.Segment{said(0, 5, "one"), said(5, 9.5, "two")}}
	d := open(t, h)
	var wait sync.WaitGroup
	wait.Go(func() {
		until(t, "asked for the last words", func() bool { return h.seen(func() bool { return h.asked == 1 }) })
		h.steps <- 8.9
		if h.seen(func() bool { return h.finished > 0 }) {
			t.Error("finished too early")
		}
		h.steps <- 2
	})
	if res, body := d.post(transcriptions, upload{"a.wav", wav(10), []string{"model", "local", "response_format", "text"}}); body != "one two\n" {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	wait.Wait()
}

// TestWaitForWords_NoProgress has an engine that does not report that the end is silent.
func TestWaitForWords_NoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{noProgress: true, script: []hearken.Segment{said(0, 1, "one")}}
		cfg := Config{Sessions: h, Ahead: time.Minute, Log: slog.New(slog.DiscardHandler)}
		cfg.Decode = func(_ context.Context, _ string, sink func(...[]int16) error) error {
			return sink(make([]int16, 40*hearken.SampleRate))
		}
		start := time.Now()
		job := newJob(&cfg, hearken.StartRequest{}, "")
		if err := job.run(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took < 39*time.Second || took > 40*time.Second { // on the bubble's clock
			t.Errorf("waited %v for the rest", took)
		}
	})
}

// TestHangUp has clients that leave in the middle, with the engine far behind.
func TestHangUp(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		h := &hub{steps: make(chan float64), script: []hearken.Segment{said(0, 1, "Hello.")}}
		d := open(t, h, func(c *Config) { c.Ahead = 5 * time.Second })
		ctx, cancel := context.WithCancel(t.Context())
		r := d.request(ctx, transcriptions, upload{"a.wav", wav(30), []string{"model", "local", "stream", stream}})
		var wait sync.WaitGroup
		wait.Go(func() {
			if res, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.ReadAll(res.Body)
				res.Body.Close()
			}
		})
		h.steps <- 1.5
		until(t, "the sound is as far ahead as it may be", func() bool { return h.seen(func() bool { return len(h.pcm) > 6*hearken.SampleRate }) })
		cancel()
		wait.Wait()
		until(t, "the session is finished and left", func() bool { return h.seen(func() bool { return h.finished == 1 && h.detached == 1 }) })
		until(t, "the file is gone", func() bool {
			left, _ := filepath.Glob(filepath.Join(d.dir, "*"))
			return len(left) == 0
		})
	}
}

// TestHangUp_Upload has a client that leaves before all is sent.
func TestHangUp_Upload(t *testing.T) {
	h := &hub{}
	d := open(t, h)
	kind, body := upload{"a.wav", wav(10), []string{"model", "local"}}.encode(t)
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, d.url+transcriptions, reader)
	r.Header.Set("Content-Type", kind)
	var wait sync.WaitGroup
	wait.Go(func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			t.Errorf("answered: %v", res.Status)
			res.Body.Close()
		}
	})
	if _, err := writer.Write(body.Bytes()[:body.Len()/2]); err != nil {
		t.Fatal(err)
	}
	until(t, "a file is begun", func() bool {
		begun, _ := filepath.Glob(filepath.Join(d.dir, "*"))
		return len(begun) == 1
	})
	cancel()
	writer.CloseWithError(context.Canceled)
	wait.Wait()
	until(t, "the file is gone", func() bool {
		left, _ := filepath.Glob(filepath.Join(d.dir, "*"))
		return len(left) == 0
	})
	if len(h.requests) > 0 {
		t.Error("half a file was transcribed")
	}
}

// TestSlow has a client that stops sending and stays.
func TestSlow(t *testing.T) {
	d := open(t, &hub{})
	d.readTimeout = 50 * time.Millisecond
	kind, body := upload{"a.wav", wav(10), []string{"model", "local"}}.encode(t)
	reader, writer := io.Pipe()
	defer writer.Close()
	go func() { _, _ = writer.Write(body.Bytes()[:body.Len()/2]) }()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+transcriptions, reader)
	r.Header.Set("Content-Type", kind)
	if res, body := d.do(r); res.StatusCode != http.StatusRequestTimeout || !strings.Contains(body, "The upload took too long.") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// TestAlive has a client that is still there long after its upload: what it
// was given for that does not count while it listens.
func TestAlive(t *testing.T) {
	h := &hub{steps: make(chan float64)}
	d := open(t, h)
	d.readTimeout = 50 * time.Millisecond
	var wait sync.WaitGroup
	wait.Go(func() {
		timer := time.NewTimer(4 * d.readTimeout)
		defer timer.Stop()
		<-timer.C
		h.steps <- 5
	})
	if res, body := d.post(transcriptions, upload{"a.wav", wav(1), []string{"model", "local"}}); res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	wait.Wait()
}

// TestFailures has every end of a session but the good one: no shorter text
// is ever taken for the whole.
func TestFailures(t *testing.T) {
	hello := []hearken.Segment{said(0, 1, "Hello.")}
	gap := hearken.Segment{Origin: hearken.EventOrigin, Status: hearken.Confirmed, StartTime: 1, EndTime: 1.5, Event: hearken.EventGap, Text: "[gap: 0.5 s of audio is waiting to be transcribed]"}
	filled := gap
	filled.Event, filled.Text = hearken.EventFilled, "[0.5 s of audio was transcribed later]"
	tests := []struct {
		name   string
		hub    *hub
		status int
		want   string // in the error
		retry  string // Retry-After
		should string // X-Should-Retry
	}{
		{"busy", &hub{start: hearken.Errorf(hearken.Busy, "2 sessions are active.").WithTry("later")}, 429, `"message":"2 sessions are active. Try: later","type":"requests","param":null,"code":"rate_limit_exceeded"`, "5", ""},
		{"language", &hub{start: hearken.Errorf(hearken.ProviderNotConfigured, "There is no model for sv.")}, 400, `"message":"There is no model for sv.","type":"invalid_request_error","param":"language"`, "", ""},
		{"no key", &hub{start: hearken.Errorf(hearken.APIKeyMissing, "Deepgram needs a key.")}, 503, `"type":"server_error","param":null,"code":"api_key_missing"`, "", "false"},
		{"store", &hub{start: errors.New("secret detail")}, 500, "The server had an error", "", ""},
		{"attach", &hub{attach: hearken.Errorf(hearken.SessionAlreadyStopped, "session is stopped.")}, 500, `"session_already_stopped"`, "", ""},
		{"engine failed", &hub{script: hello, dies: 1.5, reason: hearken.StopProviderFailed, cause: hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram does not answer.").WithTry("hearken doctor")},
			503, "The recording could not be transcribed: Deepgram does not answer. Try: hearken doctor. The words so far are in session " + session, "10", ""},
		{"engine refused", &hub{script: hello, dies: 1.5, reason: hearken.StopProviderFailed, cause: hearken.Errorf(hearken.Unauthorized, "Deepgram refuses the key.")}, 503, `"unauthorized"`, "", "false"},
		{"engine broke", &hub{script: hello, dies: 1.5, reason: hearken.StopProviderFailed, cause: errors.New("secret detail")}, 503, "the engine failed. The words so far", "10", ""},
		{"stopped", &hub{script: hello, steps: make(chan float64), dies: 1.5, reason: hearken.StopRequested}, 409, "its session ended: requested", "", "false"},
		{"deleted", &hub{script: hello, steps: make(chan float64), dies: 1.5, reason: "deleted"}, 409, "its session ended: deleted", "", "false"},
		{"replaced", &hub{script: hello, dies: 1.5, replace: true}, 409, "another sender took over", "", "false"},
		{"shutdown", &hub{script: hello, dies: 1.5, reason: hearken.StopShutdown}, 503, `"shutdown"`, "10", ""},
		{"dropped", &hub{script: hello, drops: true}, 503, "Some of the recording was not transcribed.", "10", ""},
		{"gap", &hub{script: append(hello, gap)}, 503, "Some of the recording was not transcribed.", "10", ""},
		{"gap filled", &hub{script: append(hello, gap, said(1, 1.4, "later"), filled)}, 200, "", "", ""},
		{"stopped at the end", &hub{script: hello, reason: hearken.StopRequested}, 200, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, tt.hub, func(c *Config) { c.Ahead = 4 * time.Second })
			if tt.hub.steps != nil {
				go func() { tt.hub.steps <- 1.6 }()
			}
			length := 2.5
			if tt.hub.dies > 0 {
				length = 30
			}
			u := upload{"a.wav", wav(length), []string{"model", "local", "language", "sv"}}
			res, body := d.post(transcriptions, u)
			if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || strings.Contains(body, "secret") {
				t.Errorf("%d %s", res.StatusCode, body)
			}
			if res.Header.Get("Retry-After") != tt.retry || res.Header.Get("X-Should-Retry") != tt.should {
				t.Errorf("%v", res.Header)
			}
			if tt.status != 200 && strings.Contains(body, "Hello") {
				t.Error("some words came as if they were all")
			}
			if tt.hub.start == nil && tt.hub.attach == nil && tt.hub.detached != 1 {
				t.Errorf("detached %d times", tt.hub.detached)
			}
		})
	}
}

// TestFailures_Stream fails after the answer has begun.
func TestFailures_Stream(t *testing.T) {
	h := &hub{script: []hearken.Segment{said(0, 1, "Hello.")}, steps: make(chan float64), dies: 3, reason: hearken.StopProviderFailed}
	d := open(t, h)
	go func() { h.steps <- 2 }()
	res, err := http.DefaultClient.Do(d.request(t.Context(), transcriptions, upload{"a.wav", wav(10), []string{"model", "local", "stream", "true"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	next := events(t, res.Body)
	if got := next(); !strings.Contains(got, `"delta":"Hello."`) {
		t.Error(got)
	}
	h.steps <- 2
	var failure struct {
		Error struct{ Message, Code string }
	}
	if err := json.Unmarshal([]byte(next()), &failure); err != nil || failure.Error.Code != "provider_connection_failed" {
		t.Errorf("%+v %v", failure, err)
	}
	if got := next(); got != "end" {
		t.Error(got)
	}
}

// TestDecode has decoders that fail in every way.
func TestDecode(t *testing.T) {
	second := make([]int16, hearken.SampleRate)
	for name, tt := range map[string]struct {
		decode func(sink func(...[]int16) error) error
		status int
		want   string
	}{
		"panic":       {func(func(...[]int16) error) error { panic("secret") }, 400, "Invalid file format."},
		"late panic":  {func(sink func(...[]int16) error) error { _ = sink(second); panic("secret") }, 400, "Invalid file format."},
		"plain error": {func(func(...[]int16) error) error { return errors.New("secret") }, 500, "The server had an error"},
		"late error": {func(sink func(...[]int16) error) error {
			return errors.Join(sink(second), hearken.Errorf(hearken.Undecodable, "secret"))
		}, 400, "Invalid file format."},
	} {
		h := &hub{script: []hearken.Segment{said(0, 0.5, "Hello.")}}
		var log bytes.Buffer
		d := open(t, h, func(c *Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
			c.Decode = func(_ context.Context, _ string, sink func(...[]int16) error) error { return tt.decode(sink) }
		})
		res, body := d.post(transcriptions, upload{"a.wav", wav(1), []string{"model", "local"}})
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || strings.Contains(body, "secret") {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
		if strings.Contains(log.String(), "secret") && !strings.Contains(name, "plain") {
			t.Errorf("%s: logged %s", name, log.String())
		}
		if late := strings.HasPrefix(name, "late"); late && (h.finished != 1 || h.detached != 1) {
			t.Errorf("%s: finished %d, detached %d", name, h.finished, h.detached)
		}
	}
}

// TestConcurrent has more uploads than there is space for.
func TestConcurrent(t *testing.T) {
	h := &hub{steps: make(chan float64)}
	d := open(t, h, func(c *Config) { c.Concurrent = 1 })
	u := upload{"a.wav", wav(1), []string{"model", "local"}}
	r := d.request(t.Context(), transcriptions, u)
	var wait sync.WaitGroup
	wait.Go(func() {
		if res, err := http.DefaultClient.Do(r); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("the first: %v %v", res, err)
		} else {
			res.Body.Close()
		}
	})
	until(t, "the first has begun", func() bool { return h.seen(func() bool { return len(h.pcm) > 0 }) })
	if res, body := d.post(transcriptions, u); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "5" {
		t.Errorf("the second: %d %s", res.StatusCode, body)
	}
	h.steps <- 5
	wait.Wait()
	go func() { h.steps <- 5 }()
	if res, body := d.post(transcriptions, u); res.StatusCode != http.StatusOK {
		t.Errorf("the third: %d %s", res.StatusCode, body)
	}
}
