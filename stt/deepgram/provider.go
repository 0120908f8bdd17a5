package deepgram

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/remote"
	"github.com/hearken-dev/hearken/stt"
)

var _ hearken.Provider = (*Provider)(nil)

const (
	defaultBaseURL = "wss://api.deepgram.com"
	defaultModel   = "nova-3"
	defaultPace    = 1.25
	defaultStall   = 10 * time.Second
	// Deepgram names no limit for a stream. But no connection lasts forever:
	// servers are replaced and proxies time out, and then it breaks in the
	// middle of a word. It is better to open a new one in a pause.
	defaultMaxStream = 4 * time.Hour

	// openWithin is how long the server may take to accept a stream.
	openWithin = 10 * time.Second
	// maxMessage is far more than the longest result. It keeps an unknown
	// server from filling the memory.
	maxMessage = 1 << 20
)

// Config configures a [Provider]. All of it is optional; without a key every
// session needs its own.
type Config struct {
	APIKey  string
	BaseURL string // wss://api.deepgram.com if empty; the path /v1/listen is added
	Model   string // of streams that name none; nova-3 if empty
	// Extra are further parameters of the connection by Deepgram's names, such
	// as mip_opt_out or redact. They replace the provider's own, and an empty
	// value removes one. Those that describe the audio cannot be changed.
	Extra url.Values
	// Pace is how many seconds of audio are sent per second at most when there
	// is more than live audio. 1.25 if zero, what Deepgram's servers are made
	// for; without limit if negative.
	Pace float64
	// Stall is how long the server may send nothing while it gets audio, or
	// accept no audio, before the stream fails; 10 s if zero, ten times as long
	// as Deepgram takes.
	Stall time.Duration
	// MaxStream is how long a stream may stay open; 4 h if zero.
	MaxStream time.Duration
	// Client makes the connections; nil for one with the proxy of the
	// environment.
	Client *http.Client
	Log    *slog.Logger
}

// A Provider opens streams at Deepgram.
type Provider struct {
	cfg    Config
	listen *url.URL // nil if the base URL is invalid
	client *http.Client
	log    *slog.Logger
}

// New makes a provider. It opens no connection; [Provider.Check] reports what is
// wrong with the configuration.
func New(cfg Config) *Provider {
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	cfg.BaseURL = cmp.Or(cfg.BaseURL, defaultBaseURL)
	cfg.Model = cmp.Or(cfg.Model, defaultModel)
	cfg.Pace = cmp.Or(cfg.Pace, defaultPace)
	cfg.Stall = cmp.Or(cfg.Stall, defaultStall)
	cfg.MaxStream = cmp.Or(cfg.MaxStream, defaultMaxStream)
	p := &Provider{cfg: cfg, listen: listenURL(cfg.BaseURL), client: cfg.Client, log: cfg.Log}
	if p.client == nil {
		p.client = newClient()
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p
}

// newClient makes a client with one connection for each stream. It caches TLS
// sessions because streams come and go, and follows no redirect, because the
// key must go nowhere else.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DisableKeepAlives:   true,
			TLSHandshakeTimeout: openWithin,
			TLSClientConfig:     &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(8)},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// listenURL is the address of the streaming API below base, which may name the
// API's version or the whole address already; nil if it is no address.
func listenURL(base string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || u.User != nil {
		return nil
	}
	switch u.Scheme {
	case "ws", "http":
		u.Scheme = "ws"
	case "wss", "https":
		u.Scheme = "wss"
	default:
		return nil
	}
	path := strings.TrimSuffix(u.Path, "/")
	path = strings.TrimSuffix(path, "/listen")
	path = strings.TrimSuffix(path, "/v1")
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path+"/v1/listen", "", "", ""
	return u
}

// Name is "deepgram".
func (p *Provider) Name() string { return "deepgram" }

// Capabilities name the configured limits. A negative Pace is none. A server on
// this computer is offline.
func (p *Provider) Capabilities() hearken.Capabilities {
	return hearken.Capabilities{Offline: remote.IsLoopbackURL(p.cfg.BaseURL), Finalize: true, MaxStream: p.cfg.MaxStream, Pace: max(0, p.cfg.Pace)}
}

// Check reports whether there is a key and whether the model has the language.
// It does not ask the server.
func (p *Provider) Check(_ context.Context, cfg hearken.StreamConfig) error {
	_, err := p.streamOptions(cfg)
	return err
}

// streamOptions are what a stream asks the server for.
type streamOptions struct {
	key, model, language string
}

// streamOptions reads cfg and checks whether the provider can do it.
func (p *Provider) streamOptions(cfg hearken.StreamConfig) (streamOptions, error) {
	if p.listen == nil {
		return streamOptions{}, hearken.Errorf(hearken.ProviderNotConfigured, "Deepgram's base URL is not the address of a server.").
			WithTry("DEEPGRAM_BASE_URL=%s", defaultBaseURL)
	}
	o := streamOptions{key: cmp.Or(strings.TrimSpace(cfg.APIKey), p.cfg.APIKey), model: cmp.Or(cfg.Model, p.cfg.Model)}
	if o.key == "" {
		return o, hearken.Errorf(hearken.APIKeyMissing, "Deepgram needs a key, and there is none.").
			WithTry("DEEPGRAM_API_KEY=... (from console.deepgram.com), or the provider local, which needs none")
	}
	var err error
	o.language, err = p.language(o.model, cfg.Language)
	return o, err
}

// Open connects to the server. If the server refuses, the error is an
// [*hearken.Error] with a [*stt.Refusal] as its cause.
func (p *Provider) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	o, err := p.streamOptions(cfg)
	if err != nil {
		return nil, err
	}
	query, dropped := p.query(o, cfg)
	if dropped > 0 {
		p.log.Warn("vocabulary too long for deepgram", "session", cfg.Session, "terms_left_out", dropped)
	}
	conn, id, err := p.dial(ctx, o, query)
	if err != nil {
		return nil, err
	}
	p.log.Debug("deepgram stream opened", "session", cfg.Session, "origin", cfg.Origin, "model", o.model, "language", o.language, "request", id)
	s := newStream(ctx, conn, cfg)
	s.key, s.language, s.stall = o.key, o.language, p.cfg.Stall
	s.log = p.log.With("session", cfg.Session, "request", id)
	s.pace = pace{rate: p.cfg.Pace}
	s.start()
	return s, nil
}

func (p *Provider) dial(ctx context.Context, o streamOptions, query url.Values) (*websocket.Conn, string, error) {
	u := *p.listen
	u.RawQuery = query.Encode()
	within, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	conn, resp, err := websocket.Dial(within, u.String(), &websocket.DialOptions{
		HTTPClient: p.client,
		HTTPHeader: http.Header{"Authorization": {"Token " + o.key}},
	})
	switch {
	case err == nil:
		conn.SetReadLimit(maxMessage)
		return conn, stt.Redact(resp.Header.Get("dg-request-id"), o.key), nil
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case within.Err() != nil:
		return nil, "", hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram did not answer within %s.", openWithin)
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, "", refusalError(readRefusal(resp, o.key))
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return nil, "", hearken.Errorf(hearken.ProviderNotConfigured, "The server at Deepgram's base URL does not speak TLS.").
			WithTry("DEEPGRAM_BASE_URL=ws://%s if that server is your own", u.Host)
	}
	// The client's own error repeats the whole address, and with it the
	// vocabulary.
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return nil, "", hearken.Errorf(hearken.ProviderConnectionFailed, "Deepgram cannot be reached: %w.", err)
}
