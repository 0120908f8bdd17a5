//go:build accept

package accept

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// TestOpenAI has programs that were written for OpenAI use the hub through its
// official SDK for JavaScript. Only the base URL is the hub's.
func TestOpenAI(t *testing.T) {
	k := newClip(t, spoken)
	h := hubtest.Start(t, "HEARKEN_MODELS="+engine(t), "UPLOAD_MAX_MB=1")
	t.Run("Formats", func(t *testing.T) {
		k := newLongClip(t, spoken, "ls-1089-134686-0000.wav") // long enough to come in pieces
		var saw formats
		useOpenAI(t, h, &saw, "formats", "SOUND="+k.path)
		saw.check(t, k)
		for format, id := range saw.Sessions {
			m := checkSession(t, h, id, "fellow Americans")
			checkText(t, m.text["M"], k.text)
			if want := map[bool]string{true: "voice.mp3", false: spoken}[format == "memory"]; m.Title != want {
				t.Errorf("%s: the session's title is %q, the file's name %q", format, m.Title, want)
			}
		}
	})
	t.Run("Errors", func(t *testing.T) {
		var saw map[string]refusal
		useOpenAI(t, h, &saw, "errors", "SOUND="+k.path, "TEXT="+file(t, bytes.Repeat([]byte("This is a sentence and no sound. "), 100)), "LARGE="+file(t, make([]byte, 3<<20)))
		for name, want := range map[string]refusal{
			"model":       {Name: "NotFoundError", Status: 404, Param: "model", Code: "model_not_found", Message: "'gpt-9' does not exist"},
			"format":      {Name: "BadRequestError", Status: 400, Param: "response_format", Code: "invalid_value", Message: "'docx'"},
			"language":    {Name: "BadRequestError", Status: 400, Param: "language", Message: "Klingon"},
			"text":        {Name: "BadRequestError", Status: 400, Param: "file", Code: "invalid_file_format", Message: "Invalid file format"},
			"empty":       {Name: "BadRequestError", Status: 400, Param: "file", Message: "empty"},
			"large":       {Name: "APIError", Status: 413, Param: "file", Message: "Maximum content size limit (1048576) exceeded"},
			"translation": {Name: "BadRequestError", Status: 400, Param: "model", Code: "unsupported_operation", Message: "can translate"},
			"unknown":     {Name: "NotFoundError", Status: 404, Param: "model", Code: "model_not_found", Message: "'gpt-9'"},
			"elsewhere":   {Name: "NotFoundError", Status: 404, Code: "unknown_url", Message: "/v1/chat/completions"},
		} {
			saw[name].check(t, name, want)
		}
	})
	t.Run("Crowd", func(t *testing.T) {
		short := newClip(t, "ls-other-367-130732-0008.wav")
		var saw struct {
			Texts []string
			Busy  int
		}
		useOpenAI(t, h, &saw, "crowd", "SOUND="+short.path)
		if saw.Busy == 0 || len(saw.Texts) != 40 {
			t.Errorf("%d answers, %d times busy", len(saw.Texts), saw.Busy)
		}
		for _, text := range saw.Texts {
			checkText(t, text, short.text)
		}
		t.Logf("%d recordings at a time, %d times told to come back", len(saw.Texts), saw.Busy)
	})
	t.Run("Patience", func(t *testing.T) {
		h.Kill()
		var saw struct {
			Text     string
			Requests int
		}
		useOpenAI(t, h, &saw, "patience", "SOUND="+k.path)
		checkText(t, saw.Text, k.text)
		if saw.Requests < 2 {
			t.Errorf("answered at once by a hub that was not there")
		}
		t.Logf("asked %d times until the hub was there", saw.Requests)
	})
}

// TestOpenAI_Key has the hub ask for a key.
func TestOpenAI_Key(t *testing.T) {
	k := newClip(t, spoken)
	h := hubtest.Start(t, "HEARKEN_MODELS="+engine(t), "AUTH=required")
	var saw struct {
		Text          string
		Wrong, Theirs refusal
	}
	useOpenAI(t, h, &saw, "key", "SOUND="+k.path, "KEY="+newKey(t, h))
	checkText(t, saw.Text, k.text)
	want := refusal{Name: "AuthenticationError", Status: 401, Code: "invalid_api_key", Message: "API key"}
	saw.Wrong.check(t, "wrong", want)
	saw.Theirs.check(t, "theirs", want)
}

// A refusal is an error as the SDK throws it.
type refusal struct {
	Name, Code, Param, Type, Message string
	Status, Requests                 int
}

// check compares what is wanted of it. A mistake is reported once: the SDK must
// not try again.
func (r refusal) check(t *testing.T, name string, want refusal) {
	t.Helper()
	if r.Name != want.Name || r.Status != want.Status || r.Requests != 1 || !strings.Contains(r.Message, want.Message) ||
		want.Param != "" && r.Param != want.Param || want.Code != "" && r.Code != want.Code {
		t.Errorf("%s: %+v\nwant %+v", name, r, want)
	}
}

// formats is what the answers were.
type formats struct {
	Texts, Sessions map[string]string
	Usage           struct {
		Type    string
		Seconds float64
	}
	Verbose struct {
		Task, Language string
		Duration       float64
		Words          []timed
		Segments       []struct {
			Start, End float64
			Text       string
		}
	}
	Diarized struct {
		Segments []struct{ Text, Speaker string }
	}
	Events []struct{ Type, Delta, Text string }
	Models []string
	Model  string
}

func (f *formats) check(t *testing.T, k clip) {
	t.Helper()
	text := f.Texts["json"]
	checkText(t, text, k.text)
	for _, same := range []string{"text", "verbose_json", "diarized_json", "memory"} {
		if strings.TrimSpace(f.Texts[same]) != text {
			t.Errorf("%s: %q, json: %q", same, f.Texts[same], text)
		}
	}
	if !strings.HasPrefix(f.Texts["srt"], "1\n00:00:00,") || !strings.HasPrefix(f.Texts["vtt"], "WEBVTT\n\n") {
		t.Errorf("srt %q\nvtt %q", f.Texts["srt"], f.Texts["vtt"])
	}
	for _, format := range []string{"srt", "vtt"} {
		var lines []string
		for line := range strings.Lines(f.Texts[format]) {
			if line != "WEBVTT\n" && !strings.Contains(line, "-->") {
				lines = append(lines, line)
			}
		}
		checkText(t, strings.Join(lines, " "), k.text)
	}
	if f.Usage.Type != "duration" || f.Usage.Seconds != math.Ceil(k.seconds()) {
		t.Errorf("usage %+v", f.Usage)
	}
	v := f.Verbose
	var words, segments strings.Builder
	for _, w := range v.Words {
		words.WriteString(w.Word + " ")
	}
	for _, s := range v.Segments {
		segments.WriteString(s.Text)
	}
	if v.Task != "transcribe" || v.Language != "english" || math.Abs(v.Duration-k.seconds()) > 0.1 ||
		plain(words.String()) != plain(text) || strings.TrimSpace(segments.String()) != text {
		t.Errorf("verbose_json: %+v", v)
	}
	checkWords(t, v.Words, 0, k.seconds())
	if len(f.Diarized.Segments) == 0 || f.Diarized.Segments[0].Speaker == "" {
		t.Errorf("diarized_json: %+v", f.Diarized)
	}
	deltas := ""
	for i, e := range f.Events {
		switch {
		case e.Type == "transcript.text.delta":
			deltas += e.Delta
		case e.Type != "transcript.text.done" || i != len(f.Events)-1 || e.Text != text:
			t.Errorf("event %d of %d: %+v", i, len(f.Events), e)
		}
	}
	if len(f.Events) < 3 || deltas != text {
		t.Errorf("%d events, the deltas are %q, the text %q", len(f.Events), deltas, text)
	}
	if !slices.Contains(f.Models, "local") || f.Model != "local" {
		t.Errorf("models %v, local is %q", f.Models, f.Model)
	}
}

// useOpenAI runs the script. If it gets no answer the hub is started.
func useOpenAI(t *testing.T, h *hubtest.Hub, saw any, what string, env ...string) {
	t.Helper()
	installed(t, "openai", "openai", "package.json")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), "openai.mjs", h.URL+"/v1", what)
	cmd.Env = append(append(slices.Clone(h.Env), "CLIENTS="+os.Getenv("HEARKEN_ACCEPT_CLIENTS")), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.WaitDelay = &out, 5*time.Second
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	started := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		errs.WriteString(lines.Text() + "\n")
		if lines.Text() == "no answer" && !started {
			started = true
			h.Run()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	if err := json.Unmarshal(out.Bytes(), saw); err != nil {
		t.Fatalf("%v in %s%s", err, &errs, &out)
	}
}
