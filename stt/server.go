package stt

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

// A Refusal is the cause of an error when a provider's server answered, but
// did not do what it was asked for. Its texts are safe to show.
type Refusal struct {
	Status    int    // of HTTP
	Code      string // the server's own, such as INVALID_AUTH; may be empty
	Param     string // the parameter that it rejects; may be empty
	Reason    string // in the server's words; may be empty
	RequestID string // by which the provider's support finds the request
	After     time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("server answered %d %s %s (request %s)", r.Status, r.Code, r.Reason, r.RequestID)
}

// RetryAfter is how long the server asked not to be asked again; zero if it
// did not say.
func (r *Refusal) RetryAfter() time.Duration { return r.After }

// Explain makes the error that a person reads: a message without its full
// stop, followed by what the server said.
func (r *Refusal) Explain(code hearken.Code, message, try string) error {
	message += " (" + strings.TrimSpace(strconv.Itoa(r.Status)+" "+r.Code) + ")"
	if r.Reason != "" {
		message += ": " + strings.TrimSuffix(r.Reason, ".")
	}
	return &hearken.Error{Code: code, Message: message + ".", Try: try, Err: r}
}

// RetryAfter reads how long a server asks not to be asked again, at most an
// hour: by the header of that name, in seconds or as a date; in milliseconds,
// as OpenAI tells its own clients; or until an exhausted allowance is renewed.
func RetryAfter(h http.Header) time.Duration {
	after := time.Duration(0)
	value := h.Get("Retry-After")
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		after = limitedDuration(ms / 1000)
	} else if s, err := strconv.ParseFloat(value, 64); err == nil {
		after = limitedDuration(s)
	} else if until, err := http.ParseTime(value); err == nil {
		// The date is on the server's clock, which may differ from ours.
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		after = until.Sub(now)
	} else {
		for _, what := range []string{"requests", "tokens", "audio-seconds"} {
			d, err := time.ParseDuration(h.Get("x-ratelimit-reset-" + what))
			if err == nil && h.Get("x-ratelimit-remaining-"+what) == "0" {
				after = max(after, d)
			}
		}
	}
	return min(max(0, after), time.Hour)
}

// limitedDuration is a time of so many seconds, at most an hour.
func limitedDuration(seconds float64) time.Duration {
	if !(seconds > 0) { // also not a number
		return 0
	}
	return time.Duration(min(seconds, 3600) * float64(time.Second))
}

// Redact makes a server's words safe to show: one line of at most 200
// characters, without the key even if the server repeats it.
func Redact(s, key string) string {
	s = safetext.VisibleLine(s)
	if key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	return safetext.Clip(s, 200)
}

// FitVocabulary returns the first terms of a vocabulary, as many as a server
// takes, and how many it does not take. The function counts a term's tokens.
func FitVocabulary(vocabulary []string, maxTerms, maxTokens int, tokens func(term string) int) (terms []string, dropped int) {
	seen := make(map[string]bool)
	for _, term := range vocabulary {
		term = strings.Join(strings.Fields(term), " ")
		if term == "" || seen[term] || !utf8.ValidString(term) {
			continue
		}
		seen[term] = true
		n := tokens(term)
		if n > maxTokens || len(terms) == maxTerms {
			dropped++
			continue
		}
		maxTokens -= n
		terms = append(terms, term)
	}
	return terms, dropped
}
