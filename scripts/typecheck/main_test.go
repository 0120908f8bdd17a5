package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake in a file of another platform is found, and only there.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.org/m\n\ngo 1.26.0\n",
		"m.go":          "package m\n\nimport \"os\"\n\nvar _ = os.Getpid() + length()\n",
		"m_linux.go":    "package m\n\nfunc length() int { return 1 }\n",
		"m_windows.go":  "package m\n\nfunc length() int { return \"1\" }\n",
		"m_test.go":     "package m\n\nvar _ = nothing\n",
		"m_wasip1.go":   "package m\n\nimport \"syscall\"\n\nfunc length() int { return syscall.Nowhere }\n",
		"sub/darwin.go": "package sub\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		platform string
		code     int
		want     string
	}{
		{"linux/arm64", 0, "linux/arm64, 2 packages"},
		{"windows/amd64", 1, "m_windows.go:3"},
		{"wasip1/wasm", 1, "Nowhere"},
		{"darwin/arm64", 1, "undefined: length"},
		{"linux", 1, "not a platform"},
	} {
		var out strings.Builder
		if code := run(&out, dir, []string{tt.platform}); code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: exit %d, %s", tt.platform, code, &out)
		}
	}
}
