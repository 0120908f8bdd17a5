package deepgram

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	// maxTerms and maxTokens bound the vocabulary of a stream. Deepgram takes
	// 500 tokens in 100 terms, and refuses a stream that asks for more.
	maxTerms  = 100
	maxTokens = 500
)

// query is what the stream asks for. It always asks for interim results, even
// if the caller does not want them: they show that the server works and how far
// it has come, and utterance ends need them.
func (p *Provider) query(o streamOptions, cfg hearken.StreamConfig) (q url.Values, dropped int) {
	q = url.Values{
		"smart_format":     {"true"},
		"punctuate":        {"true"},
		"diarize_model":    {"latest"},
		"endpointing":      {"300"},
		"utterance_end_ms": {"1000"},
		"vad_events":       {"true"},
	}
	if o.language == "multi" {
		q.Set("endpointing", "100") // Deepgram's advice for speakers who switch languages
	}
	terms, dropped := stt.FitVocabulary(cfg.Vocabulary, maxTerms, maxTokens, countTokens)
	switch {
	case strings.HasPrefix(o.model, "nova-3"):
		q["keyterm"] = terms
	case strings.HasPrefix(o.model, "nova-2"):
		q["keywords"] = terms
	default:
		dropped = len(cfg.Vocabulary)
	}
	maps.Copy(q, p.cfg.Extra)
	for name := range q {
		if q.Get(name) == "" {
			q.Del(name)
		}
	}
	setEndpointing(q, cfg.Endpointing)
	q.Set("model", o.model)
	if o.language != "" {
		q.Set("language", o.language)
	}
	q.Set("encoding", "linear16")
	q.Set("sample_rate", strconv.Itoa(hearken.SampleRate))
	q.Set("channels", "1")
	q.Set("interim_results", "true")
	return q, dropped
}

// setEndpointing asks for the pause with which the session ends a segment. The end of
// an utterance, which also ends one, never comes before it, and not sooner than
// after the second that Deepgram's own results need.
func setEndpointing(q url.Values, pause time.Duration) {
	switch {
	case pause > 0:
		ms := max(1, pause.Milliseconds())
		q.Set("endpointing", strconv.FormatInt(ms, 10))
		q.Set("utterance_end_ms", strconv.FormatInt(max(1000, ms), 10))
	case pause < 0:
		q.Set("endpointing", "false")
		q.Del("utterance_end_ms")
	}
}

// countTokens is an upper bound of how many tokens a term has. The server's
// tokenizer is not known. None makes more than one token of a byte, and on
// average none makes more than one of two ASCII letters.
func countTokens(term string) int {
	plain, other := 0, 0
	for i := range len(term) {
		if term[i] < utf8.RuneSelf {
			plain++
		} else {
			other++
		}
	}
	return 1 + plain/2 + other
}
