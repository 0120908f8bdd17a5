package deepgram

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	// openWithin is how long the server may take to accept a stream.
	openWithin = 10 * time.Second
	// maxMessage is far more than the longest result. It keeps an unknown
	// server from filling the memory.
	maxMessage = 1 << 20
)

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

// dial makes a connection and returns the server's id for it.
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
		return nil, "", explain(readRefusal(resp, o.key))
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
