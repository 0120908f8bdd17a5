package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// tenSeconds is an utterance from 100 to 110 seconds with speech from 100.5 to
// 109.5 and a pause from 104 to 106.
func tenSeconds() *transcription {
	u := &transcription{pos: 100 * hearken.SampleRate, end: 110 * hearken.SampleRate, first: 1608000, last: 1752000}
	for i := range 10 * hearken.SampleRate / window {
		t := float64(i) * window / hearken.SampleRate
		u.speech = append(u.speech, t >= 0.5 && t < 9.5 && (t < 4 || t >= 6))
	}
	return u
}

func answerTo(t testing.TB, kind, body string) (*answer, error) {
	t.Helper()
	w := httptest.NewRecorder()
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(http.StatusOK)
	w.WriteString(body)
	return New(Config{}).readAnswer(w.Result(), "k", func(string) {})
}

// What the servers of this world answer, and what is made of it.
func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		lang string // of the session
		want string
	}{
		"OpenAI": {`{"task":"transcribe","language":"english","duration":10.0,"text":"Well, it's 5 o'clock.","words":[{"word":"Well","start":0.0,"end":1.0},{"word":"it's","start":1.0,"end":2.0},{"word":"5","start":2.0,"end":3.0},{"word":"o'clock","start":6.5,"end":9.9}],"segments":[{"id":0,"start":0.0,"end":9.9,"text":" Well, it's 5 o'clock.","avg_logprob":-0.1,"compression_ratio":1.1,"no_speech_prob":0.01}]}`, "en-GB",
			"en-GB 0.90 | Well, 100.30-101.00 | it's 101.00-102.00 | 5 102.00-103.00 | o'clock. 106.50-109.70"},
		"WhisperCpp": {`{"task":"transcribe","language":"english","text":" That's one\n small step.\n","segments":[{"id":0,"text":" That's one","start":0.5,"end":4.0,"words":[{"word":" That","start":0.5,"end":1.0,"probability":0.5},{"word":"'s","start":1.0,"end":1.5,"probability":0.8},{"word":" one","start":2.0,"end":4.0,"probability":0.9}],"avg_logprob":-0.5},{"id":1,"text":" small step.","start":4,"end":9.5,"words":[{"word":" small","start":6,"end":7.0},{"word":" step","start":8.0,"end":9.0},{"word":".","start":9.0,"end":9.2}],"avg_logprob":-0.5}]}`, "en",
			"en 0.61 | That's 100.50-101.50 | one 102.00-104.00 | small 106.00-107.00 | step. 108.00-109.00"},
		"VLLM": {`{"duration":"10.0","language":"de","text":" Guten Tag. Bis bald.","segments":[{"id":1,"avg_logprob":-1.0,"compression_ratio":-1.0,"end":4.0,"no_speech_prob":-1.0,"seek":0,"start":0.5,"temperature":-1.0,"text":" Guten Tag.","tokens":[1]},{"id":2,"avg_logprob":-1.0,"compression_ratio":-1.0,"end":"9.5","no_speech_prob":-1.0,"start":"6.0","text":" Bis bald."}],"words":null}`, "de-AT",
			"de-AT - ~ | Guten 100.51-102.41 | Tag. 102.41-104.00 | Bis 106.02-107.41 | bald. 107.41-109.50"},
		"Plain":       {`{"text":"ab cd","usage":{"type":"tokens"}}`, "sv", "sv - ~ | ab 100.51-104.00 | cd 106.02-109.50"},
		"Text":        {"ab cd\n", "sv", "sv - ~ | ab 100.51-104.00 | cd 106.02-109.50"},
		"String":      {`"ab cd"`, "sv", "sv - ~ | ab 100.51-104.00 | cd 106.02-109.50"},
		"Detected":    {`{"text":"Hej","language":"Swedish"}`, "", "sv - ~ | Hej 100.51-109.50"},
		"Detected2":   {`{"text":"Hej","languages":["sv"]}`, "", "sv - ~ | Hej 100.51-109.50"},
		"Castilian":   {`{"text":"Hola","language":"castilian"}`, "", "es - ~ | Hola 100.51-109.50"},
		"WrongOne":    {`{"text":"Hej","language":"sv"}`, "nb-NO", "sv - ~ | Hej 100.51-109.50"},
		"Strange":     {`{"text":"Hej","language":{"code":"sv"},"segments":"none"}`, "sv", "sv - ~ | Hej 100.51-109.50"},
		"NoTimes":     {`{"text":"Hej","words":[{"word":"Hej","start":0,"end":0}]}`, "sv", "sv - ~ | Hej 100.51-109.50"},
		"OtherWords":  {`{"text":"five pounds","words":[{"word":"£5","start":1,"end":2}]}`, "en", "en - | £5 101.00-102.00"},
		"Parts":       {`{"text":"ab xyz","words":[{"word":" ab","start":1,"end":2},{"word":" x","start":3,"end":4},{"word":"y","start":4,"end":5}]}`, "en", "en - | ab 101.00-102.00 | xy 103.00-105.00"},
		"HalfLetter":  {`{"text":"日","words":[{"word":"\ufffd","start":1,"end":2},{"word":"\ufffd","start":2,"end":3}]}`, "ja", "ja - ~ | 日 100.51-109.50"},
		"Japanese":    {`{"text":"今日は、いい天気。","words":[{"word":"今日","start":1,"end":2},{"word":"は","start":2,"end":3},{"word":"いい","start":6,"end":7},{"word":"天気","start":7,"end":8}]}`, "ja", "ja - | 今日 101.00-102.00 | は、 102.00-103.00 | いい 106.00-107.00 | 天気。 107.00-108.00"},
		"Dash":        {`{"text":"so — then","words":[{"word":"so","start":1,"end":2},{"word":"then","start":3,"end":4}]}`, "en", "en - | so — 101.00-102.00 | then 103.00-104.00"},
		"Disorder":    {`{"text":"a b c","words":[{"word":"a","start":3,"end":1},{"word":"b","start":-9,"end":99},{"word":"c","start":5,"end":6}]}`, "en", "en - | a 103.00-103.00 | b 103.00-109.70 | c 105.00-106.00"},
		"Invented":    {`{"text":"Hello. Thanks for watching!","words":[{"word":"Hello","start":1,"end":2},{"word":"Thanks","start":6,"end":7},{"word":"for","start":7,"end":8},{"word":"watching","start":8,"end":9}],"segments":[{"start":0,"end":4,"text":" Hello.","avg_logprob":-0.2,"no_speech_prob":0.1},{"start":6,"end":9,"text":" Thanks for watching!","avg_logprob":-1.2,"no_speech_prob":0.7}]}`, "en", "en 0.82 | Hello. 101.00-102.00"},
		"AllInvented": {`{"text":"Thanks for watching!","segments":[{"start":0,"end":4,"text":" Thanks for watching!","avg_logprob":-1.2,"no_speech_prob":0.7}]}`, "en", ""},
		"Loop":        {`{"text":"no no no","segments":[{"start":0,"end":10,"text":" no no no","avg_logprob":-0.1,"no_speech_prob":0.1,"compression_ratio":2.9}]}`, "en", "en 0.20 ~ | no 100.51-102.84 | no 102.84-107.18 | no 107.18-109.50"},
		"Empty":       {`{"text":""}`, "en", ""},
		"Nothing":     {``, "en", ""},
		"Blank":       {`{"text":" [BLANK_AUDIO]\n"}`, "en", ""},
		"Music":       {`{"text":"♪ (upbeat music) ♪"}`, "en", ""},
		"Dots":        {`{"text":"..."}`, "en", ""},
		"Prompt":      {`{"text":"Zaphod, Trillian."}`, "en", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := answerTo(t, "", c.body)
			if err != nil {
				t.Fatal(err)
			}
			h := a.transcript(tenSeconds(), &streamOptions{sessionLanguage: c.lang, terms: []string{"Zaphod", "Trillian"}})
			got := ""
			if h.text != "" {
				got = h.language + " -"
				if h.confidence != nil {
					got = fmt.Sprintf("%s %.2f", h.language, *h.confidence)
				}
				if h.estimated {
					got += " ~"
				}
				for _, w := range h.words {
					got += fmt.Sprintf(" | %s %.2f-%.2f", w.Word, w.StartTime, w.EndTime)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever a server answers, words are in order and inside the utterance, and
// are there if and only if there is text.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"text":"a b","words":[{"word":"a","start":0,"end":"x"}],"segments":[{"start":1e300,"end":-1,"text":"a b","avg_logprob":5}]}`)
	f.Add(`{"text":"今日は","segments":[{"text":"今日は","words":[{"word":"今","start":1,"end":2},{"word":"日は","start":2,"end":3}]}]}`)
	f.Add("plain text")
	f.Fuzz(func(t *testing.T, body string) {
		a, err := answerTo(t, "", body)
		if err != nil {
			if hearken.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		u := tenSeconds()
		h := a.transcript(u, &streamOptions{sessionLanguage: "en"})
		if (h.text == "") != (len(h.words) == 0) {
			t.Fatalf("text %q with %d words", h.text, len(h.words))
		}
		last := 100.0
		for _, w := range h.words {
			if !(w.StartTime >= last) || !(w.EndTime >= w.StartTime) || !(w.EndTime <= 110) {
				t.Fatalf("%+v after %f", w, last)
			}
			last = w.StartTime
		}
		if h.confidence != nil && !(*h.confidence >= 0 && *h.confidence <= 1) {
			t.Fatalf("confidence %f", *h.confidence)
		}
	})
}

// The reason of a refusal is found in all forms in which it comes.
func TestRefusal_Parse(t *testing.T) {
	for body, want := range map[string]stt.Refusal{
		`{"error":{"message":"m","type":"t","param":"p","code":"c"}}`:   {Code: "c", Param: "p", Reason: "m"},
		`{"error":{"message":"m","type":"t","param":null,"code":null}}`: {Code: "t", Reason: "m"},
		`{"error":{"message":"m","code":400}}`:                          {Reason: "m"},
		`{"error":"m"}`:                                                 {Reason: "m"},
		`{"object":"error","message":"m","param":"p","code":400}`:       {Param: "p", Reason: "m"},
		`{"detail":"m"}`: {Reason: "m"},
		`{"detail":[{"loc":["body","language"],"msg":"m"}]}`: {Param: "language", Reason: "m"},
		`{"detail":[]}`: {},
		`<html>`:        {},
		`{"error":{"message":"a\nsecret ` + strings.Repeat("x", 300) + `"}}`: {Reason: "a [key] " + strings.Repeat("x", 192) + "..."},
	} {
		var got stt.Refusal
		parseRefusal(&got, []byte(body), "secret")
		if got != want {
			t.Errorf("%s\ngot  %+v\nwant %+v", body, got, want)
		}
	}
}

func TestDetectedLanguage(t *testing.T) {
	for said, want := range map[string]string{
		"swedish": "sv", " SV ": "sv", "pt_PT": "pt-BR", "portuguese": "pt-BR", "Castilian": "es", "javanese": "jv", "jw": "jv", "elvish": "pt-BR", "": "pt-BR",
	} {
		if got := detectedLanguage(said, "pt-BR"); got != want {
			t.Errorf("%q is %s, not %s", said, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	var got []number
	if err := json.Unmarshal([]byte(`[1.5, "2.5", null, "NaN", "x", true, {"a":1}]`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]number{1.5, 2.5, 0, 0, 0, 0, 0}, got); diff != "" {
		t.Error(diff)
	}
}
