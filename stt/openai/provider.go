package openai

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
	"github.com/hearken-dev/hearken/stt"
)

var _ hearken.Provider = (*Provider)(nil)

const (
	defaultBaseURL = "https://api.openai.com/v1"
	// defaultModel is the only one of OpenAI's own that reports the times of
	// words, its confidence and the language, and the only one that
	// translates.
	defaultModel   = "whisper-1"
	defaultTimeout = time.Minute
)

// Config configures a [Provider]. All of it is optional, but OpenAI's own
// servers need a key, here or from each session.
type Config struct {
	APIKey string
	// BaseURL is the server's address: https://api.openai.com/v1 if empty. The
	// version may be left out; the whole address of the endpoint works too.
	BaseURL string
	Model   string // of streams that name none; whisper-1 if empty
	// Detector makes the voice detector of a stream. Nil for one that uses
	// only the level of the audio: it needs no model, and takes every noise
	// that is louder than the background for a voice.
	Detector func() (Detector, error)
	// Timeout is how long the server may take for one utterance of at most 25
	// seconds; a minute if zero.
	Timeout time.Duration
	// Client makes the requests; nil for one with the proxy of the
	// environment. Redirects are not followed.
	Client *http.Client
	Log    *slog.Logger
}

// A Detector says how likely each window of one channel is speech. It is used
// by one goroutine at a time. Package vad has one.
type Detector interface {
	// Feed takes the next 512 samples at [hearken.SampleRate], in -1 to 1, and
	// returns the probability that they hold speech.
	Feed(window []float32) (float32, error)
	Close()
}

// A Provider opens streams that one server transcribes.
type Provider struct {
	cfg    Config
	base   string // the address of the API with its version; empty if it is invalid
	server string // what the server is called in sentences, at their beginning
	public bool   // whether it is OpenAI's own
	client *http.Client
	log    *slog.Logger

	// formats holds the [requestFormat] of each model for which the server
	// refused the first one.
	formats sync.Map
}

// New makes a provider. It opens no connection; [Provider.Check] reports what is
// wrong with the configuration.
func New(cfg Config) *Provider {
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	cfg.Model = cmp.Or(strings.TrimSpace(cfg.Model), defaultModel)
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	if cfg.Detector == nil {
		cfg.Detector = func() (Detector, error) { return newLevelDetector(), nil }
	}
	p := &Provider{cfg: cfg, client: newClient(cfg.Client), log: cfg.Log}
	p.base, p.server, p.public = parseBaseURL(cmp.Or(strings.TrimSpace(cfg.BaseURL), defaultBaseURL))
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p
}

// version is the API version at the end of a path.
var version = regexp.MustCompile(`/v\d+$`)

// parseBaseURL finds the API's base address in what people configure: with or
// without the version, or with the whole address of an endpoint. It also
// returns what to call the server, and whether it is OpenAI's own.
func parseBaseURL(s string) (base, server string, public bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	path := strings.TrimRight(u.Path, "/")
	whole := false
	for _, endpoint := range []string{"/audio/transcriptions", "/audio/translations", "/models"} {
		if before, ok := strings.CutSuffix(path, endpoint); ok {
			path, whole = before, true
			break
		}
	}
	if !whole && !version.MatchString(path) {
		path += "/v1"
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path, "", "", ""
	if u.Hostname() == "api.openai.com" {
		return u.String(), "OpenAI", true
	}
	return u.String(), "The server at " + u.Host, false
}

// newClient makes a client that follows no redirect: the key and the audio must
// go nowhere else.
func newClient(given *http.Client) *http.Client {
	c := new(http.Client)
	if given != nil {
		*c = *given
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16 // for sessions at the same time
		c.Transport = transport
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Name is "openai".
func (p *Provider) Name() string { return "openai" }

// Capabilities say that streams finalize and that the server can be probed. A
// server on this computer is offline.
func (p *Provider) Capabilities() hearken.Capabilities {
	return hearken.Capabilities{Offline: remote.IsLoopbackURL(p.base), Finalize: true, Probe: p.probe}
}

// Check reports whether there is a key if one is needed, and whether the model
// has the language. It does not ask the server.
func (p *Provider) Check(_ context.Context, cfg hearken.StreamConfig) error {
	_, err := p.streamOptions(cfg)
	return err
}

// streamOptions are what a stream asks the server for.
type streamOptions struct {
	key, model      string
	language        string   // as the server calls it; empty if it should detect it
	sessionLanguage string   // as the session calls it
	terms           []string // the vocabulary, as much of it as the server takes
}

// streamOptions reads cfg and checks whether the provider can do it.
func (p *Provider) streamOptions(cfg hearken.StreamConfig) (streamOptions, error) {
	o := streamOptions{
		key:   cmp.Or(strings.TrimSpace(cfg.APIKey), p.cfg.APIKey),
		model: cmp.Or(strings.TrimSpace(cfg.Model), p.cfg.Model),
	}
	if p.base == "" {
		return o, hearken.Errorf(hearken.ProviderNotConfigured, "The OpenAI API's base URL is not the address of a server.").
			WithTry("OPENAI_BASE_URL=%s", defaultBaseURL)
	}
	if o.key == "" && p.public {
		return o, hearken.Errorf(hearken.APIKeyMissing, "OpenAI needs a key, and there is none.").
			WithTry("OPENAI_API_KEY=... (from platform.openai.com), or OPENAI_BASE_URL for a server of your own, or the provider local, which needs none")
	}
	var err error
	if o.language, err = serverLanguage(o.model, cfg.Language); err != nil {
		return o, err
	}
	if o.language != "" {
		o.sessionLanguage = cfg.Language
	}
	return o, nil
}

// Open starts a stream. The first request to the server is for the first
// utterance.
func (p *Provider) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o, err := p.streamOptions(cfg)
	if err != nil {
		return nil, err
	}
	var dropped int
	if o.terms, dropped = stt.FitVocabulary(cfg.Vocabulary, math.MaxInt, maxTokens, countTokens); dropped > 0 {
		p.log.Warn("vocabulary too long for the server", "session", cfg.Session, "terms_left_out", dropped)
	}
	d, err := p.cfg.Detector()
	if err != nil {
		return nil, detectorError(err)
	}
	p.log.Debug("stream opened", "provider", p.Name(), "session", cfg.Session, "origin", cfg.Origin, "model", o.model, "language", o.language)
	return newStream(ctx, p, cfg, o, d), nil
}

func detectorError(err error) error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "The voice detector failed: %w.", err)
}
