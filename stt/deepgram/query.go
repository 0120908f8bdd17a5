package deepgram

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

const (
	// maxTerms and maxTokens bound the vocabulary of a stream. Deepgram takes
	// 500 tokens in 100 terms, and refuses a stream that asks for more.
	maxTerms  = 100
	maxTokens = 500
)

// query is what the stream asks for. Interim results are always wanted, also
// where nobody is to see them: by them the stream knows that the server is
// well and how far it has come, and utterance ends need them.
func (p *Provider) query(w wish, cfg hearken.StreamConfig) (q url.Values, dropped int) {
	q = url.Values{
		"smart_format":     {"true"},
		"punctuate":        {"true"},
		"diarize_model":    {"latest"},
		"endpointing":      {"300"},
		"utterance_end_ms": {"1000"},
		"vad_events":       {"true"},
	}
	if w.language == "multi" {
		q.Set("endpointing", "100") // what Deepgram advises for speakers who switch
	}
	terms, dropped := keyterms(cfg.Vocabulary)
	switch {
	case strings.HasPrefix(w.model, "nova-3"):
		q["keyterm"] = terms
	case strings.HasPrefix(w.model, "nova-2"):
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
	pauses(q, cfg.Endpointing)
	q.Set("model", w.model)
	if w.language != "" {
		q.Set("language", w.language)
	}
	q.Set("encoding", "linear16")
	q.Set("sample_rate", strconv.Itoa(hearken.SampleRate))
	q.Set("channels", "1")
	q.Set("interim_results", "true")
	return q, dropped
}

// pauses asks for the pause that a session itself wants to end a segment. The
// end of an utterance, which also ends one, never comes before it, and not
// sooner than after the second that Deepgram's own results need.
func pauses(q url.Values, pause time.Duration) {
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

// keyterms are the terms of a vocabulary that the server takes, the first
// first, and how many it does not.
func keyterms(vocabulary []string) (terms []string, dropped int) {
	seen := make(map[string]bool)
	left := maxTokens
	for _, term := range vocabulary {
		term = strings.Join(strings.Fields(term), " ")
		if term == "" || seen[term] || !utf8.ValidString(term) {
			continue
		}
		seen[term] = true
		n := tokens(term)
		if n > left || len(terms) == maxTerms {
			dropped++
			continue
		}
		left -= n
		terms = append(terms, term)
	}
	return terms, dropped
}

// tokens is at most how many tokens a term has. The server's tokenizer is not
// known; none makes more than one token of a byte, and of plain letters none
// makes more than one of two, on average.
func tokens(term string) int {
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
