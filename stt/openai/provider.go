package openai

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Provider = (*Provider)(nil)

const (
	defaultBaseURL = "https://api.openai.com/v1"
	// defaultModel is the only one of OpenAI's own that tells the times of
	// words, how sure it is, and which language it heard; and the only one
	// that translates.
	defaultModel   = "whisper-1"
	defaultTimeout = time.Minute
)

// Config is what a [Provider] is made of. All of it is optional, but OpenAI's
// own servers want a key, here or from each session.
type Config struct {
	APIKey string
	// BaseURL is where the server is: https://api.openai.com/v1 if empty. The
	// version may be left out, and the whole address of the endpoint is taken
	// as well.
	BaseURL string
	Model   string // of streams that name none; whisper-1 if empty
	// Detector makes the voice detector of a stream. Nil for one that goes by
	// the level of the sound alone: it needs no model, and takes every noise
	// that is louder than what was before for a voice.
	Detector func() (Detector, error)
	// Timeout is how long the server may take for one utterance of at most 25
	// seconds; a minute if zero.
	Timeout time.Duration
	// Client makes the requests; nil for one with the proxy of the
	// environment. Redirects are not followed.
	Client *http.Client
	Log    *slog.Logger
}

// A Detector tells how likely each window of one channel of sound is speech.
// It belongs to one goroutine at a time. Package vad has one.
type Detector interface {
	// Feed takes the next 512 samples at [hearken.SampleRate], in -1 to 1, and
	// returns the probability that they hold speech.
	Feed(window []float32) (float32, error)
	Close()
}

// A Provider opens streams that are heard by one server.
type Provider struct {
	cfg    Config
	base   string // the address of the API with its version; empty if there is none
	server string // what the server is called in sentences, at their beginning
	public bool   // whether it is OpenAI's own
	client *http.Client
	log    *slog.Logger

	// manners remembers, for each model, how the server wants to be asked if
	// that is not how it was asked first.
	manners sync.Map
}

// New makes a provider. It opens no connection; what is wrong with the
// configuration is told by [Provider.Check].
func New(cfg Config) *Provider {
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	cfg.Model = cmp.Or(strings.TrimSpace(cfg.Model), defaultModel)
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	if cfg.Detector == nil {
		cfg.Detector = func() (Detector, error) { return newLevelDetector(), nil }
	}
	p := &Provider{cfg: cfg, client: newClient(cfg.Client), log: cfg.Log}
	p.base, p.server, p.public = address(cmp.Or(strings.TrimSpace(cfg.BaseURL), defaultBaseURL))
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p
}

// newClient makes a client that takes the key and the sound nowhere else when
// it is told to.
func newClient(given *http.Client) *http.Client {
	c := new(http.Client)
	if given != nil {
		*c = *given
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16 // sessions speak at the same time
		c.Transport = transport
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Name is "openai".
func (p *Provider) Name() string { return "openai" }

// Capabilities say that streams finalize and that the server can be probed.
func (p *Provider) Capabilities() hearken.Capabilities {
	return hearken.Capabilities{Finalize: true, Probe: p.probe}
}

// Check tells whether there is a key where one is wanted, and whether the
// model has the language. It does not ask the server.
func (p *Provider) Check(_ context.Context, cfg hearken.StreamConfig) error {
	_, err := p.wish(cfg)
	return err
}

// A wish is what a stream asks the server for.
type wish struct {
	key, model string
	language   string   // as the server calls it; empty if it is to find out
	told       string   // as the session calls it
	terms      []string // the vocabulary, as much of it as the server takes
}

// wish finds out what cfg asks for, and whether it can be had.
func (p *Provider) wish(cfg hearken.StreamConfig) (wish, error) {
	w := wish{
		key:   cmp.Or(strings.TrimSpace(cfg.APIKey), p.cfg.APIKey),
		model: cmp.Or(strings.TrimSpace(cfg.Model), p.cfg.Model),
	}
	if p.base == "" {
		return w, hearken.Errorf(hearken.ProviderNotConfigured, "The base URL of the OpenAI API is not the address of a server.").
			WithTry("OPENAI_BASE_URL=%s", defaultBaseURL)
	}
	if w.key == "" && p.public {
		return w, hearken.Errorf(hearken.APIKeyMissing, "OpenAI wants a key, and there is none.").
			WithTry("OPENAI_API_KEY=... (platform.openai.com gives one), or OPENAI_BASE_URL for a server of your own, or the provider local, which needs none")
	}
	var err error
	if w.language, err = serverLanguage(w.model, cfg.Language); err != nil {
		return w, err
	}
	if w.language != "" {
		w.told = cfg.Language
	}
	return w, nil
}

// Open starts a stream. It does not ask the server; that is done for the first
// utterance.
func (p *Provider) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w, err := p.wish(cfg)
	if err != nil {
		return nil, err
	}
	var dropped int
	if w.terms, dropped = terms(cfg.Vocabulary); dropped > 0 {
		p.log.Warn("vocabulary too long for the server", "session", cfg.Session, "terms_left_out", dropped)
	}
	d, err := p.cfg.Detector()
	if err != nil {
		return nil, noDetector(err)
	}
	p.log.Debug("stream opened", "provider", p.Name(), "session", cfg.Session, "origin", cfg.Origin, "model", w.model, "language", w.language)
	return newStream(ctx, p, cfg, w, d), nil
}

func noDetector(err error) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "The voice detector failed: %w.", err)
}
