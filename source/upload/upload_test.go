package upload

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const transcriptions = "/v1/audio/transcriptions"

// errorBody is what OpenAI's clients expect of an error; param and code are
// null if they are empty.
func errorBody(message, kind, param, code string) string {
	null := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + s + `"`
	}
	return fmt.Sprintf(`{"error":{"message":"%s","type":"%s","param":%s,"code":%s}}`+"\n", message, kind, null(param), null(code))
}

func TestBadInput(t *testing.T) {
	good := wav(0.5)
	const unknown = "The model 'nobody' does not exist. Try: whisper-1, or an engine of this hub: local, deepgram, openai"
	tests := []struct {
		name    string
		path    string
		upload  upload
		status  int
		message string // in part
		param   string
		code    string
	}{
		{"no file", "", upload{"", nil, []string{"model", "whisper-1"}}, 400, "Missing required parameter: 'file'.", "file", "missing_required_parameter"},
		{"empty file", "", upload{"a.wav", nil, []string{"model", "whisper-1"}}, 400, "The file is empty.", "file", ""},
		{"no model", "", upload{"a.wav", good, nil}, 400, "you must provide a model parameter", "model", "missing_required_parameter"},
		{"unknown model", "", upload{"a.wav", good, []string{"model", "nobody"}}, 404, unknown, "model", "model_not_found"},
		{"language", "", upload{"a.wav", good, []string{"model", "local", "language", "auto"}}, 400,
			"Invalid language 'auto'. Language parameter must be specified in ISO-639-1 format.", "language", "invalid_language_format"},
		{"languages", "", upload{"a.wav", good, []string{"model", "local", "languages[]", "e"}}, 400,
			"Invalid language 'e'. Language parameter must be specified in ISO-639-1 format.", "languages", "invalid_language_format"},
		{"format", "", upload{"a.wav", good, []string{"model", "local", "response_format", "xml"}}, 400,
			"Invalid value: 'xml'. Supported values are: 'json', 'text', 'srt', 'verbose_json', 'vtt' and 'diarized_json'.", "response_format", "invalid_value"},
		{"diarized translation", "/v1/audio/translations", upload{"a.wav", good, []string{"model", "openai", "response_format", "diarized_json"}}, 400,
			"Invalid value: 'diarized_json'. Supported values are: 'json', 'text', 'srt', 'verbose_json' and 'vtt'.", "response_format", "invalid_value"},
		{"granularity", "", upload{"a.wav", good, []string{"model", "local", "response_format", "verbose_json", "timestamp_granularities[]", "letter"}}, 400,
			"Invalid value: 'letter'. Supported values are: 'word' and 'segment'.", "timestamp_granularities", "invalid_value"},
		{"granularity of json", "", upload{"a.wav", good, []string{"model", "local", "timestamp_granularities[]", "word"}}, 400,
			"timestamp_granularities needs response_format 'verbose_json', not 'json'.", "timestamp_granularities", "invalid_value"},
		{"stream", "", upload{"a.wav", good, []string{"model", "local", "stream", "maybe"}}, 400,
			"Invalid value: 'maybe'. Supported values are: 'true' and 'false'.", "stream", "invalid_value"},
		{"stream of srt", "", upload{"a.wav", good, []string{"model", "local", "stream", "true", "response_format", "srt"}}, 400,
			"response_format 'srt' cannot be streamed. Supported values are: 'json', 'text' and 'diarized_json'.", "response_format", "invalid_value"},
		{"temperature", "", upload{"a.wav", good, []string{"model", "local", "temperature", "NaN"}}, 400,
			"Invalid temperature 'NaN'. It must be a number between 0 and 1.", "temperature", "invalid_value"},
		{"include", "", upload{"a.wav", good, []string{"model", "local", "include[]", "everything"}}, 400,
			"Invalid value: 'everything'. Supported values are: 'logprobs'.", "include", "invalid_value"},
		{"chunking", "", upload{"a.wav", good, []string{"model", "local", "chunking_strategy", `{"type":"hammer"}`}}, 400,
			"Invalid value: 'hammer'. Supported values are: 'auto' and 'server_vad'.", "chunking_strategy", "invalid_value"},
		{"chunking fields", "", upload{"a.wav", good, []string{"model", "local", "chunking_strategy[type]", "hammer"}}, 400,
			"Invalid value: 'hammer'. Supported values are: 'auto' and 'server_vad'.", "chunking_strategy", "invalid_value"},
		{"speakers", "", upload{"a.wav", good, []string{"model", "local", "known_speaker_names[]", "Ann"}}, 400,
			"Unsupported parameter: 'known_speaker_names'. No engine of this hub knows speakers by name.", "known_speaker_names", "unsupported_parameter"},
		{"keyword", "", upload{"a.wav", good, []string{"model", "local", "keywords[]", strings.Repeat("x", 201)}}, 400, "A keyword has at most 200 bytes.", "keywords", "invalid_value"},
		{"field", "", upload{"a.wav", good, []string{"model", "local", "prompt", strings.Repeat("x", maxField+1)}}, 400, "The field prompt has more than 65536 bytes.", "prompt", ""},
		{"long fields", "", upload{"a.wav", good, append(strings.Fields(strings.Repeat("x "+strings.Repeat("y", maxField)+" ", maxForm/maxField)), "model", "local")}, 400,
			"The fields of the form have more than 1048576 bytes.", "", ""},
		{"fields", "", upload{"a.wav", good, append(strings.Fields(strings.Repeat("x y ", maxFields)), "model", "local")}, 400, "The form has more than 256 fields.", "", ""},
		{"no translator", "/v1/audio/translations", upload{"a.wav", good, []string{"model", "local"}}, 400,
			"The engine 'local' cannot translate. Try: /v1/audio/transcriptions, or the model whisper-1 for any engine that can", "model", "unsupported_operation"},
		{"no sound", "", upload{"a.wav", []byte("not a sound at all"), []string{"model", "local"}}, 400,
			"Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'] Try: install ffmpeg", "file", "invalid_file_format"},
		{"cut off", "", upload{"a.wav", []byte("RIFF\x00\x00\x00\x00WAVEfmt "), []string{"model", "local"}}, 400,
			"Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']", "file", "invalid_file_format"},
		{"too short", "", upload{"a.wav", wav(0.09), []string{"model", "local"}}, 400,
			"Audio file is too short. Minimum audio length is 0.1 seconds.", "file", "audio_too_short"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &hub{}
			d := open(t, h)
			if tt.path == "" {
				tt.path = transcriptions
			}
			res, body := d.post(tt.path, tt.upload)
			if res.StatusCode != tt.status || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %v", res.StatusCode, res.Header)
			}
			if diff := cmp.Diff(errorBody(tt.message, "invalid_request_error", tt.param, tt.code), body); diff != "" {
				t.Error(diff)
			}
			if len(h.requests) > 0 {
				t.Error("a session was started all the same")
			}
		})
	}
}

func TestBadRequests(t *testing.T) {
	d := open(t, &hub{})
	post := func(kind, body string) *http.Request {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+transcriptions, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		return r
	}
	get := func(path string) *http.Request {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+path, nil)
		return r
	}
	const two = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\na\r\n"
	wrong := d.request(t.Context(), transcriptions, upload{"a.wav", wav(1), []string{"model", "local"}})
	wrong.Header.Set("Authorization", "Bearer wrong")
	for name, tt := range map[string]struct {
		r      *http.Request
		status int
		want   string
	}{
		"json":         {post("application/json", `{"model":"local"}`), 400, "Could not parse multipart form"},
		"no boundary":  {post("multipart/form-data", ""), 400, "Could not parse multipart form"},
		"nothing":      {post("multipart/form-data; boundary=x", ""), 400, "Could not parse multipart form"},
		"cut off":      {post("multipart/form-data; boundary=x", two), 400, "Could not parse multipart form"},
		"two files":    {post("multipart/form-data; boundary=x", two+two+"--x--\r\n"), 400, "there are two files"},
		"get":          {get(transcriptions), 405, "Use POST."},
		"other":        {get("/v1/chat/completions"), 404, "Unknown request URL: GET /v1/chat/completions."},
		"wrong key":    {wrong, 401, `"invalid_api_key"`},
		"no such one":  {get("/v1/models/nobody"), 404, `"model_not_found"`},
		"no such part": {get("/v1/models/nobody/else"), 404, `"model_not_found"`},
	} {
		if res, body := d.do(tt.r); res.StatusCode != tt.status || !strings.Contains(body, tt.want) || !strings.HasPrefix(body, `{"error":{"message":"`) {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
}

func TestModels(t *testing.T) {
	d := open(t, &hub{}, func(c *Config) { c.Engines = c.Engines[:2] })
	for path, want := range map[string]string{
		"/v1/models":           `{"object":"list","data":[{"id":"local","object":"model","created":0,"owned_by":"hearken"},{"id":"deepgram","object":"model","created":0,"owned_by":"hearken"}]}` + "\n",
		"/v1/models/local":     `{"id":"local","object":"model","created":0,"owned_by":"hearken"}` + "\n",
		"/v1/models/whisper-1": `{"id":"whisper-1","object":"model","created":0,"owned_by":"hearken"}` + "\n",
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+path, nil)
		if res, body := d.do(r); res.StatusCode != http.StatusOK || body != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	if _, _, err := d.engine("whisper-1", true); err == nil || !strings.Contains(err.Error(), "No engine of this hub can translate.") {
		t.Errorf("translation: %v", err)
	}
	for name, want := range map[string][2]string{
		"gpt-4o-mini-transcribe-2025-12-15": {"", ""}, "gpt-transcribe": {"", ""}, "whisper-large-v3": {"", ""},
		"local": {"local", ""}, "deepgram/nova-3": {"deepgram", "nova-3"}, "local/a/b": {"local", "a/b"},
	} {
		if provider, own, err := d.engine(name, false); provider != want[0] || own != want[1] || err != nil {
			t.Errorf("%s: %q %q %v", name, provider, own, err)
		}
	}
}

// TestRequest has what the hub is asked for.
func TestRequest(t *testing.T) {
	h := &hub{}
	d := open(t, h)
	res, body := d.post(transcriptions, upload{`C:\talk` + "\u200b über.wav", wav(0.5), []string{
		"model", "deepgram/nova-3", "language", "Portuguese", "prompt", "Glossary: Aimee, Shawn,\n BBQ.",
		"keywords[]", " Hearken  hub ", "keywords[]", "BBQ", "temperature", "0.2", "include[]", "logprobs",
		"chunking_strategy[type]", "server_vad", "chunking_strategy[threshold]", "0.4", "extra", "ignored",
	}})
	if res.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	want := []hearken.StartRequest{{
		Provider: "deepgram", Model: "nova-3", Language: "pt", Title: "talk über.wav",
		Vocabulary: []string{"Hearken hub", "BBQ", "Aimee", "Shawn"}, Principal: "somebody", Recorded: true,
	}}
	if diff := cmp.Diff(want, h.requests); diff != "" {
		t.Error(diff)
	}
	if h.encoding != audio.WAV || len(h.pcm) != 8000 || h.finished != 1 || h.detached != 1 {
		t.Errorf("%s, %d samples, finished %d, detached %d", h.encoding, len(h.pcm), h.finished, h.detached)
	}
}

func TestTerms(t *testing.T) {
	for prompt, want := range map[string]string{
		"": "", "ZyntriQix, Digique Plus; CynapseFive": "ZyntriQix|Digique Plus|CynapseFive",
		"Hearken": "Hearken", "Dr. Who": "", "U.S.A., NATO": "U.S.A.|NATO",
		"The transcript is about OpenAI which makes technology like DALL·E, GPT-3, and ChatGPT.": "",
		"Hello. How are you?": "", "names: Aimee\nShawn\n\n": "Aimee|Shawn", "東京、大阪": "東京|大阪",
		strings.Repeat("x,", 300): strings.Repeat("x|", 99) + "x",
	} {
		if got := strings.Join(terms(prompt), "|"); got != want {
			t.Errorf("%.60q gives %.60q", prompt, got)
		}
	}
}

// TestContent has files whose names lie: what is in them decides.
func TestContent(t *testing.T) {
	golden := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "..", "audio", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	left, right := make([]int16, 16000), make([]int16, 16000)
	for i := range left {
		left[i], right[i] = 1000, -400
	}
	for name, data := range map[string][]byte{
		"really-wav.mp3": wav(1), "really-mp3.wav": golden("chirp.mp3"), "really-opus.m4a": golden("chirp.opus"),
		"really-webm.flac": golden("chirp.webm"), "no-extension": wav(1), "stereo.wav": audio.EncodeWAV(16000, left, right),
	} {
		h := &hub{script: []hearken.Segment{said(0, 0.5, "Hello.")}}
		d := open(t, h)
		res, body := d.post(transcriptions, upload{name, data, []string{"model", "whisper-1", "response_format", "text"}})
		if res.StatusCode != http.StatusOK || body != "Hello.\n" || len(h.pcm) < 15000 {
			t.Errorf("%s: %d %q, %d samples", name, res.StatusCode, body, len(h.pcm))
		}
		if name == "stereo.wav" && (len(h.pcm) != 16000 || h.pcm[8000] != 300) {
			t.Errorf("two channels are not mixed: %d samples of %d", len(h.pcm), h.pcm[8000])
		}
	}
}

// TestFile looks at the file during transcription.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "hearken-upload-123")
	other := filepath.Join(dir, "mine")
	for _, path := range []string{old, other} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var mode os.FileMode
	var decoded string
	d := open(t, &hub{}, func(c *Config) {
		c.TempDir = dir
		c.Decode = func(ctx context.Context, path string, sink func(...[]int16) error) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			mode, decoded = info.Mode().Perm(), path
			return decode(ctx, path, sink)
		}
	})
	if _, err := os.Stat(old); err == nil {
		t.Error("what an earlier hub left is still there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("somebody else's file is gone")
	}
	if res, body := d.post(transcriptions, upload{"a.wav", wav(1), []string{"model", "local"}}); res.StatusCode != http.StatusOK {
		t.Error(body)
	}
	if mode != 0o600 || filepath.Dir(decoded) != dir {
		t.Errorf("%s has mode %o", decoded, mode)
	}
	if _, err := os.Stat(decoded); err == nil {
		t.Error("the upload is still there")
	}
}

func TestTooLarge(t *testing.T) {
	d := open(t, &hub{}, func(c *Config) { c.MaxBytes = 100 << 10 })
	want := errorBody("Maximum content size limit (102400) exceeded.", "invalid_request_error", "file", "file_too_large")
	exact := append(wav(1), make([]byte, 100<<10)...)[:100<<10]
	for name, tt := range map[string]struct {
		data   []byte
		chunks bool // without a length
		expect bool // the client waits for a go-ahead
		status int
	}{
		"exactly":          {exact, false, false, 200},
		"one more":         {append(exact, 0), false, false, 413},
		"much more":        {make([]byte, 20<<20), false, false, 413},
		"much in chunks":   {make([]byte, 20<<20), true, false, 413},
		"with go-ahead":    {make([]byte, 20<<20), false, true, 413},
		"chunked go-ahead": {make([]byte, 2<<20), true, true, 413},
	} {
		r := d.request(t.Context(), transcriptions, upload{"a.wav", tt.data, []string{"model", "local"}})
		if tt.chunks {
			r.ContentLength, r.Body = -1, io.NopCloser(r.Body)
		}
		if tt.expect {
			r.Header.Set("Expect", "100-continue")
		}
		res, body := d.do(r)
		if res.StatusCode != tt.status || res.StatusCode == http.StatusRequestEntityTooLarge && body != want {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
}

func TestWriteError(t *testing.T) {
	for _, tt := range []struct {
		status int
		err    error
		want   int
		body   string
	}{
		{401, hearken.Errorf(hearken.Unauthorized, "No key.").WithTry("hearken keys create"), 401, errorBody("No key. Try: hearken keys create", "invalid_request_error", "", "invalid_api_key")},
		{403, hearken.Errorf(hearken.Forbidden, "Not you."), 403, errorBody("Not you.", "invalid_request_error", "", "forbidden")},
		{429, hearken.Errorf(hearken.Invalid, "Slowly."), 429, errorBody("Slowly.", "requests", "", "rate_limit_exceeded")},
		{503, hearken.Errorf(hearken.Busy, "Closing."), 503, errorBody("Closing.", "server_error", "", "busy")},
		{0, hearken.Errorf(hearken.Busy, "Full."), 429, errorBody("Full.", "requests", "", "rate_limit_exceeded")},
		{0, io.ErrUnexpectedEOF, 500, errorBody("The server had an error while processing your request. Sorry about that!", "server_error", "", "")},
	} {
		w := httptest.NewRecorder()
		WriteError(w, tt.status, tt.err)
		if w.Code != tt.want || w.Body.String() != tt.body {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
