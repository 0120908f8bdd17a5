//go:build accept

package accept

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestProviders_Examples copies the examples for programs that were written for
// Deepgram and OpenAI out of docs/providers.md and runs them. Only the address
// is that of the test's hub, and call.wav a recording.
func TestProviders_Examples(t *testing.T) {
	k := newClip(t, spoken)
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "providers.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, sections, _ := strings.Cut(string(document), "\n## For programs written for Deepgram\n")
	sections, _, found := strings.Cut(sections, "\n## What was tested")
	blocks := regexp.MustCompile("(?s)\n```(\\w*)\n(.*?)\n```").FindAllStringSubmatch(sections, -1)
	if !found || len(blocks) < 5 {
		t.Fatalf("%d examples were found in docs/providers.md", len(blocks))
	}
	h := hubtest.Start(t, "HEARKEN_MODELS="+engine(t))
	for _, b := range blocks {
		language, text := b[1], strings.ReplaceAll(b[2], "http://127.0.0.1:8080", h.URL)
		t.Run(title(language, text), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(k.path, filepath.Join(dir, "call.wav")); err != nil {
				t.Fatal(err)
			}
			var out string
			switch language {
			case "sh":
				out = must(t, dir, h.Env, "sh", "-euc", text)
			case "js":
				out = example(t, dir, h, text)
			default:
				t.Fatalf("nobody knows how to run this:\n%s", text)
			}
			if !strings.Contains(plain(out), theWords) {
				t.Errorf("%s\nprinted %s", text, out)
			}
		})
	}
}

// title tells the examples apart.
func title(language, text string) string {
	for name, mark := range map[string]string{
		"Deepgram5": "DeepgramClient", "Deepgram4": "createClient", "OpenAI": "import OpenAI",
		"DeepgramRecording": "/v1/listen", "OpenAIRecording": "curl http",
	} {
		if strings.Contains(text, mark) {
			return name
		}
	}
	return language
}

// example runs a module, which finds the packages of the edition it imports.
func example(t *testing.T, dir string, h *hubtest.Hub, text string) string {
	t.Helper()
	client := "deepgram"
	switch {
	case strings.Contains(text, `from "openai"`):
		client = "openai"
	case strings.Contains(text, "createClient"):
		client = "deepgram4"
	}
	nodejs := node(t)
	err := os.Symlink(fetched(t, client, "node_modules"), filepath.Join(dir, "node_modules"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "example.mjs"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return must(t, dir, h.Env, nodejs, "example.mjs")
}
