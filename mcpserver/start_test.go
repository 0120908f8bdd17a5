package mcpserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// A caller's key must never reach an engine that it was not meant for.
func TestStartRequest(t *testing.T) {
	pipe := hearken.Caller{Principal: "local", Provider: "deepgram", Language: "pt-BR", APIKey: "k"}
	for _, tt := range []struct {
		name   string
		caller hearken.Caller
		in     startIn
		want   hearken.StartRequest
	}{
		{"CallersOwn", pipe, startIn{}, hearken.StartRequest{Provider: "deepgram", Language: "pt-BR", APIKey: "k", Principal: "local"}},
		{"Named", pipe, startIn{Provider: "deepgram"}, hearken.StartRequest{Provider: "deepgram", Language: "pt-BR", APIKey: "k", Principal: "local"}},
		{"OtherLanguage", pipe, startIn{Language: "en"}, hearken.StartRequest{Provider: "deepgram", Language: "en", APIKey: "k", Principal: "local"}},
		{"OtherProvider", pipe, startIn{Provider: "local"}, hearken.StartRequest{Provider: "local", Principal: "local"}},
		{"NoProvider", hearken.Caller{Language: "de", APIKey: "k"}, startIn{}, hearken.StartRequest{Language: "de"}},
		{"Nothing", hearken.Caller{Principal: "p"}, startIn{Title: "t", Model: "m", Vocabulary: []string{"v"}}, hearken.StartRequest{Principal: "p", Title: "t", Model: "m", Vocabulary: []string{"v"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, startRequest(tt.caller, tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A key in a caller's environment alone chooses no engine for this computer's
// own audio, and is not sent along.
func TestCaptureRequest(t *testing.T) {
	caller := hearken.Caller{Principal: "local", Provider: "deepgram,local", Language: "sv", APIKey: "k"}
	for _, tt := range []struct {
		named bool
		want  hearken.CaptureRequest
	}{
		{false, hearken.CaptureRequest{Language: "sv"}},
		{true, hearken.CaptureRequest{Provider: "deepgram,local", Language: "sv", APIKey: "k"}},
	} {
		caller.Named = tt.named
		if got := (&toolContext{caller: caller}).captureRequest(); got != tt.want {
			t.Errorf("named %t: %+v", tt.named, got)
		}
	}
}
