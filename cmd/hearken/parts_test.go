package main

import (
	"log/slog"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestOpenEngines(t *testing.T) {
	for _, first := range providerNames {
		cfg := &Config{TranscriptionProvider: first, Models: t.TempDir()}
		e, err := openEngines(t.Context(), cfg, Options{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.providers[0].Name(); got != first {
			t.Errorf("the default is %s, want %s", got, first)
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
