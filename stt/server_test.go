package stt

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	for name, tt := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"None":     {nil, 0},
		"Seconds":  {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"Fraction": {map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		"Negative": {map[string]string{"Retry-After": "-3"}, 0},
		"NaN":      {map[string]string{"Retry-After": "NaN"}, 0},
		"Forever":  {map[string]string{"Retry-After": "99999999999999999999"}, time.Hour},
		"Date": {map[string]string{
			"Date": "Tue, 01 Jan 2030 12:00:00 GMT", "Retry-After": "Tue, 01 Jan 2030 12:00:20 GMT",
		}, 20 * time.Second},
		"LongAgo": {map[string]string{"Retry-After": "Tue, 01 Jan 2002 12:00:20 GMT"}, 0},
		"Millis":  {map[string]string{"Retry-After-Ms": "7500", "Retry-After": "1"}, 7500 * time.Millisecond},
		"Allowance": {map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "2s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "1m3s",
			"X-Ratelimit-Remaining-Audio-Seconds": "9", "X-Ratelimit-Reset-Audio-Seconds": "5m",
		}, 63 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tt.header {
				h.Set(k, v)
			}
			if got := RetryAfter(h); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"the key\r\nsecret\tis wrong": "the key [key] is wrong",
		"sec\x00ret":                  "[key]", // not even if it only becomes visible here
		"\u202esecret":                "[key]",
		"":                            "",
		strings.Repeat("x", 300):      strings.Repeat("x", 200) + "...",
	} {
		if got := Redact(in, "secret"); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Redact("no key", ""); got != "no key" {
		t.Errorf("without a key: %q", got)
	}
}
