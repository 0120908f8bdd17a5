package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/stt/deepgram"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/stt/openai"
	"github.com/hearken-dev/hearken/vad"
)

// engines are the hub's engines.
type engines struct {
	providers  []hearken.Provider
	chain      []string // names of the default engines; the next takes over when one fails
	captures   []string // the same for this computer's own audio
	vocabulary []string
	local      *lazyEngine      // nil in tests
	detectors  *speechDetectors // nil if its model is not installed
}

// openEngines makes the configured engines. Tests give their own providers
// instead.
func openEngines(ctx context.Context, cfg *Config, providers []hearken.Provider, log *slog.Logger) (e engines, err error) {
	if e.vocabulary, err = readVocabulary(cfg.Vocabulary); err != nil {
		return e, err
	}
	e.chain, e.captures = cfg.TranscriptionProvider, cfg.captureChain()
	if providers != nil {
		e.providers = providers
		if first := providers[0].Name(); e.missing() {
			e.chain, e.captures = []string{first}, []string{first}
		}
		return e, nil
	}
	root, err := modelRoot(cfg)
	if err != nil {
		return e, err
	}
	e.local = &lazyEngine{open: func() *moonshine.Provider {
		return moonshine.Open(ctx, moonshine.Config{
			Dir: root, Library: models.Library(root), Model: cfg.LocalModel, Vocabulary: e.vocabulary, Others: []string{"deepgram", "openai"}, Log: log,
		})
	}}
	openaiConfig := openai.Config{APIKey: cfg.OpenaiAPIKey, BaseURL: cfg.OpenaiBaseURL, Model: cfg.OpenaiModel, Log: log}
	if models.Ready(root) == nil {
		e.detectors = &speechDetectors{root: root}
		openaiConfig.Detector = e.detectors.open
	}
	e.providers = []hearken.Provider{
		e.local,
		deepgram.New(deepgram.Config{APIKey: cfg.DeepgramAPIKey, BaseURL: cfg.DeepgramBaseURL, Model: cfg.DeepgramModel, Log: log}),
		openai.New(openaiConfig),
	}
	if slices.Contains(e.chain, "null") {
		e.providers = append(e.providers, nullEngine{})
	}
	return e, nil
}

// names lists the engines by name, the default one first.
func (e *engines) names() []string {
	names := slices.Clone(e.chain)
	for _, p := range e.providers {
		if !slices.Contains(names, p.Name()) {
			names = append(names, p.Name())
		}
	}
	return names
}

// missing reports whether a default engine is not among the providers.
func (e *engines) missing() bool {
	return slices.ContainsFunc(slices.Concat(e.chain, e.captures), func(name string) bool {
		return !slices.ContainsFunc(e.providers, func(p hearken.Provider) bool { return p.Name() == name })
	})
}

// remote returns the engines among names that take audio to another computer.
func (e *engines) remote(names []string) []string {
	var remote []string
	for _, p := range e.providers {
		if slices.Contains(names, p.Name()) && !p.Capabilities().Offline {
			remote = append(remote, p.Name())
		}
	}
	return remote
}

// needLocal reports whether the offline engine is the first choice for anything.
func (e *engines) needLocal() bool { return e.chain[0] == "local" || e.captures[0] == "local" }

// localFirst reports whether the offline engine is the default.
func (e *engines) localFirst() bool { return e.local != nil && e.chain[0] == e.local.Name() }

// warm begins to load the offline engine if it is the default.
func (e *engines) warm() {
	if e.localFirst() {
		e.local.get()
	}
}

// ready reports why the default engine cannot work.
func (e *engines) ready(ctx context.Context) error {
	if !e.localFirst() {
		return nil
	}
	// A probe asks for the state now and does not wait for the engine to load.
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := e.local.get().Ready(ctx); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

func (e *engines) close(ctx context.Context) error {
	if e.detectors != nil {
		e.detectors.close()
	}
	if e.local == nil {
		return nil
	}
	return e.local.close(ctx)
}

// lazyEngine is the offline engine, opened when it is first needed: a command
// that only lists sessions does not need its models.
type lazyEngine struct {
	open func() *moonshine.Provider

	mu     sync.Mutex
	engine *moonshine.Provider
}

var _ hearken.Provider = (*lazyEngine)(nil)

func (l *lazyEngine) get() *moonshine.Provider {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		l.engine = l.open() // returns at once and loads in the background
	}
	return l.engine
}

func (l *lazyEngine) close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		return nil
	}
	return l.engine.Close(ctx)
}

// Name is "local".
func (l *lazyEngine) Name() string { return "local" }

// Capabilities returns the engine's capabilities without opening it.
func (l *lazyEngine) Capabilities() hearken.Capabilities { return moonshine.Capabilities() }

// Check asks the engine.
func (l *lazyEngine) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	return l.get().Check(ctx, cfg)
}

// Open opens a stream of the engine.
func (l *lazyEngine) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	return l.get().Open(ctx, cfg)
}

// speechDetectors makes speech detectors for engines that have none of their
// own. It loads the model when it is first needed.
type speechDetectors struct {
	root string // of the models

	mu      sync.Mutex
	runtime *onnx.Runtime
	model   *vad.Model
}

// open makes the detector of one stream.
func (d *speechDetectors) open() (openai.Detector, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.model == nil {
		rt, err := onnx.Open(models.Library(d.root))
		if err != nil {
			return nil, err
		}
		m, err := vad.Load(rt, models.VAD(d.root))
		if err != nil {
			rt.Close()
			return nil, err
		}
		d.runtime, d.model = rt, m
	}
	return d.model.NewDetector()
}

func (d *speechDetectors) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.model != nil {
		d.model.Close()
		d.runtime.Close()
		d.model, d.runtime = nil, nil
	}
}

// modelRoot returns the directory of the offline engine's files.
func modelRoot(cfg *Config) (string, error) {
	if dir := cmp.Or(cfg.Models, cfg.CacheDir); dir != "" {
		return dir, nil
	}
	return models.Root()
}

// readVocabulary reads names and terms, one per line; # begins a comment. No
// path means no vocabulary.
func readVocabulary(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, hearken.Errorf(hearken.Invalid, "VOCABULARY names a file that cannot be read: %w.", err)
	}
	var terms []string
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			terms = append(terms, line)
		}
	}
	return terms, nil
}
