package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/store/jsonfile"
	"github.com/hearken-dev/hearken/store/postgres"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/stt/deepgram"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/stt/openai"
)

// openTimeout is how long a store may take to open.
const openTimeout = 15 * time.Second

// openStore opens the configured store.
func openStore(ctx context.Context, cfg *Config) (store hearken.Store, err error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout) // a database may hang
	defer cancel()
	switch cfg.StorageBackend {
	case "postgres":
		store, err = postgres.Open(ctx, cfg.DatabaseURL)
	case "json":
		store, err = jsonfile.Open(ctx, cfg.DatabaseURL)
	default:
		store, err = sqlite.Open(ctx, cfg.DatabaseURL)
	}
	if err == nil {
		return store, nil
	}
	if _, ok := errors.AsType[*hearken.Error](err); ok {
		return nil, err
	}
	return nil, hearken.Errorf(hearken.RepositoryError, "The store, %s, cannot be opened: %w.", cfg.storeName(), err).
		WithTry("hearken config, for where STORAGE_BACKEND and DATABASE_URL come from")
}

// engines are the providers.
type engines struct {
	providers  []hearken.Provider
	chain      []string // those of sessions that name none, in turn
	vocabulary []string
	ready      func(context.Context) error
	local      *lateEngine // nil if others were given
	voices     *voices     // nil if there is no model for it
}

// warm begins to load the offline engine where it is the default.
func (e *engines) warm() {
	if e.local != nil && e.chain[0] == e.local.Name() {
		e.local.get()
	}
}

func (e *engines) close(ctx context.Context) error {
	if e.voices != nil {
		e.voices.close()
	}
	if e.local == nil {
		return nil
	}
	return e.local.close(ctx)
}

// openEngines makes the providers.
func openEngines(ctx context.Context, cfg *Config, opts Options, log *slog.Logger) (engines, error) {
	e := engines{ready: func(context.Context) error { return nil }}
	var err error
	if cfg.Vocabulary != "" {
		if e.vocabulary, err = readVocabulary(cfg.Vocabulary); err != nil {
			return e, err
		}
	}
	if opts.Providers != nil {
		e.providers, e.chain = opts.Providers, []string{opts.Providers[0].Name()}
		return e, nil
	}
	root, err := modelRoot(cfg)
	if err != nil {
		return e, err
	}
	local := &lateEngine{make: func() *moonshine.Provider {
		return moonshine.Open(ctx, moonshine.Config{
			Dir: root, Library: models.Library(root), Model: cfg.LocalModel, Vocabulary: e.vocabulary, Others: []string{"deepgram", "openai"}, Log: log,
		})
	}}
	e.providers = []hearken.Provider{
		local,
		deepgram.New(deepgram.Config{APIKey: cfg.DeepgramAPIKey, BaseURL: cfg.DeepgramBaseURL, Model: cfg.DeepgramModel, Log: log}),
	}
	other := openai.Config{APIKey: cfg.OpenaiAPIKey, BaseURL: cfg.OpenaiBaseURL, Model: cfg.OpenaiModel, Log: log}
	if models.Ready(root) == nil {
		e.voices = &voices{root: root}
		other.Detector = e.voices.detector
	}
	e.providers = append(e.providers, openai.New(other))
	e.local, e.chain = local, cfg.TranscriptionProvider
	if slices.Contains(e.chain, "null") {
		e.providers = append(e.providers, nullEngine{})
	}
	if e.chain[0] == "local" {
		e.ready = func(ctx context.Context) error {
			// A probe wants to know how it is, not how it will be.
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			if err := local.get().Ready(ctx); err != nil {
				return fmt.Errorf("engine: %w", err)
			}
			return nil
		}
	}
	return e, nil
}

// lateEngine is the offline engine, made when it is first needed: who only
// lists sessions has no use for its models.
type lateEngine struct {
	make func() *moonshine.Provider

	mu     sync.Mutex
	engine *moonshine.Provider
}

var _ hearken.Provider = (*lateEngine)(nil)

func (l *lateEngine) get() *moonshine.Provider {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		l.engine = l.make() // returns at once and loads in the background
	}
	return l.engine
}

func (l *lateEngine) close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		return nil
	}
	return l.engine.Close(ctx)
}

// Name is "local".
func (l *lateEngine) Name() string { return "local" }

// Capabilities are the engine's, which it need not be made for.
func (l *lateEngine) Capabilities() hearken.Capabilities { return moonshine.Capabilities() }

// Check asks the engine.
func (l *lateEngine) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return l.get().Check(ctx, cfg)
}

// Open opens a stream of the engine.
func (l *lateEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	return l.get().Open(ctx, cfg)
}

// modelRoot is where the offline engine's files are.
func modelRoot(cfg *Config) (string, error) {
	for _, dir := range []string{cfg.Models, cfg.CacheDir} {
		if dir != "" {
			return dir, nil
		}
	}
	return models.Root()
}

// readVocabulary reads names and terms, one a line; # begins a remark.
func readVocabulary(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "VOCABULARY names a file that cannot be read: %w.", err)
	}
	defer f.Close()
	var terms []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			terms = append(terms, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "VOCABULARY names a file that cannot be read: %w.", err)
	}
	return terms, nil
}

// narrow limits one choice of toolsets by another. "read" is a limit that holds
// if either has it; of the others, both must have a set.
func narrow(have, want []string) []string {
	h, hr := splitToolsets(have)
	w, wr := splitToolsets(want)
	var both []string
	switch {
	case h == nil:
		both = w
	case w == nil:
		both = h
	default:
		both = slices.DeleteFunc(w, func(name string) bool { return !slices.Contains(h, name) })
		if len(both) == 0 {
			return []string{"none"} // no such set: no tool at all
		}
	}
	if hr || wr {
		both = append(both, mcpserver.ReadOnly)
	}
	return both
}

// splitToolsets is the sets that are named, nil for all, and whether only
// what changes nothing is wanted.
func splitToolsets(names []string) (sets []string, readOnly bool) {
	all := false
	for _, name := range names {
		switch name {
		case mcpserver.ReadOnly:
			readOnly = true
		case mcpserver.AllTools:
			all = true
		default:
			sets = append(sets, name)
		}
	}
	if all {
		sets = nil
	}
	return sets, readOnly
}
