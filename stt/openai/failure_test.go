package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
	"github.com/hearken-dev/hearken/stt/openai"
)

// header sets a header and goes on.
func header(name, value string, next func(http.ResponseWriter)) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set(name, value)
		next(w)
	}
}

func body(status int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

// Every way in which a server can refuse an utterance, whether it is asked
// again by the stream, and whether the hub may try again later: it does so for
// all codes but the four that say no. What was final before is told, and
// neither the reason nor the log says what was said.
func TestStream_Refused(t *testing.T) {
	const at = "The server at openai.test "
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter)
		code   hearken.Code
		asked  int // times for the utterance that is refused
		want   string
		after  time.Duration
	}{
		"WrongKey": {refuse(401, "invalid_api_key", "", "Incorrect API key provided: "+testKey), hearken.Unauthorized, 1,
			"refused the key (401 invalid_api_key): Incorrect API key provided: [key]. Try: another key in OPENAI_API_KEY", 0},
		"Unpaid": {refuse(402, "", "", "Payment required."), hearken.Forbidden, 1,
			"refused because its account is unpaid (402 invalid_request_error): Payment required. Try: the account's billing, or another provider", 0},
		"Quota": {header("Retry-After", "1", refuse(429, "insufficient_quota", "", "You exceeded your current quota.")), hearken.Forbidden, 1,
			"refused because its account is unpaid (429 insufficient_quota): You exceeded your current quota. Try: the account's billing, or another provider", time.Second},
		"Rights": {refuse(403, "unsupported_country_region_territory", "", "Country not supported"), hearken.Forbidden, 1,
			"does not allow this key to use the model or the service (403 unsupported_country_region_territory): Country not supported. Try: a key with more rights, or another model", 0},
		"TooMany": {header("Retry-After", "2", refuse(429, "rate_limit_exceeded", "", "Rate limit reached.")), hearken.Busy, 3,
			"has had too many requests of this account (429 rate_limit_exceeded): Rate limit reached.", 2 * time.Second},
		"TooManyForLong": {header("Retry-After", "60", refuse(429, "", "", "Slow down.")), hearken.Busy, 1,
			"has had too many requests of this account (429 invalid_request_error): Slow down.", time.Minute},
		"TooManyMillis": {header("retry-after-ms", "7500", refuse(429, "", "", "Slow down.")), hearken.Busy, 1,
			"has had too many requests of this account (429 invalid_request_error): Slow down.", 7500 * time.Millisecond},
		"TooManyReset": {header("x-ratelimit-remaining-requests", "0", header("x-ratelimit-reset-requests", "2m59.5s", header("x-ratelimit-remaining-tokens", "9", header("x-ratelimit-reset-tokens", "1h", body(429, ""))))), hearken.Busy, 1,
			"has had too many requests of this account (429).", 179500 * time.Millisecond},
		"TooManyForever": {header("Retry-After", "99999999999999999999", body(429, "")), hearken.Busy, 1,
			"has had too many requests of this account (429).", time.Hour},
		"Down":   {body(503, ""), hearken.ProviderConnectionFailed, 3, "has a problem (503).", 0},
		"Proxy":  {body(502, "<html>"+strings.Repeat("x", 5000)), hearken.ProviderConnectionFailed, 3, "has a problem (502).", 0},
		"Late":   {body(408, ""), hearken.ProviderConnectionFailed, 3, "did not accept the audio this time (408).", 0},
		"NotYet": {header("Retry-After", "-3", body(425, "")), hearken.ProviderConnectionFailed, 3, "did not accept the audio this time (425).", 0},
		"Elsewhere": {refuse(404, "", "", "Invalid URL (POST /v1/audio/transcriptions)"), hearken.ProviderNotConfigured, 1,
			"has no transcription endpoint there (404 invalid_request_error): Invalid URL (POST /v1/audio/transcriptions). Try: OPENAI_BASE_URL=https://api.openai.com/v1", 0},
		"Get": {body(405, ""), hearken.ProviderNotConfigured, 1, "has no transcription endpoint there (405). Try: OPENAI_BASE_URL=https://api.openai.com/v1", 0},
		"Model": {body(404, `{"detail":"Model 'x' is not installed locally."}`), hearken.ProviderNotConfigured, 1,
			"has no such model (404): Model 'x' is not installed locally. Try: another model in OPENAI_MODEL", 0},
		"Language": {refuse(400, "invalid_language_format", "language", "Invalid language 'xx'"), hearken.ProviderNotConfigured, 1,
			"refused what it was asked for (400 invalid_language_format): Invalid language 'xx'. Try: another model or language", 0},
		"Sound": {refuse(400, "invalid_value", "file", "Audio file might be corrupted or unsupported"), hearken.ProviderConnectionFailed, 1,
			"could not use the audio (400 invalid_value): Audio file might be corrupted or unsupported.", 0},
		"TooLarge": {body(413, "<html>"), hearken.ProviderNotConfigured, 1,
			"takes no file of the size of an utterance (413). Try: a larger limit there: an utterance has up to 1 MB", 0},
		"WhisperCpp": {body(200, `{"error":"failed to process audio"}`), hearken.ProviderConnectionFailed, 3,
			"has a problem (500): failed to process audio.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(meeting)
				asked := 0
				f.answer = func(w http.ResponseWriter, r *request) bool {
					if !strings.HasPrefix(text(r.words), "thank") {
						return false
					}
					asked++
					c.refuse(w)
					return true
				}
				var log bytes.Buffer
				p := f.inside(openai.Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				events := transcribe(t, p, english, meetingAudio)
				err := failure(events)
				if err == nil || err.Error() != at+c.want || hearken.CodeOf(err) != c.code {
					t.Fatalf("code %q\ngot  %v\nwant %s", hearken.CodeOf(err), err, at+c.want)
				}
				refusal, ok := errors.AsType[*stt.Refusal](err)
				if !ok || refusal.RetryAfter() != c.after || refusal.RequestID != "req_123" && refusal.Status != 500 {
					t.Errorf("refusal %+v, after %s", refusal, refusal.RetryAfter())
				}
				if asked != c.asked {
					t.Errorf("asked %d times, want %d", asked, c.asked)
				}
				if got := texts(events); len(got) != 2 || got[1] != "C Of course i will." {
					t.Errorf("what was final before is missing: %q", got)
				}
				if last := events[len(events)-1]; last.Kind != hearken.Failed {
					t.Errorf("the last event is %+v", last)
				}
				for _, e := range events {
					if e.FinalUntil > int64(9.1*hearken.SampleRate) {
						t.Errorf("dealt with up to %d, and not", e.FinalUntil)
					}
				}
				for _, secret := range []string{testKey, "house", "friday", "ourse"} {
					if strings.Contains(log.String(), secret) || strings.Contains(fmt.Sprintf("%+v", refusal), secret) {
						t.Errorf("told %q:\n%s", secret, log.String())
					}
				}
			})
		})
	}
}

// What fails for the moment is asked again, and nothing is lost or doubled.
func TestStream_Again(t *testing.T) {
	for name, fault := range map[string]func(http.ResponseWriter){
		"Down":    body(503, ""),
		"Busy":    header("Retry-After", "3", body(429, "")),
		"Garbled": body(200, `{"text":"Could yo`),
		"Empty":   body(200, `{}`),
		"List":    body(200, `["Could you"]`),
		"Binary":  body(200, "\x00\x01\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(meeting)
				var mu sync.Mutex
				tries := make(map[string]int)
				f.answer = func(w http.ResponseWriter, r *request) bool {
					mu.Lock()
					defer mu.Unlock()
					if tries[text(r.words)]++; tries[text(r.words)] == 3 {
						return false
					}
					fault(w)
					return true
				}
				events := transcribe(t, f.inside(openai.Config{}), english, meetingAudio)
				if err := failure(events); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"C Could you send me the plan for the new house by friday please because we build in may.", "C Of course i will.", "C Thank you very much."}, texts(events)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A server that says nothing has a minute; then others may try.
func TestStream_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(meeting)
		f.answer = func(_ http.ResponseWriter, r *request) bool {
			<-r.ctx.Done()
			return true
		}
		err := failure(transcribe(t, f.inside(openai.Config{}), english, meetingAudio))
		if want := "The server at openai.test did not answer within 1m0s: context deadline exceeded."; err == nil || err.Error() != want || hearken.CodeOf(err) != hearken.ProviderConnectionFailed {
			t.Errorf("failed with %v", err)
		}
		for _, r := range f.asked(transcriptions) {
			if n := r.n; n > 1 {
				t.Error("it was asked again")
			}
		}
	})
}

// Something that is no such server at all.
func TestStream_Strangers(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string
	}{
		"Page":      {header("Content-Type", "text/html", body(200, "hello")), "The server at openai.test answers with a web page, not with a transcript. Try: OPENAI_BASE_URL=https://api.openai.com/v1"},
		"Page2":     {body(200, "<!doctype html><title>x</title>"), "The server at openai.test answers with a web page, not with a transcript. Try: OPENAI_BASE_URL=https://api.openai.com/v1"},
		"Elsewhere": {header("Location", "/login", body(302, "")), "The server at openai.test has no transcription endpoint there (302). Try: OPENAI_BASE_URL=https://api.openai.com/v1"},
	} {
		f := newFake(meeting)
		f.answer = func(w http.ResponseWriter, _ *request) bool {
			c.answer(w)
			return true
		}
		err := failure(transcribe(t, f.inside(openai.Config{}), english, meetingAudio))
		if err == nil || err.Error() != c.want || hearken.CodeOf(err) != hearken.ProviderNotConfigured {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// More than anybody can have said is not taken for words.
func TestStream_TooMuch(t *testing.T) {
	for _, size := range []int{20 << 10, 2 << 20} {
		f := newFake(meeting)
		f.answer = func(w http.ResponseWriter, _ *request) bool {
			body(200, strings.Repeat("a", size))(w)
			return true
		}
		events := transcribe(t, f.inside(openai.Config{}), english, meetingAudio)
		if failure(events) == nil || slices.ContainsFunc(texts(events), func(s string) bool { return strings.Contains(s, "aaa") }) {
			t.Errorf("%d bytes: %v", size, failure(events))
		}
	}
}

// A cough that the server cannot use costs nothing but itself.
func TestStream_TooShort(t *testing.T) {
	script := append(phrase(1, "hm hm"), phrase(4, "now we talk about it at length")...)
	f := newFake(script)
	f.answer = func(w http.ResponseWriter, r *request) bool {
		if len(r.words) > 2 {
			return false
		}
		refuse(400, "audio_too_short", "file", "Audio file is too short. Minimum audio length is 0.1 seconds.")(w)
		return true
	}
	events := transcribe(t, f.inside(openai.Config{}), english, audioOf(script, 8))
	if diff := cmp.Diff([]string{"N", "C Now we talk about it at length."}, texts(events)); diff != "" || failure(events) != nil {
		t.Errorf("%v %s", failure(events), diff)
	}
}

// A detector that fails ends the stream, and each that is made is closed.
func TestStream_Detector(t *testing.T) {
	boom := errors.New("boom")
	broken := openai.New(openai.Config{APIKey: "k", Detector: func() (openai.Detector, error) { return nil, boom }})
	if _, err := broken.Open(t.Context(), english); !errors.Is(err, boom) || hearken.CodeOf(err) != hearken.ProviderConnectionFailed {
		t.Errorf("Open: %v", err)
	}
	made, closed := 0, 0
	f := newFake(meeting)
	p := f.inside(openai.Config{Detector: func() (openai.Detector, error) {
		made++
		return &detector{closed: &closed, fails: 3 * hearken.SampleRate / 512, err: boom}, nil
	}})
	if err := failure(transcribe(t, p, english, meetingAudio)); !errors.Is(err, boom) {
		t.Errorf("failed with %v", err)
	}
	if made != 1 || closed != 1 {
		t.Errorf("%d detectors were made, %d closed", made, closed)
	}
}

// After a gap nothing is remembered of what was before: there is another
// detector, and if there is none the stream fails.
func TestStream_Gap(t *testing.T) {
	boom := errors.New("boom")
	made, closed := 0, 0
	p := newFake(meeting).inside(openai.Config{Detector: func() (openai.Detector, error) {
		if made++; made == 3 {
			return nil, boom
		}
		return &detector{closed: &closed}, nil
	}})
	stream, err := p.Open(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	collected := collect(stream)
	var wrote error
	for i := range int64(3) {
		at := i * 20 * hearken.SampleRate
		wrote = stream.Write(hearken.Frame{Pos: at, PCM: meetingAudio[:4*hearken.SampleRate]})
	}
	events := <-collected
	if err := failure(events); !errors.Is(err, boom) || !errors.Is(wrote, err) {
		t.Errorf("failed with %v, Write with %v", err, wrote)
	}
	if made != 3 || closed != 2 {
		t.Errorf("%d detectors were made, %d closed", made, closed)
	}
}

// A detector takes every window for speech until it fails.
type detector struct {
	closed *int
	fails  int
	err    error
}

func (d *detector) Feed(window []float32) (float32, error) {
	if len(window) != 512 {
		return 0, fmt.Errorf("%d samples", len(window))
	}
	if d.fails--; d.fails == 0 {
		return 0, d.err
	}
	return 1, nil
}

func (d *detector) Close() { *d.closed++ }
