package listen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// transcript sends a recording and returns the answer.
func transcript(t *testing.T, url string, body io.Reader) answer {
	t.Helper()
	response := post(t, url, "audio/wav", body)
	var got answer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return got
}

func wav(seconds int) io.Reader {
	return bytes.NewReader(audio.EncodeWAV(16000, make([]int16, seconds*16000)))
}

// Nobody waits for the words of a recording: the engine may take longer
// stretches at once.
func TestRecording_IsRecorded(t *testing.T) {
	h, _, url := serve(t)
	transcript(t, url, wav(60))
	if !h.request().Recorded {
		t.Error("the session is a live one")
	}
	if in := <-h.detached; len(in.asked()) != 1 {
		t.Errorf("the last words were asked for %d times", len(in.asked()))
	}
}

func TestRecording_Paragraphs(t *testing.T) {
	h, _, url := serve(t)
	one, two := 0, 1
	h.drain = func(in *input) {
		first, second := final(0.5, "Good morning. How are you?"), final(5, "Fine, thanks.")
		for i := range first.Segment.Words {
			first.Segment.Words[i].Speaker = &one
		}
		for i := range second.Segment.Words {
			second.Segment.Words[i].Speaker = &two
		}
		in.emit(first, second, final(7, "and so"), final(30, "Bye."))
	}
	for query, want := range map[string]*paragraphs{
		"?punctuate=true": nil,
		"?paragraphs=true": {
			Transcript: "\nGood morning. How are you? Fine, thanks. and so\n\nBye.",
			Paragraphs: []paragraph{
				{Sentences: []sentence{{"Good morning.", 0.5, 1.6}, {"How are you?", 1.7, 3.4}, {"Fine, thanks.", 5, 6.1}, {"and so", 7, 8.1}}, NumWords: 9, Start: 0.5, End: 8.1},
				{Sentences: []sentence{{"Bye.", 30, 30.5}}, NumWords: 1, Start: 30, End: 30.5},
			},
		},
		"?smart_format=true&diarize=true": {
			Transcript: "\nSpeaker 0: Good morning. How are you?\n\nSpeaker 1: Fine, thanks.\n\nand so\n\nBye.",
			Paragraphs: []paragraph{
				{Sentences: []sentence{{"Good morning.", 0.5, 1.6}, {"How are you?", 1.7, 3.4}}, NumWords: 5, Start: 0.5, End: 3.4, Speaker: &one},
				{Sentences: []sentence{{"Fine, thanks.", 5, 6.1}}, NumWords: 2, Start: 5, End: 6.1, Speaker: &two},
				{Sentences: []sentence{{"and so", 7, 8.1}}, NumWords: 2, Start: 7, End: 8.1},
				{Sentences: []sentence{{"Bye.", 30, 30.5}}, NumWords: 1, Start: 30, End: 30.5},
			},
		},
	} {
		got := transcript(t, url+query, wav(40))
		if diff := cmp.Diff(want, got.Results.Channels[0].Alternatives[0].Paragraphs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	h.drain = nil
	if got := transcript(t, url+"?paragraphs=true", wav(1)); cmp.Diff(&paragraphs{Paragraphs: []paragraph{}}, got.Results.Channels[0].Alternatives[0].Paragraphs) != "" {
		t.Errorf("silence: %+v", got.Results.Channels[0].Alternatives[0].Paragraphs)
	}
}

// Who asks for speakers and gets none learns why.
func TestRecording_DiarizeWarns(t *testing.T) {
	h, _, url := serve(t)
	speaker := 0
	for name, tt := range map[string]struct {
		query string
		said  []hearken.InputEvent
		warns bool
	}{
		"NoSpeakers": {"?diarize=true", []hearken.InputEvent{final(0, "Hello.")}, true},
		"NotAsked":   {"", []hearken.InputEvent{final(0, "Hello.")}, false},
		"NoWords":    {"?diarize_model=latest", nil, false},
		"Speakers":   {"?diarize=true", []hearken.InputEvent{final(0, "Hello."), with(final(2, "Hi."), func(s *hearken.Segment) { s.Speaker = &speaker })}, false},
	} {
		h.drain = func(in *input) { in.emit(tt.said...) }
		got := transcript(t, url+tt.query, wav(5)).Metadata.Warnings
		if (len(got) == 1) != tt.warns || tt.warns && (got[0].Parameter != "diarize" || !strings.Contains(got[0].Message, "speakers")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func with(ev hearken.InputEvent, change func(*hearken.Segment)) hearken.InputEvent {
	change(ev.Segment)
	return ev
}

// What package audio cannot decode is decoded elsewhere, whole.
func TestRecording_Convert(t *testing.T) {
	h, handler, url := serve(t)
	handler.cfg.MaxBytes = 20000
	var separate bool
	handler.cfg.Decode = func(_ context.Context, body io.Reader, apart bool, sink func(channels ...[]int16) error) error {
		b, err := io.ReadAll(body)
		switch separate = apart; {
		case err != nil:
			return fmt.Errorf("save recording: %w", err)
		case bytes.Contains(b, []byte("without ffmpeg")):
			return hearken.Errorf(hearken.Undecodable, "it needs ffmpeg.").WithTry("install ffmpeg")
		case bytes.Contains(b, []byte("rubbish")):
			return hearken.Errorf(hearken.Undecodable, "ffmpeg says no.")
		}
		for range 3 {
			channels := [][]int16{make([]int16, len(b)), make([]int16, len(b))}
			if !apart {
				channels = channels[:1]
			}
			if err := sink(channels...); err != nil {
				return err
			}
		}
		return nil
	}
	const m4a, aiff = "\x00\x00\x00\x20ftypM4A ", "FORM\x00\x00\x00\x00AIFF"
	for _, tt := range []struct {
		query, body string
		channels    int
	}{
		{"", m4a + strings.Repeat("x", 10000), 1},
		{"?multichannel=true", aiff + strings.Repeat("x", 9000), 2},
	} {
		got := transcript(t, url+tt.query, strings.NewReader(tt.body))
		sum := sha256.Sum256([]byte(tt.body))
		if got.Metadata.SHA256 != hex.EncodeToString(sum[:]) || got.Metadata.Channels != tt.channels || separate != (tt.channels == 2) {
			t.Errorf("%+v", got.Metadata)
		}
		in := <-h.detached
		if pcm, _ := in.received(); len(pcm) != tt.channels || len(pcm[0]) != 3*len(tt.body) {
			t.Errorf("%d channels", len(pcm))
		}
	}
	for body, says := range map[string]string{
		m4a + "without ffmpeg": "MP4 or M4A); send PCM16 at 8 to 48 kHz, WAV, Ogg/Opus or WebM/Opus. Try: install ffmpeg",
		m4a + "rubbish":        "ffmpeg says no",
	} {
		checkRefusal(t, post(t, url, "audio/mp4", strings.NewReader(body)), 400, "Bad Request", says)
	}
	checkRefusal(t, post(t, url, "audio/mp4", strings.NewReader(m4a+strings.Repeat("x", 30000))), 413, "Request Entity Too Large", "UPLOAD_MAX_MB")
	// What is declared is what it is, and known formats need no conversion.
	handler.cfg.Decode = func(context.Context, io.Reader, bool, func(channels ...[]int16) error) error {
		t.Error("converted")
		return nil
	}
	transcript(t, url+pcm16, strings.NewReader(m4a+strings.Repeat("x", 1000)))
	transcript(t, url, wav(1))
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
