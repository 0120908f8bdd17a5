package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// cleanEnv unsets every setting.
func cleanEnv(t *testing.T) {
	t.Helper()
	for _, s := range settings() {
		t.Setenv(s.env, "")
		t.Setenv(s.env+"_FILE", "")
	}
	t.Setenv(configEnv, "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", "/data")
}

func loadConfig(t *testing.T, file string, flags map[string]bool) (*Config, error) {
	t.Helper()
	c := &Config{Port: 1}
	return c, c.load(file, flags)
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearken.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfig_Order(t *testing.T) {
	cleanEnv(t)
	file := writeFile(t, "port = 3\n")
	for _, tt := range []struct {
		name  string
		flag  bool
		env   string
		file  string
		want  int
		where string
	}{
		{"Flag", true, "2", file, 1, "--port"},
		{"Env", false, "2", file, 2, "PORT"},
		{"File", false, "", file, 3, file},
		{"Default", false, "", "", 8080, "default"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PORT", tt.env)
			c, err := loadConfig(t, tt.file, map[string]bool{"port": tt.flag})
			if err != nil {
				t.Fatal(err)
			}
			if c.Port != tt.want || c.sources["port"] != tt.where {
				t.Errorf("got %d from %s, want %d from %s", c.Port, c.sources["port"], tt.want, tt.where)
			}
		})
	}
}

func TestConfig_Defaults(t *testing.T) {
	cleanEnv(t)
	c, err := loadConfig(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range c.effective() {
		got[e.Env] = e.Value
	}
	// The specification's, and the four that differ from it.
	want := map[string]string{
		"TRANSPORT": "http", "PORT": "8080", "STORAGE_BACKEND": "sqlite", "PERSIST_INTERVAL_SECONDS": "30",
		"PERSIST_INTERVAL_SEGMENTS": "10", "MAX_BUFFER_CHUNKS": "100", "RECONNECT_MAX_RETRIES": "3",
		"HOST": "127.0.0.1", "TRANSCRIPTION_PROVIDER": "local", "DEFAULT_LANGUAGE": "en", "DATABASE_URL": "/data/hearken/hearken.db",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if got := c.languages()["deepgram"]; got != "pt-BR" {
		t.Errorf("Deepgram's language is %q", got)
	}
}

func TestConfig_BadValues(t *testing.T) {
	for _, tt := range []struct{ env, value, want string }{
		{"PORT", "abc", `PORT is "abc". It must be a whole number from 0 to 65535.`},
		{"PORT", "65536", `PORT is "65536". It must be a whole number from 0 to 65535.`},
		{"TRANSPORT", "carrier-pigeon", `TRANSPORT is "carrier-pigeon". It must be one of http, stdio.`},
		{"STORAGE_BACKEND", "mysql", `STORAGE_BACKEND is "mysql". It must be one of sqlite, postgres, json.`},
		{"STORAGE_BACKEND", "postgres", `DATABASE_URL is "". It must be a connection string such as postgres://user@host/hearken, since STORAGE_BACKEND is postgres.`},
		{"TRANSCRIPTION_PROVIDER", "ear", `TRANSCRIPTION_PROVIDER is "ear". It must be one or more of local, deepgram, openai, null.`},
		{"TRANSCRIPTION_PROVIDER", "local,local", `TRANSCRIPTION_PROVIDER is "local,local". It must be a list that names each engine once.`},
		{"KEEP_AUDIO", "perhaps", `KEEP_AUDIO is "perhaps". It must be true or false.`},
		{"TOOLSETS", "read,write", `TOOLSETS is "read,write". It must be one or more of all, transcription, scribe, actions, read.`},
		{"WS_LISTEN", "7777", `WS_LISTEN is "7777". It must be host:port, or off.`},
		{"PUBLIC_URL", "hearken.example.org", `PUBLIC_URL is "hearken.example.org". It must be an http or https address without a query.`},
		{"TLS_CERT", "/c.pem", `TLS_KEY is "". It must be the file with the key of TLS_CERT.`},
		{"IDLE_MINUTES", "NaN", `IDLE_MINUTES is "NaN". It must be a number from 0.01 to 10000.`},
	} {
		t.Run(tt.env+"="+tt.value, func(t *testing.T) {
			cleanEnv(t)
			t.Setenv(tt.env, tt.value)
			_, err := loadConfig(t, "", nil)
			if hearken.CodeOf(err) != hearken.Invalid || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestConfig_File(t *testing.T) {
	cleanEnv(t)
	for _, tt := range []struct{ name, text, want string }{
		{"UnknownKey", "prot = 1", `has the unknown key "prot"`},
		{"BadValue", "storage_backend = 'x'", `STORAGE_BACKEND (`},
		{"NotTOML", "port 1", "is not valid TOML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadConfig(t, writeFile(t, tt.text), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	c, err := loadConfig(t, writeFile(t, "toolsets = ['read', 'transcription']\nkeep_audio = true\nidle_minutes = 2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"read", "transcription"}, c.Toolsets); diff != "" || !c.KeepAudio || c.IdleMinutes != 2 {
		t.Errorf("got %+v", c)
	}
	if _, err := loadConfig(t, "/does/not/exist.toml", nil); err == nil {
		t.Error("no error for a named file that does not exist")
	}
}

func TestConfig_Secrets(t *testing.T) {
	cleanEnv(t)
	secret := writeFile(t, "dg-secret\n")
	t.Setenv("DEEPGRAM_API_KEY_FILE", secret)
	t.Setenv("STORAGE_BACKEND", "postgres")
	t.Setenv("DATABASE_URL", "postgres://me:pg-secret@host:5432/db?sslmode=disable&password=pg-secret")
	c, err := loadConfig(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.DeepgramAPIKey != "dg-secret" || c.sources["deepgram-api-key"] != "DEEPGRAM_API_KEY_FILE" {
		t.Errorf("got %q from %s", c.DeepgramAPIKey, c.sources["deepgram-api-key"])
	}
	for _, e := range c.effective() {
		if strings.Contains(e.Value, "secret") {
			t.Errorf("%s shows %q", e.Key, e.Value)
		}
	}
	if got := c.storeName(); got != "postgres at postgres://me@host:5432/db?sslmode=disable" {
		t.Errorf("the store is called %q", got)
	}
	for _, raw := range []string{
		"host=h user=me password=pg-secret dbname=db", "host=h user=me password = pg-secret dbname=db", `host=h user=me password='pg secret\'s' dbname=db`,
		`host=h sslpassword=x\ pg-secret user=me dbname=db`,
	} {
		if got := redactURL(raw); got != "host=h user=me dbname=db" {
			t.Errorf("%q becomes %q", raw, got)
		}
	}
	for _, raw := range []string{"host=h password='pg-secret", "host=h password=a 'pg-secret'", "postgres://me:pg-secret@%zz/db"} {
		if got := redactURL(raw); strings.Contains(got, "secret") {
			t.Errorf("%q becomes %q", raw, got)
		}
	}
	t.Setenv("DEEPGRAM_API_KEY_FILE", "/does/not/exist")
	if _, err := loadConfig(t, "", nil); err == nil || !strings.Contains(err.Error(), "DEEPGRAM_API_KEY_FILE") {
		t.Errorf("got %v", err)
	}
}

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// The tables of docs/configuration.md and the comments of hearken.example.toml are
// generated from the settings. Run with -update to write them.
func TestConfig_Documented(t *testing.T) {
	for path, generate := range map[string]func(*testing.T, string) string{
		"../../docs/configuration.md": configTables,
		"../../hearken.example.toml":  configExample,
	} {
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := generate(t, string(old))
		switch {
		case want == string(old):
		case *update:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s does not match the settings: run go test ./cmd/hearken -run TestConfig_Documented -update", path)
		}
	}
}

// configTables replaces the tables of the reference, one for each group.
func configTables(t *testing.T, doc string) string {
	const head = "| variable | key in the file | default | what |\n|---|---|---|---|\n"
	for group, title := range groupTitles {
		before, rest, ok := strings.Cut(doc, "\n## "+title+"\n\n"+head)
		if !ok {
			t.Fatalf("docs/configuration.md has no section %q", title)
		}
		_, after, ok := strings.Cut(rest, "\n\n")
		if !ok {
			t.Fatalf("the table of %q has no end", title)
		}
		var rows []string
		for _, s := range settings() {
			if s.group == group {
				help, def := configHelp(s)
				rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s | %s |", s.env, s.key(), def, help))
			}
		}
		doc = before + "\n## " + title + "\n\n" + head + strings.Join(rows, "\n") + "\n\n" + after
	}
	return doc
}

// configHelp splits what the reference says about a setting into the sentence
// and the default.
func configHelp(s setting) (help, def string) {
	if s.def != "" {
		def = "`" + s.def + "`"
	}
	help, rest, _ := strings.Cut(s.help, " Default: ")
	if rest != "" {
		def = strings.TrimSuffix(rest, ".")
	}
	return strings.NewReplacer("|", "\\|").Replace(help + allowedValues(s, "`")), def
}

// allowedValues says in a sentence which values a setting takes.
func allowedValues(s setting, quote string) string {
	several := reflect.TypeFor[Config]().Field(s.index).Type.Kind() == reflect.Slice
	values := quote + strings.Join(s.allowed, quote+", "+quote) + quote
	switch {
	case len(s.allowed) > 0 && several:
		return " One or more of " + values + "."
	case len(s.allowed) > 0:
		return " One of " + values + "."
	case s.max != "":
		return " From " + s.min + " to " + s.max + "."
	}
	return ""
}

// configExample replaces the comments of the sample file, whose values stay.
func configExample(t *testing.T, old string) string {
	intro, _, ok := strings.Cut(old, "\n\n")
	if !ok {
		t.Fatal("hearken.example.toml has no introduction")
	}
	var b strings.Builder
	b.WriteString(intro + "\n")
	group := ""
	for _, s := range settings() {
		if s.group != group {
			group = s.group
			fmt.Fprintf(&b, "\n# %s\n", groupTitles[group])
		}
		line := regexp.MustCompile(`(?m)^#?` + s.key() + ` = .*$`).FindString(old)
		if line == "" {
			t.Fatalf("hearken.example.toml has no value for %s", s.key())
		}
		fmt.Fprintf(&b, "\n%s%s\n", comment(s.help+allowedValues(s, "")), line)
	}
	return b.String()
}

// comment breaks a text into comment lines of at most 78 characters.
func comment(text string) string {
	var b strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 78 {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// The sample file, with every line uncommented, sets the defaults.
func TestConfig_Example(t *testing.T) {
	cleanEnv(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "hearken.example.toml"))
	if err != nil {
		t.Fatal(err)
	}
	uncommented := regexp.MustCompile(`(?m)^#([a-z_]+ = )`).ReplaceAll(data, []byte("$1"))
	values := map[string]any{}
	if err := toml.Unmarshal(uncommented, &values); err != nil {
		t.Fatal(err)
	}
	for _, s := range settings() {
		if s.def == "" {
			continue // no default: the file has an example instead
		}
		if got := formatValue(values[s.key()]); got != s.def {
			t.Errorf("%s is %q in the example, %q by default", s.key(), got, s.def)
		}
	}
}

func TestIntersectToolsets(t *testing.T) {
	for _, tt := range []struct {
		name             string
		have, want, both []string
	}{
		{"All", []string{"all"}, []string{"read"}, []string{"read"}},
		{"KeyAll", []string{"scribe"}, []string{"all"}, []string{"scribe"}},
		{"Common", []string{"scribe", "transcription"}, []string{"transcription"}, []string{"transcription"}},
		{"Read", []string{"transcription"}, []string{"read"}, []string{"transcription", "read"}},
		{"HubReadOnly", []string{"read"}, []string{"transcription"}, []string{"transcription", "read"}},
		{"NoneInCommon", []string{"scribe"}, []string{"actions"}, []string{"none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.both, intersectToolsets(tt.have, tt.want)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
