package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken/audio"
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
	// Several are written in the order in which they were named, each with all
	// of its words.
	t.Run("Several", func(t *testing.T) {
		other := speech.Get(t, "ls-other-1688-142285-0003").Path
		code, out, log := hearkenHere(t, "transcribe", "-q", jfk, other)
		_, both, ok := strings.Cut(out, "==> "+jfk+" <==\n")
		first, second, ok2 := strings.Cut(both, "==> "+other+" <==\n")
		if code != 0 || !ok || !ok2 || !strings.Contains(first, "country") || !strings.Contains(second, "himself") {
			t.Errorf("exit %d, got %q, log %s", code, out, log)
		}
	})
	// The sides of a call are separate, and sorted by time.
	t.Run("Separate", func(t *testing.T) {
		call, _ := speech.Call(t)
		code, out, log := hearkenHere(t, "transcribe", "-q", "--separate", "--format", "json", call.Path)
		var got struct {
			Segments []struct {
				Source, Text string
				StartTime    float64
			}
		}
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
			t.Fatalf("exit %d, got %q, %v, log %s", code, out, err, log)
		}
		said := map[string]string{}
		for i, s := range got.Segments {
			said[s.Source] += strings.ToLower(s.Text) + " "
			if i > 0 && s.StartTime < got.Segments[i-1].StartTime {
				t.Errorf("%q comes too late", s.Text)
			}
		}
		for word, side := range map[string]string{"lady": "M", "silly": "S", "garland": "M", "accusing": "S"} {
			other := map[string]string{"M": "S", "S": "M"}[side]
			if !strings.Contains(said[side], word) || strings.Contains(said[other], word) {
				t.Errorf("%q is not heard from %s alone: %q", word, side, said)
			}
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
	// Nothing on standard output is explained on standard error.
	t.Run("Silence", func(t *testing.T) {
		silent := filepath.Join(t.TempDir(), "silent.wav")
		if err := os.WriteFile(silent, audio.EncodeWAV(16000, make([]int16, 3*16000)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, log := hearkenHere(t, "transcribe", "-q", silent)
		if code != 0 || out != "" || !strings.Contains(log, "silent.wav: No words were heard: there is no speech, or it is in another language. (3.0 seconds of audio, language en)") {
			t.Errorf("exit %d, got %q, log %s", code, out, log)
		}
	})
	t.Run("Language", func(t *testing.T) {
		code, _, log := hearkenHere(t, "transcribe", "--language", "tlh", jfk)
		if code != 1 || !strings.Contains(log, "tlh") || !strings.Contains(log, "en") {
			t.Errorf("exit %d, log %s", code, log)
		}
	})
}
