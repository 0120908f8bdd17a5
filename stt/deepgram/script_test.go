package deepgram_test

import (
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A scriptWord is a word of a script with its time in the audio.
type scriptWord struct {
	start, end float64
	text       string
	speaker    int
}

// firstWord is the value of the samples of the script's first word; the
// second word's are one more.
const firstWord = 300

// audioOf makes audio of so many seconds in which the script is said, for ears
// that know how: whoever loses a sample, swaps its bytes or sends it twice is
// heard to do so.
func audioOf(script []scriptWord, seconds float64) []int16 {
	pcm := make([]int16, int(seconds*hearken.SampleRate))
	for i, w := range script {
		for j := int(w.start * hearken.SampleRate); j < int(w.end*hearken.SampleRate); j++ {
			pcm[j] = firstWord + int16(i)
		}
	}
	return pcm
}

// text is what the script says.
func text(script []scriptWord) string {
	words := make([]string, len(script))
	for i, w := range script {
		words[i] = w.text
	}
	return strings.Join(words, " ")
}

// phrase makes a script of a text that begins at start, four words in a second.
func phrase(start float64, speaker int, text string) []scriptWord {
	var script []scriptWord
	for i, w := range strings.Fields(text) {
		at := start + float64(i)*0.25
		script = append(script, scriptWord{at, at + 0.2, w, speaker})
	}
	return script
}

// recognition is how far the fake server has understood a connection's audio.
type recognition struct {
	samples int          // samples
	words   []scriptWord // that have ended since the last final, on the connection's clock
	value   int16        // of the word that is being said, or of silence
	began   float64
	final   float64 // end of the last final
	lastEnd float64 // of the last word that was final
	noted   bool    // UtteranceEnd was told for it
	quiet   float64 // end of the last word that was heard
}

// step is after how much sound the server speaks.
const step = hearken.SampleRate / 2

func (v *fakeConn) now() float64 { return float64(v.samples) / hearken.SampleRate }

// nextSample takes the next sample and reports whether the connection continues.
func (v *fakeConn) nextSample(x int16) bool {
	if x != v.value {
		v.endWord()
		v.value, v.began = x, v.now()
		if v.known(x) && (v.began-v.quiet >= 0.5 || v.quiet == 0) && v.query.Get("vad_events") == "true" {
			v.say(map[string]any{"type": "SpeechStarted", "channel": []int{0, 1}, "timestamp": v.began})
		}
	}
	v.samples++
	if v.f.fault != nil && v.samples == int(v.f.at*hearken.SampleRate) && !v.f.fault(v) {
		return false
	}
	if v.samples%step == 0 {
		v.speak()
	}
	return true
}

func (v *fakeConn) known(x int16) bool { return x >= firstWord && int(x)-firstWord < len(v.f.script) }

// endWord notes the word that is being said, if it was long enough to be one.
func (v *fakeConn) endWord() {
	if v.known(v.value) && v.now()-v.began >= 0.05 {
		w := v.f.script[v.value-firstWord]
		v.words = append(v.words, scriptWord{v.began, v.now(), w.text, w.speaker})
		v.quiet = v.now()
	}
	v.value = 0
}

// speak says what the sound so far is worth: an interim result, or a final at a
// pause. When there is much, a final settles all but the word that is being
// said, and so ends before the interim result that came just before it.
func (v *fakeConn) speak() {
	now := v.now()
	saying := v.known(v.value)
	pause := v.query.Get("endpointing") != "false" && !saying && now-v.quiet >= v.millis("endpointing")
	switch {
	case len(v.words) > 0 && pause:
		v.finish(now, true, false)
	case len(v.words) == 0 && !saying && now-v.final >= 3:
		v.finish(now, false, false)
	default:
		if v.query.Get("interim_results") == "true" {
			v.interim(now, saying)
		}
		if len(v.words) > 0 && now-v.final >= 3 {
			v.finish(v.words[len(v.words)-1].end, false, false)
		}
	}
	if end := v.millis("utterance_end_ms"); end > 0 && !v.noted && v.lastEnd > 0 && !saying && now-v.quiet >= end {
		v.noted = true
		v.say(map[string]any{"type": "UtteranceEnd", "channel": []int{0, 1}, "last_word_end": v.lastEnd})
	}
}

// interim says what seems to be said; the last word may be half a word.
func (v *fakeConn) interim(now float64, saying bool) {
	words := v.words
	if saying {
		w := v.f.script[v.value-firstWord]
		words = append(slices.Clip(words), scriptWord{v.began, now, w.text[:(len(w.text)+1)/2], w.speaker})
	}
	v.result(now, words, false, false, false)
}

// finish says a final that goes to end.
func (v *fakeConn) finish(end float64, speech, asked bool) {
	if end <= v.final {
		return
	}
	words := v.words
	v.words = nil
	if len(words) > 0 {
		v.lastEnd, v.noted = words[len(words)-1].end, false
	}
	v.result(end, words, true, speech, asked)
	v.final = end
}

func (v *fakeConn) result(end float64, words []scriptWord, final, speech, asked bool) {
	transcript, list := "", []map[string]any{}
	for i, w := range words {
		punctuated := w.text
		if i == 0 {
			punctuated = strings.ToUpper(w.text[:1]) + w.text[1:]
		}
		transcript += " " + punctuated
		word := map[string]any{"word": w.text, "start": w.start, "end": w.end, "confidence": 0.9, "punctuated_word": punctuated}
		if v.query.Get("diarize_model") != "" {
			word["speaker"] = w.speaker
		}
		if v.query.Get("language") == "multi" {
			word["language"] = "sv"
		}
		list = append(list, word)
	}
	confidence := 0.0
	if len(words) > 0 {
		confidence = 0.95
	}
	v.say(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": v.final, "duration": end - v.final,
		"is_final": final, "speech_final": speech, "from_finalize": asked,
		"channel":  map[string]any{"alternatives": []any{map[string]any{"transcript": strings.TrimSpace(transcript), "confidence": confidence, "words": list}}},
		"metadata": map[string]any{"request_id": "r-1", "model_uuid": "m-1", "model_info": map[string]string{"name": "fake", "version": "1", "arch": "nova-3"}},
	})
}
