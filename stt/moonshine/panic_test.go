package moonshine

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// broken panics with what it hears.
type broken struct{ fakeModel }

func (m *broken) Transcribe(ctx context.Context, pcm []float32, draft []int32) (Result, error) {
	r, _ := m.fakeModel.Transcribe(ctx, pcm, draft)
	if r.Text != "" {
		panic(r.Text)
	}
	return r, nil
}

// A panic in an inference ends its stream, not the program; others go on, and
// nobody reads in the log what was said.
func TestStream_Panic(t *testing.T) {
	for _, interim := range []bool{false, true} { // in a final, in a partial
		var log bytes.Buffer
		m := &fakeModel{}
		p := fakeProvider(t, m, Config{Cores: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
		v, err := p.modelSet("en", "").wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bad := *v
		bad.good, bad.quick = &broken{}, &broken{}
		s, err := p.open(t.Context(), hearken.StreamConfig{Language: "en", Interim: interim}, &bad, liveMode)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Write(hearken.Frame{PCM: say(1, first, second)})
		}()
		var last hearken.StreamEvent
		for last = range s.Events() {
		}
		<-done
		if last.Kind != hearken.Failed || hearken.CodeOf(last.Err) != hearken.ProviderConnectionFailed {
			t.Errorf("last event %+v", last)
		}
		got := log.String() + last.Err.Error()
		if !strings.Contains(got, "panic_test.go") || !strings.Contains(got, "type=string") || strings.Contains(got, "w1") {
			t.Errorf("log %s", got)
		}
		if got := transcribeStream(t, p, say(1, first)); len(got) != 1 {
			t.Errorf("another stream heard %v", got)
		}
	}
}
