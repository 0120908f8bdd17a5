package moonshine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Provider = (*Provider)(nil)

// autoModel lets a measurement choose which model makes the finals.
const autoModel = "auto"

// Config configures a [Provider]. Dir is required.
type Config struct {
	Dir        string   // the model cache: moonshine/, vad/ and lib/ are in it
	Library    string   // the ONNX Runtime; empty for the one in Dir
	Language   string   // the models of this one are loaded at once; empty for English
	Model      string   // "tiny" or "base" for the finals; "auto", the default, for what the machine can do
	Vocabulary []string // names and terms for every stream
	Cores      int      // inferences at a time; 0 for one for each core
	MaxStreams int      // 0 for as many as a measurement allows
	Others     []string // the hub's other providers, to suggest for a language that is missing here
	Log        *slog.Logger
}

// A Provider is the engine: the loaded models and the workers that all streams
// share.
type Provider struct {
	cfg   Config
	sched *scheduler
	load  func(ctx context.Context, found []Installed, mayChoose bool) (*modelSet, error)
	cache modelCache

	ctx      context.Context
	cancel   context.CancelFunc
	loads    sync.WaitGroup
	reserved sync.WaitGroup // one for each stream that holds a detector

	mu      sync.Mutex
	sets    map[string]*loading // by language and model
	streams int
	limit   int // streams at once; 0 until measured
	closed  bool
}

// A modelSet is what transcribes one language.
type modelSet struct {
	good, quick recognizer
	plausible   plausibility
	common      func(word string) bool
	detector    func() (detector, error)
	streams     int // how many such streams the computer can carry
}

// loading is a model set that is loaded or being loaded.
type loading struct {
	ready   chan struct{}
	retried bool // it failed before, so callers wait for the result
	set     *modelSet
	err     error
}

func (l *loading) failed() bool {
	select {
	case <-l.ready:
		return l.err != nil
	default:
		return false
	}
}

// Open makes an engine and begins to load the models of its language. It
// returns at once; Check reports what is wrong with the models. Loading stops
// when ctx ends.
func Open(ctx context.Context, cfg Config) *Provider {
	p := newProvider(ctx, cfg)
	p.load = p.loadModels
	p.loadDefault(ctx)
	return p
}

func newProvider(ctx context.Context, cfg Config) *Provider {
	if cfg.Cores <= 0 {
		cfg.Cores = runtime.GOMAXPROCS(0)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Model = cmp.Or(cfg.Model, autoModel)
	p := &Provider{cfg: cfg, sched: newScheduler(cfg.Cores), sets: map[string]*loading{}}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return p
}

// loadDefault loads the default models in the background.
func (p *Provider) loadDefault(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.cancel)
	l := p.modelSet(p.cfg.Language, "")
	p.loads.Go(func() {
		<-l.ready
		stop()
		if l.err != nil && !errors.Is(l.err, context.Canceled) {
			p.cfg.Log.Warn("offline engine not ready", "error", l.err)
		}
	})
}

// Name is "local".
func (p *Provider) Name() string { return "local" }

// Capabilities are the same for every provider; see [Capabilities].
func (p *Provider) Capabilities() hearken.Capabilities { return Capabilities() }

// Capabilities say that audio stays on this computer and that streams
// finalize. They are known before a provider is made and loads its models.
func Capabilities() hearken.Capabilities {
	return hearken.Capabilities{Offline: true, Finalize: true}
}

// Ready waits until the models of the default language are loaded.
func (p *Provider) Ready(ctx context.Context) error {
	_, err := p.modelSet(p.cfg.Language, "").wait(ctx)
	return err
}

// Check reports whether there is a model for the language and capacity for
// another stream.
func (p *Provider) Check(ctx context.Context, cfg hearken.StreamConfig) error {
	if _, err := p.chooseModels(cfg.Language, cmp.Or(cfg.Model, p.cfg.Model)); err != nil {
		return err
	}
	if l := p.modelSet(cfg.Language, cfg.Model); l.retried {
		if _, err := l.wait(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkCapacity()
}

// Open starts a stream. It waits for models that are still being loaded.
func (p *Provider) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	v, err := p.modelSet(cfg.Language, cfg.Model).wait(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Recorded {
		return p.open(ctx, cfg, v, recordedMode)
	}
	return p.open(ctx, cfg, v, liveMode.withEndpointing(cfg.Endpointing))
}

// TranscribeAll transcribes a whole recording with all cores and returns its
// segments. It works like a live stream, except that nobody waits for the
// words: segments are as long as the models can take, which is more accurate,
// and each is decoded on its own, so that every core has one. Live streams go
// first. If progress is not nil, it gets the share that is done.
func (p *Provider) TranscribeAll(ctx context.Context, pcm []int16, cfg hearken.StreamConfig, progress func(done float64)) ([]hearken.Segment, error) {
	v, err := p.modelSet(cfg.Language, cfg.Model).wait(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // releases the stream in any case
	cfg.Interim = false
	s, err := p.open(ctx, cfg, v, recordedMode)
	if err != nil {
		return nil, err
	}
	go func() {
		// A failure to write is also an event.
		if s.Write(hearken.Frame{Pos: cfg.Start, PCM: pcm}) == nil {
			_ = s.Close()
		}
	}()
	var segments []hearken.Segment
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Failed:
			return nil, e.Err
		case hearken.Final:
			segments = append(segments, e.Segment)
		}
		if progress != nil && len(pcm) > 0 && (e.Kind == hearken.Final || e.Kind == hearken.Progress) {
			progress(float64(e.FinalUntil-cfg.Start) / float64(len(pcm)))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return segments, nil
}

func (p *Provider) open(ctx context.Context, cfg hearken.StreamConfig, v *modelSet, m mode) (*stream, error) {
	if err := p.reserve(v, m.live); err != nil {
		return nil, err
	}
	release := sync.OnceFunc(func() { p.release(m.live) })
	d, err := v.detector()
	if err != nil {
		release()
		return nil, hearken.Errorf(hearken.ProviderConnectionFailed, "The voice detector failed: %w.", err)
	}
	terms := slices.Concat(p.cfg.Vocabulary, cfg.Vocabulary)
	e := &transcriber{good: v.good, quick: v.quick, plausible: v.plausible, vocab: newVocabulary(terms, v.common)}
	s := newStream(ctx, cfg, m, e, p.sched, d, release)
	s.log = p.cfg.Log
	s.failWithEngine(p.ctx)
	if !m.live {
		s.maxPending = 2*p.cfg.Cores + 1
	}
	return s, nil
}

// reserve reserves capacity for a stream.
func (p *Provider) reserve(v *modelSet, live bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errEngineEnded()
	}
	if live {
		p.limit = v.streams
		if p.cfg.MaxStreams > 0 {
			p.limit = p.cfg.MaxStreams
		}
		if err := p.checkCapacity(); err != nil {
			return err
		}
		p.streams++
	}
	p.reserved.Add(1)
	return nil
}

func (p *Provider) release(live bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if live {
		p.streams--
	}
	p.reserved.Done()
}

// checkCapacity reports whether the computer can carry another stream. Besides
// the number of streams, finals that wait long show that it is overloaded.
func (p *Provider) checkCapacity() error {
	const tooLong = 3 * time.Second
	_, wait := p.sched.pressure()
	behind := wait > tooLong && p.streams > p.cfg.Cores
	if (p.limit == 0 || p.streams < p.limit) && !behind {
		return nil
	}
	return hearken.Errorf(hearken.Busy, "The offline engine already transcribes %d streams, as many as this computer can.", p.streams).
		WithTry("again when one of them has ended, or another provider")
}

// Close stops the engine and frees its models. Streams that are still open fail.
func (p *Provider) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.loads.Wait()
	if err := p.sched.close(ctx); err != nil {
		return err // something still runs: its memory may not be freed
	}
	p.reserved.Wait()
	p.cache.close()
	return nil
}

func errEngineEnded() error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "The offline engine has ended.")
}

// modelSet finds a model set or begins to load it. One that failed is retried.
func (p *Provider) modelSet(language, model string) *loading {
	language, model = primaryLanguage(language), cmp.Or(model, p.cfg.Model)
	key := language + " " + model
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.sets[key]
	if old != nil && !old.failed() {
		return old
	}
	l := &loading{ready: make(chan struct{}), retried: old != nil}
	if p.closed {
		l.err = errEngineEnded()
		close(l.ready)
		return l
	}
	p.sets[key] = l
	p.loads.Go(func() {
		defer close(l.ready)
		var found []Installed
		if found, l.err = p.chooseModels(language, model); l.err == nil {
			l.set, l.err = p.load(p.ctx, found, model == autoModel)
		}
	})
	return l
}

func (l *loading) wait(ctx context.Context) (*modelSet, error) {
	select {
	case <-l.ready:
		return l.set, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
