package upload

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// talk is what most tests transcribe: words, silence, an event, a translation,
// words.
func talk() []hearken.Segment {
	return []hearken.Segment{
		said(0.5, 1.5, "Hello", "there."),
		with(said(0.5, 1.5, "Bonjour."), func(s *hearken.Segment) { s.Status = hearken.Translated }),
		{Origin: hearken.Microphone, Status: hearken.NoSpeech, StartTime: 1.5, EndTime: 1.9, Text: "[not understood]"},
		{Origin: hearken.EventOrigin, Status: hearken.Confirmed, StartTime: 1.9, EndTime: 1.9, Text: "[going on with local]"},
		with(said(2, 2.6, "R&D", "<now>?"), func(s *hearken.Segment) { s.Confidence, s.Text = nil, " R&D\n<now>? " }),
	}
}

func TestFormats(t *testing.T) {
	ratio := func(text string) string { return strconv.FormatFloat(compressionRatio(text), 'f', -1, 64) }
	hello := strings.Replace(`{"id":0,"seek":50,"start":0.5,"end":1.5,"text":" Hello there.","tokens":[],"temperature":0,"avg_logprob":-0.105,"compression_ratio":R,"no_speech_prob":0}`, "R", ratio("Hello there."), 1)
	now := strings.Replace(`{"id":1,"seek":200,"start":2,"end":2.6,"text":" R&D <now>?","tokens":[],"temperature":0,"avg_logprob":0,"compression_ratio":R,"no_speech_prob":0}`, "R,", ratio("R&D <now>?")+",", 1)
	const words = `"words":[{"word":"Hello","start":0.5,"end":1},{"word":"there.","start":1,"end":1.5},{"word":"R&D","start":2,"end":2.3},{"word":"<now>?","start":2.3,"end":2.6}]`
	const head = `{"task":"transcribe","language":"english","duration":3.25,"text":"Hello there. R&D <now>?",`
	const usage = `"usage":{"type":"duration","seconds":4}}` + "\n"
	tests := []struct {
		name   string
		fields []string
		kind   string
		want   string
	}{
		{"default", nil, "application/json", `{"text":"Hello there. R&D <now>?",` + usage},
		{"json", []string{"response_format", "json"}, "application/json", `{"text":"Hello there. R&D <now>?",` + usage},
		{"text", []string{"response_format", "text"}, "text/plain; charset=utf-8", "Hello there. R&D <now>?\n"},
		{"srt", []string{"response_format", "srt"}, "text/plain; charset=utf-8",
			"1\n00:00:00,500 --> 00:00:01,500\nHello there.\n\n2\n00:00:02,000 --> 00:00:03,000\nR&D <now>?\n\n"},
		{"vtt", []string{"response_format", "vtt"}, "text/plain; charset=utf-8",
			"WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nHello there.\n\n00:00:02.000 --> 00:00:03.000\nR&amp;D &lt;now&gt;?\n\n"},
		{"verbose", []string{"response_format", "verbose_json"}, "application/json", head + `"segments":[` + hello + "," + now + `],` + usage},
		{"words", []string{"response_format", "verbose_json", "timestamp_granularities[]", "word"}, "application/json", head + words + "," + usage},
		{"both", []string{"response_format", "verbose_json", "timestamp_granularities[0]", "word", "timestamp_granularities[1]", "segment"},
			"application/json", head + `"segments":[` + hello + "," + now + `],` + words + "," + usage},
		{"diarized", []string{"response_format", "diarized_json", "chunking_strategy", "auto"}, "application/json",
			`{"task":"transcribe","duration":3.25,"text":"Hello there. R&D <now>?","segments":[` +
				`{"type":"transcript.text.segment","id":"seg_0","start":0.5,"end":1.5,"text":"Hello there.","speaker":"unknown"},` +
				`{"type":"transcript.text.segment","id":"seg_1","start":2,"end":2.6,"text":"R&D <now>?","speaker":"unknown"}],` + usage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, &hub{script: talk()})
			res, body := d.post("/v1/audio/transcriptions", upload{"a.wav", wav(3.25), append([]string{"model", "whisper-1"}, tt.fields...)})
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != tt.kind || res.Header.Get("X-Request-Id") != session {
				t.Errorf("%d %v", res.StatusCode, res.Header)
			}
			if diff := cmp.Diff(tt.want, body); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFormats_Silence has no words at all, which is no error.
func TestFormats_Silence(t *testing.T) {
	for format, want := range map[string]string{
		"json":          `{"text":"","usage":{"type":"duration","seconds":1}}` + "\n",
		"text":          "\n",
		"srt":           "",
		"vtt":           "WEBVTT\n\n",
		"verbose_json":  `{"task":"transcribe","language":"japanese","duration":1,"text":"","segments":[],"usage":{"type":"duration","seconds":1}}` + "\n",
		"diarized_json": `{"task":"transcribe","duration":1,"text":"","segments":[],"usage":{"type":"duration","seconds":1}}` + "\n",
	} {
		d := open(t, &hub{})
		res, body := d.post("/v1/audio/transcriptions", upload{"a.wav", wav(1), []string{"model", "local", "response_format", format, "language", "ja"}})
		if res.StatusCode != http.StatusOK || body != want {
			t.Errorf("%s: %d %q", format, res.StatusCode, body)
		}
	}
}

// TestTranslation has a language that is translated but for one word, and
// English, which needs none.
func TestTranslation(t *testing.T) {
	french := func(s *hearken.Segment) { s.Language = "fr" }
	english := func(s *hearken.Segment) { s.Status, s.Words = hearken.Translated, nil }
	h := &hub{script: []hearken.Segment{
		with(said(0, 0.5, "Bonjour."), french), with(said(0, 0.5, "Good", "day."), english),
		with(said(0.5, 0.8, "Hein?"), french),
		said(1, 1.5, "OK."),
		with(said(2, 2.5, "Merci."), french), with(said(2, 2.5, "Thanks."), english),
	}}
	d := open(t, h)
	u := upload{"a.wav", wav(3), []string{"model", "whisper-1"}}
	want := `{"text":"Good day. Hein? OK. Thanks.","usage":{"type":"duration","seconds":3}}` + "\n"
	if res, body := d.post("/v1/audio/translations", u); res.StatusCode != http.StatusOK || body != want {
		t.Errorf("%d %q", res.StatusCode, body)
	}
	if got := h.requests[0]; got.Provider != "openai" || !got.Translate || got.Language != "auto" {
		t.Errorf("asked for %+v", got)
	}
	u.fields = []string{"model", "openai", "response_format", "srt"}
	if _, body := d.post("/v1/audio/translations", u); !strings.HasSuffix(body, "\nThanks.\n\n") {
		t.Error(body)
	}
	u.fields[3] = "verbose_json"
	if _, body := d.post("/v1/audio/translations", u); !strings.HasPrefix(body, `{"task":"translate","language":"english",`) {
		t.Error(body)
	}
	h.script = h.script[2:4]
	if res, body := d.post("/v1/audio/translations", u); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, `"not_translated"`) {
		t.Errorf("not translated: %d %s", res.StatusCode, body)
	}
}

// TestSpeakers has an engine that names speakers, of segments and of words.
func TestSpeakers(t *testing.T) {
	both := with(said(1, 2, "yes", "no", "maybe"), func(s *hearken.Segment) {
		s.Words[0].Speaker, s.Words[1].Speaker, s.Words[2].Speaker = new(0), new(1), new(1)
	})
	h := &hub{script: []hearken.Segment{with(said(0, 1, "well"), func(s *hearken.Segment) { s.Speaker = new(1) }), both}}
	d := open(t, h)
	_, body := d.post("/v1/audio/transcriptions", upload{"a.wav", wav(2.5), []string{"model", "gpt-4o-transcribe-diarize", "response_format", "diarized_json"}})
	want := `{"task":"transcribe","duration":2.5,"text":"well yes no maybe","segments":[` +
		`{"type":"transcript.text.segment","id":"seg_0","start":0,"end":1,"text":"well","speaker":"B"},` +
		`{"type":"transcript.text.segment","id":"seg_1","start":1,"end":1.333,"text":"yes","speaker":"A"},` +
		`{"type":"transcript.text.segment","id":"seg_2","start":1.333,"end":2,"text":"no maybe","speaker":"B"}],` +
		`"usage":{"type":"duration","seconds":3}}` + "\n"
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	for n, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", -1: "unknown"} {
		if got := speakerLabel(&n); got != want {
			t.Errorf("speaker %d is %s", n, got)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, tt := range []struct{ last, next, language, want string }{
		{"", "Hello", "en", ""},
		{"Hello.", "Who?", "en", " "},
		{"です。", "はい", "", ""},
		{"OK", "です", "ja", ""},
		{"你好", "world", "en", " "},
		{"안녕", "하세요", "ko", " "},
		{"สวัสดี", "ครับ", "", ""},
		{"你好", "Ken", "zh-Hant-TW", ""},
	} {
		if got := separator(tt.last, tt.next, tt.language); got != tt.want {
			t.Errorf("between %q and %q (%s): %q", tt.last, tt.next, tt.language, got)
		}
	}
}

func TestWords_Estimated(t *testing.T) {
	s := hearken.Segment{Text: "ab åäöü", StartTime: 1, EndTime: 4}
	want := []word{{"ab", 1, 2}, {"åäöü", 2, 4}}
	if diff := cmp.Diff(want, words(&s)); diff != "" {
		t.Error(diff)
	}
}

// TestCompression has the two sides of the limit that clients of Whisper know.
func TestCompression(t *testing.T) {
	if r := compressionRatio("There is iron, they say, in all our blood, and a grain or two perhaps is good."); r < 0.5 || r > 2.4 {
		t.Errorf("plain words: %v", r)
	}
	if r := compressionRatio(strings.Repeat("thank you for watching ", 20)); r <= 2.4 {
		t.Errorf("the same words again and again: %v", r)
	}
}

func TestLanguages(t *testing.T) {
	for tag, want := range map[string]string{"en": "english", "pt-BR": "portuguese", "yue": "cantonese", "tlh": "tlh", "": ""} {
		if got := nameOf(tag); got != want {
			t.Errorf("%s is %s", tag, got)
		}
	}
}
