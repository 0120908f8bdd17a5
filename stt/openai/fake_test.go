package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/stt/openai"
)

const testKey = "sk-secret-0123456789"

// A fake is a server with OpenAI's transcription endpoints, as their
// documentation describes them, for sound that [sound] made.
type fake struct {
	script []scriptWord
	// answer replaces the fake's own answer to a request if it returns true.
	answer func(w http.ResponseWriter, r *request) bool
	// shape changes a verbose answer before it is sent.
	shape func(verbose map[string]any)
	// keyless is for servers of one's own.
	keyless bool

	mu       sync.Mutex
	requests []*request
}

// A request is what came in.
type request struct {
	n        int // counted from 0
	ctx      context.Context
	path     string
	fields   map[string][]string
	key      string
	samples  int
	words    []scriptWord // that are said in the file
	granular []string
}

func (r *request) field(name string) string { return strings.Join(r.fields[name], ",") }

func newFake(script []scriptWord) *fake { return &fake{script: script} }

// serve starts the server on the loopback and makes a provider for it.
func (f *fake) serve(t *testing.T, cfg openai.Config) *openai.Provider {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL
	if cfg.APIKey == "" {
		cfg.APIKey = testKey
	}
	if cfg.Client == nil {
		cfg.Client = server.Client()
	}
	return openai.New(cfg)
}

// inside makes a provider that reaches the server without a network, for tests
// that own the time.
func (f *fake) inside(cfg openai.Config) *openai.Provider {
	cfg.BaseURL = "http://openai.test"
	if cfg.APIKey == "" {
		cfg.APIKey = testKey
	}
	cfg.Client = &http.Client{Transport: f}
	return openai.New(cfg)
}

// RoundTrip lets the fake answer a request in the caller's goroutine.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// asked are the requests that came to an endpoint, in order.
func (f *fake) asked(endpoint string) []*request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.requests), func(r *request) bool { return r.path != endpoint })
}

const (
	transcriptions = "/v1/audio/transcriptions"
	translations   = "/v1/audio/translations"
)

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-request-id", "req_123")
	req := &request{ctx: r.Context(), path: r.URL.Path, key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	if r.Method == http.MethodPost {
		if err := f.receive(req, r); err != nil {
			refuse(400, "invalid_value", "file", err.Error())(w)
			return
		}
	}
	f.mu.Lock()
	req.n = len(f.requests)
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	switch {
	case f.answer != nil && f.answer(w, req):
	case !f.keyless && req.key != testKey:
		refuse(401, "invalid_api_key", "", "Incorrect API key provided.")(w)
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"whisper-1"}]}`)
	case r.Method == http.MethodPost && (r.URL.Path == transcriptions || r.URL.Path == translations):
		f.transcribe(w, req)
	default:
		refuse(404, "", "", "Invalid URL ("+r.Method+" "+r.URL.Path+")")(w)
	}
}

// receive takes a form apart and listens to its file.
func (f *fake) receive(req *request, r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || r.ContentLength <= 0 {
		return fmt.Errorf("a body of type %q and length %d", kind, r.ContentLength)
	}
	if err := r.ParseMultipartForm(4 << 20); err != nil {
		return err
	}
	req.fields = r.MultipartForm.Value
	req.granular = req.fields["timestamp_granularities[]"]
	file, head, err := r.FormFile("file")
	if err != nil {
		return err
	}
	defer file.Close()
	if path.Ext(head.Filename) != ".wav" {
		return fmt.Errorf("a file called %q", head.Filename)
	}
	b, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	pcm := audio.AppendPCM16(nil, b[min(44, len(b)):])
	if want := audio.EncodeWAV(hearken.SampleRate, pcm); string(want) != string(b) {
		return fmt.Errorf("not a WAV file of 16 kHz")
	}
	req.samples, req.words = len(pcm), listen(f.script, pcm)
	return nil
}

// transcribe answers as OpenAI's server does.
func (f *fake) transcribe(w http.ResponseWriter, r *request) {
	model, format := r.field("model"), r.field("response_format")
	newer := strings.HasPrefix(model, "gpt-")
	switch {
	case model != "whisper-1" && !newer:
		refuse(404, "model_not_found", "", "The model `"+model+"` does not exist")(w)
	case newer && r.path == translations:
		refuse(404, "model_not_found", "model", "This model does not translate")(w)
	case newer && format != "json":
		refuse(400, "unsupported_value", "response_format", "response_format '"+format+"' is not compatible with model '"+model+"'. Use 'json' or 'text' instead.")(w)
	case len(r.granular) > 0 && format != "verbose_json":
		refuse(400, "invalid_value", "timestamp_granularities", "timestamp_granularities needs verbose_json")(w)
	case r.samples < hearken.SampleRate/10:
		refuse(400, "audio_too_short", "file", "Audio file is too short. Minimum audio length is 0.1 seconds.")(w)
	case len(r.field("language")) > 2:
		refuse(400, "invalid_language_format", "language", "Language parameter must be in ISO-639-1 format.")(w)
	case newer && r.field("stream") == "true":
		f.stream(w, r)
	case format == "verbose_json":
		f.verbose(w, r)
	default:
		reply(w, map[string]any{"text": f.text(r), "usage": map[string]any{"type": "tokens", "total_tokens": 3}})
	}
}

// text is what the fake hears in a file, as a sentence.
func (f *fake) text(r *request) string {
	said := text(r.words)
	if r.path == translations {
		return strings.ToUpper(said)
	}
	if said == "" {
		return ""
	}
	return strings.ToUpper(said[:1]) + said[1:] + "."
}

func (f *fake) verbose(w http.ResponseWriter, r *request) {
	seconds := float64(r.samples) / hearken.SampleRate
	answer := map[string]any{"task": "transcribe", "language": "english", "duration": seconds, "text": f.text(r)}
	words, segments := []any{}, []any{}
	for _, s := range r.words {
		words = append(words, map[string]any{"word": s.text, "start": s.start, "end": s.end})
	}
	if n := len(r.words); n > 0 {
		segments = append(segments, map[string]any{
			"id": 0, "seek": 0, "start": 0.0, "end": seconds, "text": " " + f.text(r), "tokens": []int{50364}, "temperature": 0.0,
			"avg_logprob": -0.25, "compression_ratio": 1.2, "no_speech_prob": 0.01,
		})
	}
	if len(r.granular) == 0 || slices.Contains(r.granular, "segment") {
		answer["segments"] = segments
	}
	if slices.Contains(r.granular, "word") {
		answer["words"] = words
	}
	if f.shape != nil {
		f.shape(answer)
	}
	reply(w, answer)
}

// stream answers word by word.
func (f *fake) stream(w http.ResponseWriter, r *request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	event := func(v map[string]any) {
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", v["type"], b)
		w.(http.Flusher).Flush()
	}
	for word := range strings.SplitAfterSeq(f.text(r), " ") {
		event(map[string]any{"type": "transcript.text.delta", "delta": word})
	}
	event(map[string]any{"type": "transcript.text.done", "text": f.text(r), "usage": map[string]any{"type": "tokens"}})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// refuse answers with an error in OpenAI's form.
func refuse(status int, code, param, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		null := func(s string) any {
			if s == "" {
				return nil
			}
			return s
		}
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"message": message, "type": "invalid_request_error", "param": null(param), "code": null(code),
		}})
	}
}
