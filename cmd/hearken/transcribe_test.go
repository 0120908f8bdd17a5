package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/test/speech"
)

// hearkenHere runs a command in this process, with the real engine.
func hearkenHere(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &log)
	return code, out.String(), log.String()
}

func TestTranscribe(t *testing.T) {
	root := speech.Models(t)
	jfk := speech.Get(t, "jfk").Path
	cleanEnv(t)
	t.Setenv("HEARKEN_MODELS", root)
	t.Setenv("LOCAL_MODEL", "tiny")

	t.Run("Text", func(t *testing.T) {
		code, out, log := hearkenHere(t, "transcribe", "-q", jfk)
		if code != 0 || !strings.Contains(out, "my fellow Americans") || !strings.Contains(out, "country") {
			t.Errorf("exit %d, got %q, log %s", code, out, log)
		}
	})
	t.Run("Directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		missing := filepath.Join(t.TempDir(), "missing.wav")
		code, out, log := hearkenHere(t, "transcribe", "--format", "srt", "--output", dir, missing, jfk)
		if code != 1 || out != "" || !strings.Contains(log, "missing.wav") {
			t.Errorf("exit %d, got %q, log %s", code, out, log)
		}
		data, err := os.ReadFile(filepath.Join(dir, "jfk.srt"))
		if err != nil || !strings.HasPrefix(string(data), "1\n00:00:0") {
			t.Errorf("got %q, %v", data, err)
		}
	})
	t.Run("Language", func(t *testing.T) {
		code, _, log := hearkenHere(t, "transcribe", "--language", "tlh", jfk)
		if code != 1 || !strings.Contains(log, "tlh") || !strings.Contains(log, "en") {
			t.Errorf("exit %d, log %s", code, log)
		}
	})
}
