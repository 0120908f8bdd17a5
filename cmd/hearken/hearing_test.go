//go:build !windows

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A key alone sends no microphone anywhere; an engine that somebody named does.
// Other audio goes to Deepgram as soon as there is a key.
func TestCapture_Engine(t *testing.T) {
	type env map[string]string
	key := env{"DEEPGRAM_API_KEY": "k", "OPENAI_API_KEY": "k"}
	both := env{"DEEPGRAM_API_KEY": "k", "TRANSCRIPTION_PROVIDER": "deepgram,local"}
	for _, tt := range []struct {
		name        string
		hub, client env
		provider    string // for listen
		want        string
	}{
		{"Nothing", nil, nil, "", "local"},
		{"HubHasKey", key, nil, "", "local"},
		{"ClientHasKey", nil, key, "", "local"},
		{"BothHaveKey", key, key, "", "local"},
		{"HubNames", both, key, "", "deepgram"},
		{"ClientNames", key, both, "", "deepgram"},
		{"ClientNamesLocal", both, env{"TRANSCRIPTION_PROVIDER": "local"}, "", "local"},
		{"Flag", nil, key, "deepgram", "deepgram"},
		{"FlagLocal", both, both, "local", "local"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cloud, engine := stttest.Every("deepgram", 0.5), offlineEngine{stttest.Every("local", 0.5)}
			cfg := testConfig(t)
			load := func(settings env) *Config {
				t.Helper()
				for _, name := range []string{"DEEPGRAM_API_KEY", "OPENAI_API_KEY", "TRANSCRIPTION_PROVIDER"} {
					t.Setenv(name, settings[name])
				}
				c, err := loadConfig(t, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				c.DataDir, c.KeyDir, c.DatabaseURL = cfg.DataDir, cfg.KeyDir, cfg.DatabaseURL
				return c
			}
			app := openApp(t, load(tt.hub), Options{Providers: []hearken.Provider{engine, cloud}, Capture: silentCapture})
			p := &program{cfg: load(tt.client)}

			tools, err := p.connectTools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tools.close()
			for _, command := range []struct {
				name string
				do   func() error
			}{
				{"pscribe_start", func() error { return callTool(t, tools, "pscribe_start") }},
				{"pscribe_new", func() error { return callTool(t, tools, "pscribe_new") }},
				{"listen", func() error {
					return p.withScribe(t.Context(), false, func(s hearken.Scribe) error {
						_, err := s.Start(t.Context(), p.captureRequest(tt.provider, ""))
						return err
					})
				}},
			} {
				if tt.provider != "" && command.name != "listen" {
					continue
				}
				if err := command.do(); err != nil {
					t.Fatalf("%s: %v", command.name, err)
				}
				st, err := app.scribe.Status(t.Context())
				if err != nil || st.Engine != tt.want {
					t.Errorf("%s: heard by %+v, %v, want %s", command.name, st, err, tt.want)
				}
				says := "Listening with Moonshine (offline), English. Audio stays on this computer."
				if tt.want == "deepgram" {
					says = "Listening with Deepgram, Portuguese (pt-BR). Audio goes to Deepgram."
				}
				if !slices.Contains(st.Notes, says) {
					t.Errorf("%s: the status says %q, want %q", command.name, st.Notes, says)
				}
				if command.name == "pscribe_start" {
					continue // pscribe_new continues it
				}
				if _, err := app.scribe.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if tt.want == "local" && len(cloud.Opened()) > 0 {
				t.Error("the microphone was sent to Deepgram")
			}
			if s, err := app.hub.Start(t.Context(), hearken.StartRequest{}); err != nil || (s.Provider == "deepgram") != (tt.hub["DEEPGRAM_API_KEY"] != "") {
				t.Errorf("other audio: %+v, %v", s, err)
			}
		})
	}
}

func callTool(t *testing.T, c *client, name string) error {
	t.Helper()
	res, err := c.session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
	if err == nil && res.IsError {
		err = resultError(res, res.Content[0].(*mcp.TextContent).Text)
	}
	return err
}

// Without its models, the offline engine fails, and nothing takes its place.
func TestCapture_NoModels(t *testing.T) {
	testConfig(t)
	t.Setenv("DEEPGRAM_API_KEY", "k")
	t.Setenv("HEARKEN_MODELS", t.TempDir())
	t.Setenv("SCRIBE_BACKEND", "native")
	cfg, err := loadConfig(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	app, err := Open(t.Context(), cfg, Options{Brief: true, Capture: silentCapture})
	if err != nil {
		t.Fatal(err)
	}
	defer app.closeInTime()
	_, err = app.scribe.Start(t.Context(), hearken.CaptureRequest{})
	if hearken.CodeOf(err) != hearken.ProviderNotConfigured {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"hearken models pull", "TRANSCRIPTION_PROVIDER=deepgram"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestPrintEngines(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"Default", nil, "  engine              Moonshine (offline), English. Audio stays on this computer.\n"},
		{"KeyOnly", map[string]string{"DEEPGRAM_API_KEY": "k"}, "  microphone          Moonshine (offline), English. Audio stays on this computer.\n" +
			"  other audio         Deepgram, Portuguese (pt-BR). Audio goes to Deepgram.\n"},
		{
			"Named", map[string]string{"TRANSCRIPTION_PROVIDER": "deepgram,openai", "DEFAULT_LANGUAGE": "sv"},
			"  engine              Deepgram, Swedish. Audio goes to Deepgram. If that engine fails, it goes to OpenAI.\n",
		},
		{
			"Fallback", map[string]string{"TRANSCRIPTION_PROVIDER": "local,deepgram", "DEEPGRAM_BASE_URL": "wss://api.eu.deepgram.com"},
			"  engine              Moonshine (offline), English. Audio stays on this computer. If that engine fails, it goes to Deepgram.\n",
		},
		{
			"OwnServer", map[string]string{"TRANSCRIPTION_PROVIDER": "openai", "OPENAI_BASE_URL": "http://localhost:8000/v1"},
			"  engine              the server at localhost:8000, English. Audio stays on this computer.\n",
		},
		{
			"ServerElsewhere", map[string]string{"TRANSCRIPTION_PROVIDER": "openai", "OPENAI_BASE_URL": "http://192.0.2.1:8000", "DEFAULT_LANGUAGE": "tlh"},
			"  engine              the server at 192.0.2.1:8000, tlh. Audio goes to the server at 192.0.2.1:8000.\n",
		},
		{"ParrotScribe", map[string]string{"SCRIBE_BACKEND": "pscribe"}, "  microphone          ParrotScribe, with its own settings.\n" +
			"  other audio         Moonshine (offline), English. Audio stays on this computer.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testConfig(t)
			t.Setenv("SCRIBE_BACKEND", "native")
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			cfg, err := loadConfig(t, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			app, err := Open(t.Context(), cfg, Options{Brief: true})
			if err != nil {
				t.Fatal(err)
			}
			defer app.closeInTime()
			var out bytes.Buffer
			if app.printEngines(&out); out.String() != tt.want {
				t.Errorf("got:\n%swant:\n%s", out.String(), tt.want)
			}
		})
	}
}
