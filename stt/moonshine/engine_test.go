package moonshine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/speech"
)

func TestProvider_Busy(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1, MaxStreams: 3})
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := hearken.StreamConfig{Language: "en"}
	var open []hearken.Stream
	busy := 0
	for range 200 {
		s, err := p.Open(t.Context(), cfg)
		switch {
		case err == nil:
			open = append(open, s)
		case hearken.CodeOf(err) == hearken.Busy:
			busy++
		default:
			t.Fatal(err)
		}
	}
	if len(open) != 3 || busy != 197 {
		t.Fatalf("%d open, %d busy", len(open), busy)
	}
	if err := p.Check(t.Context(), cfg); hearken.CodeOf(err) != hearken.Busy {
		t.Errorf("Check: %v", err)
	}
	for _, s := range open {
		s.Close()
		for range s.Events() {
		}
	}
	if err := p.Check(t.Context(), cfg); err != nil {
		t.Errorf("Check after all have ended: %v", err)
	}
}

func TestProvider_Check(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
	rich := fakeProvider(t, &fakeModel{}, Config{Cores: 1, Others: []string{"deepgram", "openai"}})
	empty := newProvider(t.Context(), Config{Dir: filepath.Join(t.TempDir(), "none"), Cores: 1})
	t.Cleanup(func() { empty.Close(context.Background()) })
	for _, tt := range []struct {
		name string
		p    *Provider
		cfg  hearken.StreamConfig
		want []string // in the message; none for no error
	}{
		{"English", p, hearken.StreamConfig{Language: "en-GB"}, nil},
		{"Model", p, hearken.StreamConfig{Language: "en", Model: "tiny"}, nil},
		{"OtherLanguage", p, hearken.StreamConfig{Language: "pt-BR"}, []string{`"pt-BR"`, "it has en. Try: a Moonshine model", "base-pt"}},
		{"OtherProviders", rich, hearken.StreamConfig{Language: "pt-BR"}, []string{"The provider deepgram or openai could do it. Try: provider deepgram or openai, or"}},
		{"OtherModel", p, hearken.StreamConfig{Language: "en", Model: "huge"}, []string{`"huge"`, "it has tiny"}},
		{"NoModels", empty, hearken.StreamConfig{Language: "en"}, []string{"no models", "Try: hearken models pull"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.p.Check(t.Context(), tt.cfg)
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if hearken.CodeOf(err) != hearken.ProviderNotConfigured {
				t.Fatalf("Check: %v", err)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in %q", w, err)
				}
			}
		})
	}
}

// A session that starts while the engine loads waits for it.
func TestProvider_OpenWaits(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "moonshine", "tiny-en"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t.Context(), Config{Dir: dir, Cores: 1})
	loaded := make(chan struct{})
	p.load = func(ctx context.Context, _ []Installed, _ bool) (*modelSet, error) {
		select {
		case <-loaded:
			return &modelSet{good: &fakeModel{}, quick: &fakeModel{}, streams: 1, detector: func() (detector, error) { return fakeDetector{}, nil }}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.loadDefault(t.Context())
	t.Cleanup(func() { p.Close(context.Background()) })
	if err := p.Check(t.Context(), hearken.StreamConfig{Language: "en"}); err != nil {
		t.Errorf("Check while loading: %v", err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Open(impatient, hearken.StreamConfig{Language: "en"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a context that has ended: %v", err)
	}
	opened := make(chan error)
	go func() {
		s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
		if err == nil {
			s.Close()
			for range s.Events() {
			}
		}
		opened <- err
	}()
	close(loaded)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// Models that were broken and are mended load without a restart.
func TestProvider_TriesAgain(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	good, broken := p.load, errors.New("truncated file")
	p.load = func(context.Context, []Installed, bool) (*modelSet, error) { return nil, broken }
	cfg := hearken.StreamConfig{Language: "en", Model: "tiny"}
	if _, err := p.Open(t.Context(), cfg); !errors.Is(err, broken) {
		t.Fatalf("Open: %v", err)
	}
	if err := p.Check(t.Context(), cfg); !errors.Is(err, broken) {
		t.Errorf("Check: %v", err)
	}
	p.load = good
	if err := p.Check(t.Context(), cfg); err != nil {
		t.Errorf("Check of the mended model: %v", err)
	}
}

// Closing the engine fails the streams that are still open.
func TestProvider_Close(t *testing.T) {
	p := fakeProvider(t, &fakeModel{}, Config{Cores: 1})
	s, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var last hearken.StreamEvent
	for last = range s.Events() {
	}
	if last.Kind != hearken.Failed {
		t.Errorf("last event %+v", last)
	}
	if _, err := p.Open(t.Context(), hearken.StreamConfig{Language: "en"}); err == nil {
		t.Error("a closed engine opened a stream")
	}
}

// A model that was put there by hand works, and whoever runs it learns that it
// could be faster.
func TestProvider_Unprepared(t *testing.T) {
	root := t.TempDir()
	dir := published(t, "tiny-en")
	if err := os.Mkdir(filepath.Join(root, "moonshine"), 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{dir: "moonshine/tiny-en", filepath.Join(speech.Models(t), "vad"): "vad", filepath.Join(speech.Models(t), "lib"): "lib"} {
		if err := os.Symlink(from, filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	load := func() string {
		var log bytes.Buffer
		p := Open(t.Context(), Config{Dir: root, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := p.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		return log.String()
	}
	if log := load(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "hearken models pull") {
		t.Errorf("log: %s", log)
	}
	if err := Rewrite(dir); err != nil {
		t.Fatal(err)
	}
	if log := load(); strings.Contains(log, "level=WARN") {
		t.Errorf("log of a prepared model: %s", log)
	}
}
