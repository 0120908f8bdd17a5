package openai_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/openai"
)

func TestProvider_Check(t *testing.T) {
	keyed := openai.Config{APIKey: "k"}
	for name, c := range map[string]struct {
		cfg    openai.Config
		stream hearken.StreamConfig
		code   hearken.Code
		says   string
	}{
		"Key":           {keyed, hearken.StreamConfig{Language: "en"}, "", ""},
		"OwnKey":        {openai.Config{}, hearken.StreamConfig{Language: "en", APIKey: "k"}, "", ""},
		"NoKey":         {openai.Config{APIKey: " \n"}, hearken.StreamConfig{Language: "en"}, hearken.APIKeyMissing, "Try: OPENAI_API_KEY="},
		"NoKeyAtHome":   {openai.Config{BaseURL: "http://localhost:8000"}, hearken.StreamConfig{Language: "en"}, "", ""},
		"Default":       {keyed, hearken.StreamConfig{}, "", ""},
		"Brazil":        {keyed, hearken.StreamConfig{Language: "pt-BR"}, "", ""},
		"Norway":        {keyed, hearken.StreamConfig{Language: "nb_NO"}, "", ""},
		"Auto":          {keyed, hearken.StreamConfig{Language: "auto"}, "", ""},
		"Klingon":       {keyed, hearken.StreamConfig{Language: "tlh"}, hearken.ProviderNotConfigured, `whisper-1 has no language "tlh"`},
		"NewKlingon":    {keyed, hearken.StreamConfig{Language: "tlh", Model: "gpt-4o-transcribe"}, hearken.ProviderNotConfigured, `gpt-4o-transcribe has no language "tlh"`},
		"OwnModel":      {openai.Config{BaseURL: "http://localhost:8000", Model: "star-trek"}, hearken.StreamConfig{Language: "tlh"}, "", ""},
		"EnglishOnly":   {openai.Config{BaseURL: "http://localhost:8000", Model: "Systran/faster-whisper-small.en"}, hearken.StreamConfig{Language: "sv"}, hearken.ProviderNotConfigured, "knows only English"},
		"EnglishOnlyEn": {openai.Config{BaseURL: "http://localhost:8000", Model: "distil-whisper-large-v3-en"}, hearken.StreamConfig{Language: "en-GB"}, "", ""},
		"BaseURL":       {openai.Config{APIKey: "k", BaseURL: "api.openai.com"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "OPENAI_BASE_URL="},
		"BaseScheme":    {openai.Config{APIKey: "k", BaseURL: "wss://api.openai.com"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "OPENAI_BASE_URL="},
		"BaseUser":      {openai.Config{APIKey: "k", BaseURL: "https://me:pw@api.openai.com"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "OPENAI_BASE_URL="},
	} {
		t.Run(name, func(t *testing.T) {
			p := openai.New(c.cfg)
			err := p.Check(t.Context(), c.stream)
			if hearken.CodeOf(err) != c.code || (err == nil) != (c.code == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check: %v", err)
			}
			if err == nil {
				return
			}
			if _, opened := p.Open(t.Context(), c.stream); hearken.CodeOf(opened) != c.code {
				t.Errorf("Open: %v", opened)
			}
			if probed := p.Capabilities().Probe(t.Context(), c.stream); hearken.CodeOf(probed) != c.code {
				t.Errorf("Probe: %v", probed)
			}
		})
	}
}

// The base may be written in any of the ways in which people write it.
func TestProvider_BaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"":                             "https://api.openai.com/v1",
		"https://api.openai.com":       "https://api.openai.com/v1",
		"https://api.openai.com/":      "https://api.openai.com/v1",
		" https://api.openai.com/v1/ ": "https://api.openai.com/v1",
		"https://api.openai.com/v1/audio/transcriptions": "https://api.openai.com/v1",
		"http://localhost:8000/v1/audio/transcriptions/": "http://localhost:8000/v1",
		"http://localhost:8000/v1?x=y#z":                 "http://localhost:8000/v1",
		"https://api.groq.com/openai/v1":                 "https://api.groq.com/openai/v1",
		"https://api.groq.com/openai":                    "https://api.groq.com/openai/v1",
		"https://example.com/api/v3":                     "https://example.com/api/v3",
		"https://example.com/some/audio/transcriptions":  "https://example.com/some",
		"http://[::1]:8080":                              "http://[::1]:8080/v1",
	} {
		var asked string
		p := openai.New(openai.Config{BaseURL: base, APIKey: "k", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String()
			return nil, errors.New("no")
		})}})
		p.Capabilities().Probe(t.Context(), english)
		if asked != want+"/models" {
			t.Errorf("%q becomes %q, want %q", base, asked, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The server is asked for exactly this.
func TestProvider_Fields(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("Term%d", i))
	}
	verbose := map[string][]string{"model": {"whisper-1"}, "language": {"en"}, "response_format": {"verbose_json"}, "timestamp_granularities[]": {"word", "segment"}}
	with := func(base map[string][]string, more ...string) map[string][]string {
		m := make(map[string][]string)
		maps.Copy(m, base)
		for i := 0; i < len(more); i += 2 {
			if m[more[i]] = []string{more[i+1]}; more[i+1] == "" {
				delete(m, more[i])
			}
		}
		return m
	}
	newer := map[string][]string{"model": {"gpt-4o-transcribe"}, "language": {"en"}, "response_format": {"json"}}
	for name, c := range map[string]struct {
		stream hearken.StreamConfig
		want   map[string][]string
	}{
		"Plain":    {hearken.StreamConfig{Language: "en"}, verbose},
		"Region":   {hearken.StreamConfig{Language: "pt-BR"}, with(verbose, "language", "pt")},
		"Norway":   {hearken.StreamConfig{Language: "nb"}, with(verbose, "language", "no")},
		"Auto":     {hearken.StreamConfig{Language: "multi"}, with(verbose, "language", "")},
		"Terms":    {hearken.StreamConfig{Language: "en", Vocabulary: []string{"Arthur  Dent", "", "Trillian", "Arthur Dent", "\xff", strings.Repeat("long ", 200), "R&D"}}, with(verbose, "prompt", "Arthur Dent, Trillian, R&D.")},
		"TooMany":  {hearken.StreamConfig{Language: "en", Vocabulary: many}, with(verbose, "prompt", strings.Join(many[:52], ", ")+".")},
		"Newer":    {hearken.StreamConfig{Language: "en", Model: "gpt-4o-transcribe"}, newer},
		"Stream":   {hearken.StreamConfig{Language: "en", Model: "gpt-4o-transcribe", Interim: true}, with(newer, "stream", "true")},
		"Keywords": {hearken.StreamConfig{Language: "en", Model: "gpt-transcribe", Vocabulary: []string{"Zaphod"}}, with(newer, "model", "gpt-transcribe", "language", "", "languages[]", "en", "keywords[]", "Zaphod")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(meeting)
			if err := failure(transcribe(t, f.inside(openai.Config{}), c.stream, meetingAudio)); err != nil {
				t.Fatal(err)
			}
			for _, r := range f.asked(transcriptions) {
				if diff := cmp.Diff(c.want, r.fields); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

// A session's own key is used in place of the provider's, and a server of
// one's own gets none if there is none.
func TestProvider_Key(t *testing.T) {
	f := newFake(meeting)
	p := f.inside(openai.Config{APIKey: "another"})
	if err := failure(transcribe(t, p, english, meetingAudio)); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("with a wrong key: %v", err)
	}
	cfg := english
	cfg.APIKey = testKey
	if err := failure(transcribe(t, p, cfg, meetingAudio)); err != nil {
		t.Error(err)
	}
	f = newFake(meeting)
	f.keyless = true
	server := httptest.NewServer(f)
	defer server.Close()
	p = openai.New(openai.Config{BaseURL: server.URL, Client: server.Client()})
	if err := failure(transcribe(t, p, english, meetingAudio)); err != nil || f.asked(transcriptions)[0].key != "" {
		t.Errorf("without a key: %v", err)
	}
}

func TestProvider_Probe(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *request) bool {
		return func(w http.ResponseWriter, _ *request) bool {
			w.WriteHeader(code)
			return true
		}
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *request) bool
		want   hearken.Code
	}{
		"Well":      {nil, ""},
		"NoModels":  {status(404), ""},
		"WrongKey":  {status(401), hearken.Unauthorized},
		"Unpaid":    {status(402), hearken.Forbidden},
		"Forbidden": {status(403), hearken.Forbidden},
		"Busy":      {status(429), hearken.Busy},
		"Down":      {status(503), hearken.ProviderConnectionFailed},
	} {
		f := newFake(nil)
		f.answer = c.answer
		if err := f.inside(openai.Config{}).Capabilities().Probe(t.Context(), english); hearken.CodeOf(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	err = openai.New(openai.Config{BaseURL: "http://" + l.Addr().String()}).Capabilities().Probe(t.Context(), english)
	if hearken.CodeOf(err) != hearken.ProviderConnectionFailed || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestProvider_Offline(t *testing.T) {
	for base, want := range map[string]bool{"": false, "https://api.groq.com/openai/v1": false, "http://127.0.0.1:8000": true, "http://192.0.2.1": false} {
		if got := openai.New(openai.Config{BaseURL: base}).Capabilities().Offline; got != want {
			t.Errorf("%q: offline %t", base, got)
		}
	}
}

// Redirects are not followed: neither the key nor the sound goes elsewhere.
func TestProvider_Redirect(t *testing.T) {
	elsewhere := newFake(meeting)
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	f := newFake(meeting)
	f.answer = func(w http.ResponseWriter, r *request) bool {
		w.Header().Set("Location", other.URL+r.path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	err := failure(transcribe(t, f.serve(t, openai.Config{Client: &http.Client{}}), english, meetingAudio))
	if hearken.CodeOf(err) != hearken.ProviderNotConfigured {
		t.Errorf("failed with %v", err)
	}
	if n := len(elsewhere.asked(transcriptions)); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// What a server does not want to be asked is not asked again.
func TestProvider_Manners(t *testing.T) {
	refused := func(granular bool, status int, body string) func(http.ResponseWriter, *request) bool {
		return func(w http.ResponseWriter, r *request) bool {
			if granular && len(r.granular) == 0 || !granular && r.field("response_format") != "verbose_json" {
				return false
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
			return true
		}
	}
	full, segments, plain := "verbose_json word,segment", "verbose_json ", "json "
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *request) bool
		want   []string // how the first utterance is asked for
	}{
		"Words":   {refused(true, 400, `{"error":{"message":"no words","param":"timestamp_granularities","code":null}}`), []string{full, segments}},
		"Format":  {refused(false, 400, `{"object":"error","message":"Currently only support response_format text or json","type":"BadRequestError","param":null,"code":400}`), []string{full, plain}},
		"FastAPI": {refused(false, 422, `{"detail":[{"type":"enum","loc":["body","response_format"],"msg":"Input should be 'json' or 'text'"}]}`), []string{full, plain}},
		"Silent":  {refused(false, 400, ``), []string{full, plain}},
		"Both": {func(w http.ResponseWriter, r *request) bool {
			return refused(true, 400, `{"error":"timestamp_granularities[] unknown"}`)(w, r) || refused(false, 501, `{"error":"verbose_json unknown"}`)(w, r)
		}, []string{full, segments, plain}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(meeting)
			f.answer = c.answer
			p := f.inside(openai.Config{})
			for range 2 {
				events := transcribe(t, p, english, meetingAudio[:5*hearken.SampleRate+8000])
				if err := failure(events); err != nil || len(finals(events)) != 1 || !strings.HasPrefix(finals(events)[0].Text, "Could you") {
					t.Fatalf("%v: %q", err, texts(events))
				}
				if !finals(events)[0].Estimated {
					t.Error("times are not said to be estimates")
				}
			}
			var got []string
			for _, r := range f.asked(transcriptions) {
				got = append(got, r.field("response_format")+" "+strings.Join(r.granular, ","))
			}
			if diff := cmp.Diff(append(slices.Clone(c.want), c.want[len(c.want)-1]), got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("Stream", func(t *testing.T) {
		f := newFake(meeting)
		f.answer = func(w http.ResponseWriter, r *request) bool {
			if r.field("stream") == "" {
				return false
			}
			refuse(400, "unsupported_parameter", "stream", "no streaming here")(w)
			return true
		}
		cfg := english
		cfg.Model = "gpt-4o-transcribe"
		if err := failure(transcribe(t, f.inside(openai.Config{}), cfg, meetingAudio)); err != nil {
			t.Error(err)
		}
	})
}
