package moonshine

import (
	"context"
	"errors"
	"testing"

	"github.com/hearken-dev/hearken"
)

func TestTranscribeAll(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 2})
	pcm := say(1, first, second, first, second, first, second, first, second)
	var done []float64
	got, err := p.TranscribeAll(t.Context(), pcm, hearken.StreamConfig{Language: "en"}, func(d float64) { done = append(done, d) })
	if err != nil {
		t.Fatal(err)
	}
	live := listenTo(t, p, pcm)
	if len(got) != 8 || len(live) != 8 {
		t.Fatalf("%d segments, %d live", len(got), len(live))
	}
	for i, s := range got {
		if s.Text != live[i].Text {
			t.Errorf("segment %d is %q, live %q", i, s.Text, live[i].Text)
		}
	}
	if n := len(done); n == 0 || done[n-1] != 1 {
		t.Errorf("progress %v", done)
	}
}

func TestTranscribeAll_Cancelled(t *testing.T) {
	m := &fakeModel{gate: make(chan struct{})}
	p := fakeProvider(t, m, Config{Cores: 1})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		m.gate <- struct{}{}
		cancel()
	}()
	if _, err := p.TranscribeAll(ctx, say(1, first, second), hearken.StreamConfig{Language: "en"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
