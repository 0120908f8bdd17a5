package main

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestOpenEngines(t *testing.T) {
	for _, first := range []string{"local", "deepgram", "null"} {
		cfg := &Config{TranscriptionProvider: []string{first}, Models: t.TempDir()}
		e, err := openEngines(t.Context(), cfg, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		isFirst := func(p hearken.Provider) bool { return p.Name() == first }
		if len(e.chain) != 1 || e.chain[0] != first || !slices.ContainsFunc(e.providers, isFirst) {
			t.Errorf("the default is %s, want %s", e.chain, first)
		}
		for _, p := range e.providers {
			if p.Name() != "deepgram" {
				continue
			}
			stream := hearken.StreamConfig{Language: "pt-BR"}
			if err := p.Check(t.Context(), stream); hearken.CodeOf(err) != hearken.APIKeyMissing {
				t.Errorf("Deepgram without a key: %v", err)
			}
			stream.APIKey = "the caller's own"
			if err := p.Check(t.Context(), stream); err != nil {
				t.Errorf("Deepgram with the caller's key: %v", err)
			}
		}
		if err := e.close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
