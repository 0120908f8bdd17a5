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
			d := &toolContext{caller: tt.caller}
			if diff := cmp.Diff(tt.want, d.startRequest(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
