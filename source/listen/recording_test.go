package listen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// post sends a recording and returns the answer, which the caller closes.
func post(t *testing.T, url, kind string, body io.Reader) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http"+strings.TrimPrefix(url, "ws"), body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		response.Body.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return response
}

func TestRecording(t *testing.T) {
	h, _, url := serve(t)
	h.drain = func(in *input) {
		in.emit(final(0.5, "Good morning."), partial(2, "never mind"), far(final(1, "Hi.")), final(4, "Third."), final(2, "Second."))
	}
	wav := audio.EncodeWAV(16000, make([]int16, 160000), make([]int16, 160000))
	response := post(t, url+"?multichannel=true&smart_format=true&utterances=true&model=nova-3", "audio/wav", bytes.NewReader(wav))
	var got struct {
		Metadata message
		Results  recorded
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	if id := response.Header.Get("dg-request-id"); got.Metadata.RequestID != id || got.Metadata.Duration != 10 || got.Metadata.Channels != 2 {
		t.Errorf("%s %+v", id, got.Metadata)
	}
	var texts []string
	for _, c := range got.Results.Channels {
		texts = append(texts, c.Alternatives[0].Transcript)
	}
	if diff := cmp.Diff([]string{"Good morning. Second. Third.", "Hi."}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := got.Results.Channels[0].Alternatives[0]; len(a.Words) != 4 || a.Words[3].Punctuated != "Third." || a.Confidence != 0.9 {
		t.Errorf("%+v", a)
	}
	texts = nil
	for _, u := range got.Results.Utterances {
		texts = append(texts, u.Transcript)
	}
	if diff := cmp.Diff([]string{"Good morning.", "Hi.", "Second.", "Third."}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if in := <-h.detached; !in.isFinished() {
		t.Error("the session was left open")
	}
}

func TestRecording_Refusals(t *testing.T) {
	h, _, url := serve(t)
	pcm := strings.Repeat("\x00\x01", 16000)
	for _, tt := range []struct {
		name, query, kind, body string
		status                  int
		code, says              string
	}{
		{"URL", "", "application/json", `{"url":"http://127.0.0.1/"}`, 415, "Unsupported Media Type", "as the body"},
		{"Query", "?encoding=linear16", "audio/raw", pcm, 400, "Bad Request", "sample_rate"},
		{"NoAudio", "", "audio/wav", "", 400, "Bad Request", "no audio"},
		{"Picture", "", "audio/wav", "\x89PNG\r\n\x1a\n" + pcm, 400, "Bad Request", "PNG"},
		{"Short", "?encoding=flac", "audio/flac", "fLaC", 400, "Bad Request", "FLAC"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkRefusal(t, post(t, url+tt.query, tt.kind, strings.NewReader(tt.body)), tt.status, tt.code, tt.says)
		})
	}
	for len(h.started) > 0 {
		if in := <-h.started; !in.isFinished() {
			t.Error("a session was left open")
		}
	}
}

func TestRecording_EngineFails(t *testing.T) {
	h, _, url := serve(t)
	h.drain = func(in *input) {
		in.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopProviderFailed})
	}
	response := post(t, url+pcm16, "audio/raw", bytes.NewReader(make([]byte, 32000)))
	checkRefusal(t, response, http.StatusServiceUnavailable, "Service Unavailable", "engine failed")
}

// A text that is shorter than the audio is an error.
func TestRecording_Incomplete(t *testing.T) {
	h, _, url := serve(t)
	h.drain = func(in *input) {
		in.events <- hearken.InputEvent{Kind: hearken.InputFinal, Origin: hearken.EventOrigin, Segment: &hearken.Segment{Origin: hearken.EventOrigin, Event: hearken.EventGap, Text: "[gap: 1.0 s of audio was lost]"}}
		in.end(hearken.InputEvent{Kind: hearken.InputClosed, Reason: hearken.StopFinished})
	}
	response := post(t, url+pcm16, "audio/raw", bytes.NewReader(make([]byte, 32000)))
	checkRefusal(t, response, http.StatusServiceUnavailable, "Service Unavailable", "not transcribed")
}

// A client that goes in the middle ends the session.
func TestRecording_Abandoned(t *testing.T) {
	h, _, url := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	body, w := io.Pipe()
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http"+strings.TrimPrefix(url, "ws")+pcm16, body)
	done := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			response.Body.Close()
		}
		done <- err
	}()
	_, _ = w.Write(make([]byte, 32000))
	in := <-h.started
	cancel()
	_ = w.CloseWithError(context.Canceled) // Close would be an ordinary end of the audio
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-h.detached
	if !in.isFinished() {
		t.Error("the session was left open")
	}
}

// The hub closes while audio still comes, or while words still do.
func TestRecording_Close(t *testing.T) {
	for _, complete := range []bool{false, true} {
		h, handler, url := serve(t)
		never := make(chan struct{})
		defer close(never)
		h.drain = func(*input) { <-never }
		done := make(chan error, 1)
		body, w := io.Pipe()
		go func() {
			_, _ = w.Write(make([]byte, 32000))
			in := <-h.started
			if complete {
				_ = w.Close()
				poll(t, in.isFinished)
			}
			done <- handler.Close(context.Background())
		}()
		response := post(t, url+pcm16, "audio/raw", body)
		_ = w.Close() // not before the answer: there is nobody to read it then
		checkRefusal(t, response, http.StatusServiceUnavailable, "Service Unavailable", "shutting down")
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
