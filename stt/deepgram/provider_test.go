package deepgram_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

func TestProvider_Check(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    deepgram.Config
		stream hearken.StreamConfig
		code   hearken.Code
		says   string
	}{
		"Key":          {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "en"}, "", ""},
		"OwnKey":       {deepgram.Config{}, hearken.StreamConfig{Language: "en", APIKey: "k"}, "", ""},
		"NoKey":        {deepgram.Config{APIKey: " \n"}, hearken.StreamConfig{Language: "en"}, hearken.APIKeyMissing, "Try: DEEPGRAM_API_KEY="},
		"Default":      {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{}, "", ""},
		"Brazil":       {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "pt-BR"}, "", ""},
		"Swedish":      {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "sv"}, "", ""},
		"Japan":        {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "ja_JP"}, "", ""},
		"Multi":        {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "multi"}, "", ""},
		"Klingon":      {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "tlh"}, hearken.ProviderNotConfigured, "ja, "},
		"Medical":      {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "sv", Model: "nova-3-medical"}, hearken.ProviderNotConfigured, "en-GB"},
		"UnknownModel": {deepgram.Config{APIKey: "k"}, hearken.StreamConfig{Language: "en", Model: "nova-9"}, hearken.ProviderNotConfigured, "nova-2, "},
		"OwnModel":     {deepgram.Config{APIKey: "k", Model: "our-own"}, hearken.StreamConfig{Language: "tlh"}, "", ""},
		"Flux":         {deepgram.Config{APIKey: "k", Model: "flux-general-en"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "nova-3"},
		"BaseURL":      {deepgram.Config{APIKey: "k", BaseURL: "api.deepgram.com"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "DEEPGRAM_BASE_URL="},
		"BaseScheme":   {deepgram.Config{APIKey: "k", BaseURL: "ftp://api.deepgram.com"}, hearken.StreamConfig{Language: "en"}, hearken.ProviderNotConfigured, "DEEPGRAM_BASE_URL="},
	} {
		t.Run(name, func(t *testing.T) {
			p := deepgram.New(c.cfg)
			err := p.Check(t.Context(), c.stream)
			if hearken.CodeOf(err) != c.code || (err == nil) != (c.code == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check: %v", err)
			}
			if err == nil {
				return
			}
			if _, opened := p.Open(t.Context(), c.stream); hearken.CodeOf(opened) != c.code {
				t.Errorf("Open: %v", opened)
			}
		})
	}
}

// The server is asked for exactly this.
func TestProvider_Open_Query(t *testing.T) {
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf("w%d", i))
	}
	long := strings.Repeat("supercalifragilistic ", 100)
	basic := "channels=1&diarize_model=latest&encoding=linear16&endpointing=300&interim_results=true%s&language=%s&model=%s&punctuate=true&sample_rate=16000&smart_format=true&utterance_end_ms=1000&vad_events=true"
	for name, c := range map[string]struct {
		cfg    deepgram.Config
		stream hearken.StreamConfig
		want   string
	}{
		"Plain":   {deepgram.Config{}, hearken.StreamConfig{Language: "PT-br", Interim: true}, fmt.Sprintf(basic, "", "pt-BR", "nova-3")},
		"Nobody":  {deepgram.Config{}, hearken.StreamConfig{Language: "ja-JP"}, fmt.Sprintf(basic, "", "ja", "nova-3")},
		"Nearest": {deepgram.Config{}, hearken.StreamConfig{Language: "zh-Hant-TW"}, fmt.Sprintf(basic, "", "zh-Hant", "nova-3")},
		"Norway":  {deepgram.Config{}, hearken.StreamConfig{Language: "nb-NO"}, fmt.Sprintf(basic, "", "no", "nova-3")},
		"Default": {deepgram.Config{Model: "nova-2"}, hearken.StreamConfig{}, fmt.Sprintf(basic, "", "en", "nova-2")},
		"Multi":   {deepgram.Config{}, hearken.StreamConfig{Language: "multi"}, strings.Replace(fmt.Sprintf(basic, "", "multi", "nova-3"), "=300", "=100", 1)},
		"Terms": {deepgram.Config{}, hearken.StreamConfig{Language: "en", Vocabulary: []string{"Arthur  Dent", "", "Trillian", "Arthur Dent", "\xff", long, "R&D"}},
			fmt.Sprintf(basic, "&keyterm=Arthur+Dent&keyterm=Trillian&keyterm=R%26D", "en", "nova-3")},
		"OldTerms": {deepgram.Config{Model: "nova-2"}, hearken.StreamConfig{Language: "en", Vocabulary: []string{"Trillian"}}, fmt.Sprintf(strings.Replace(basic, "%s&language", "&keywords=Trillian&language", 1), "en", "nova-2")},
		"ManyTerms": {deepgram.Config{}, hearken.StreamConfig{Language: "en", Vocabulary: many},
			fmt.Sprintf(basic, "&keyterm="+strings.Join(many[:100], "&keyterm="), "en", "nova-3")},
		"Pause":     {deepgram.Config{}, hearken.StreamConfig{Language: "en", Endpointing: 550 * time.Millisecond}, strings.Replace(fmt.Sprintf(basic, "", "en", "nova-3"), "=300", "=550", 1)},
		"LongPause": {deepgram.Config{}, hearken.StreamConfig{Language: "multi", Endpointing: 3 * time.Second}, strings.NewReplacer("=300", "=3000", "=1000", "=3000").Replace(fmt.Sprintf(basic, "", "multi", "nova-3"))},
		"TinyPause": {deepgram.Config{}, hearken.StreamConfig{Language: "en", Endpointing: 1}, strings.Replace(fmt.Sprintf(basic, "", "en", "nova-3"), "=300", "=1", 1)},
		"NoPause": {deepgram.Config{Extra: url.Values{"endpointing": {"20"}}}, hearken.StreamConfig{Language: "en", Endpointing: -1},
			strings.NewReplacer("=300", "=false", "&utterance_end_ms=1000", "").Replace(fmt.Sprintf(basic, "", "en", "nova-3"))},
		"Extra": {deepgram.Config{Extra: url.Values{"mip_opt_out": {"true"}, "diarize_model": {""}, "endpointing": {"false"}, "encoding": {"opus"}}}, hearken.StreamConfig{Language: "en"},
			"channels=1&encoding=linear16&endpointing=false&interim_results=true&language=en&mip_opt_out=true&model=nova-3&punctuate=true&sample_rate=16000&smart_format=true&utterance_end_ms=1000&vad_events=true"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, meeting)
			events := transcribe(t, f.serve(t, c.cfg), c.stream, nil)
			if err := failure(events); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.conn(t, 0).query.Encode()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The base may be written in any of the ways in which people write it.
func TestProvider_BaseURL(t *testing.T) {
	server := newServer(t, newFake(t, meeting))
	for _, suffix := range []string{"", "/", "/v1", "/v1/", "/v1/listen", "/v1/listen?x=y#z"} {
		for _, scheme := range []string{"ws://", "http://"} {
			p := deepgram.New(deepgram.Config{APIKey: testKey, BaseURL: scheme + server + suffix})
			if err := failure(transcribe(t, p, english, meetingAudio[:16000])); err != nil {
				t.Errorf("%s: %v", scheme+suffix, err)
			}
		}
	}
}

func TestProvider_MaxStream(t *testing.T) {
	if d := deepgram.New(deepgram.Config{}).Capabilities().MaxStream; d != 4*time.Hour {
		t.Errorf("a stream may last %s", d)
	}
	if d := deepgram.New(deepgram.Config{MaxStream: time.Hour}).Capabilities().MaxStream; d != time.Hour {
		t.Errorf("a stream may last %s", d)
	}
}

func TestProvider_Offline(t *testing.T) {
	for base, want := range map[string]bool{"": false, "wss://api.eu.deepgram.com": false, "ws://localhost:8080": true} {
		if got := deepgram.New(deepgram.Config{BaseURL: base}).Capabilities().Offline; got != want {
			t.Errorf("%q: offline %t", base, got)
		}
	}
}

func TestProvider_Pace(t *testing.T) {
	for given, want := range map[float64]float64{0: 1.25, 2: 2, -1: 0} {
		if got := deepgram.New(deepgram.Config{Pace: given}).Capabilities().Pace; got != want {
			t.Errorf("%g becomes %g", given, got)
		}
	}
}

// A session's own key is used in place of the provider's.
func TestProvider_SessionKey(t *testing.T) {
	server := newServer(t, newFake(t, meeting))
	p := deepgram.New(deepgram.Config{APIKey: "another", BaseURL: "ws://" + server})
	if _, err := p.Open(t.Context(), english); hearken.CodeOf(err) != hearken.Unauthorized {
		t.Errorf("Open with a wrong key: %v", err)
	}
	cfg := english
	cfg.APIKey = testKey
	if err := failure(transcribe(t, p, cfg, meetingAudio[:16000])); err != nil {
		t.Error(err)
	}
}
