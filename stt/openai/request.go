package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	transcriptions = "/audio/transcriptions"
	translations   = "/audio/translations"
	models         = "/models"

	probeWithin = 10 * time.Second
	// maxAnswer and maxText are far more than the longest answer about half a
	// minute and the most that anybody says in it, so that a server that is
	// none can neither fill the memory nor the transcript.
	maxAnswer = 1 << 20
	maxText   = 16 << 10
)

// A manner is in which form a server is asked for its answer.
type manner struct {
	verbose bool // verbose_json: segments, times, how sure it is
	words   bool // times of words as well
	stream  bool // the text piece by piece
}

// manner is how a model is asked: as it was found to want it, or as its name
// says.
func (p *Provider) manner(model string, interim bool) manner {
	if m, ok := p.manners.Load(model); ok {
		m := m.(manner)
		m.stream = m.stream && interim
		return m
	}
	if openAIs(strings.ToLower(model)) {
		return manner{stream: interim}
	}
	return manner{verbose: true, words: true}
}

// humbler is the manner to try after the server has refused m, if the refusal
// is about the manner.
func (m manner) humbler(r *stt.Refusal) (manner, bool) {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		return m, false
	}
	about := strings.ToLower(r.Param + " " + r.Code + " " + r.Reason)
	less := m
	switch {
	case m.words && strings.Contains(about, "granularit"):
		less.words = false
	case m.verbose && (strings.Contains(about, "response_format") || strings.Contains(about, "response format") || strings.Contains(about, "verbose")):
		less = manner{}
	case m.stream && strings.Contains(about, "stream"):
		less.stream = false
	case r.Reason == "": // it does not say what it dislikes
		less = manner{}
	}
	return less, less != m
}

// fields are the form's fields beside the file.
func (w *wish) fields(m manner) [][2]string {
	f := [][2]string{{"model", w.model}}
	newest := strings.HasPrefix(strings.ToLower(w.model), "gpt-transcribe")
	switch {
	case w.language != "" && newest:
		f = append(f, [2]string{"languages[]", w.language})
	case w.language != "":
		f = append(f, [2]string{"language", w.language})
	}
	if newest {
		for _, term := range w.terms {
			f = append(f, [2]string{"keywords[]", term})
		}
	} else if text := prompt(w.terms); text != "" {
		f = append(f, [2]string{"prompt", text})
	}
	if !m.verbose {
		f = append(f, [2]string{"response_format", "json"})
	} else {
		f = append(f, [2]string{"response_format", "verbose_json"})
	}
	if m.words {
		f = append(f, [2]string{"timestamp_granularities[]", "word"}, [2]string{"timestamp_granularities[]", "segment"})
	}
	if m.stream {
		f = append(f, [2]string{"stream", "true"})
	}
	return f
}

// transcribe asks the server once what is said in a file, in the manner that
// it takes. Where it tells its text piece by piece, show gets what there is.
func (p *Provider) transcribe(ctx context.Context, w *wish, wav []byte, interim bool, show func(text string)) (*answer, error) {
	first := p.manner(w.model, interim)
	m := first
	for {
		a, err := p.ask(ctx, transcriptions, w, w.fields(m), wav, show)
		if err == nil {
			if m != first {
				p.log.Info("server wants to be asked more simply", "model", w.model, "verbose", m.verbose, "words", m.words, "stream", m.stream)
				p.manners.Store(w.model, m)
			}
			return a, nil
		}
		r, ok := errors.AsType[*stt.Refusal](err)
		if !ok {
			return nil, err
		}
		if m, ok = m.humbler(r); !ok {
			return nil, err
		}
	}
}

// translate asks the server once for the English of what is said in a file.
func (p *Provider) translate(ctx context.Context, w *wish, wav []byte) (*answer, error) {
	model := w.model
	if openAIs(strings.ToLower(model)) {
		model = defaultModel // the only one of them that translates
	}
	return p.ask(ctx, translations, w, [][2]string{{"model", model}, {"response_format", "json"}}, wav, func(string) {})
}

// ask sends a file with fields to an endpoint and reads the answer. What comes
// back as an error is an [*hearken.Error], or the cause of the context's end.
func (p *Provider) ask(ctx context.Context, endpoint string, w *wish, fields [][2]string, wav []byte, show func(text string)) (*answer, error) {
	within, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	head, tail, boundary, err := form(fields)
	if err != nil {
		return nil, err
	}
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(head), bytes.NewReader(wav), bytes.NewReader(tail))), nil
	}
	req, err := http.NewRequestWithContext(within, http.MethodPost, p.base+endpoint, nil)
	if err != nil {
		return nil, err
	}
	req.Body, _ = body()
	req.GetBody = body
	req.ContentLength = int64(len(head) + len(wav) + len(tail))
	req.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	resp, err := p.do(req, w.key)
	if err == nil {
		defer resp.Body.Close()
		var a *answer
		if a, err = p.read(resp, w.key, show); err == nil {
			return a, nil
		}
	}
	return nil, p.blame(ctx, within, p.cfg.Timeout, err)
}

// form is the body of a request up to the file's bytes, and after them.
func form(fields [][2]string) (head, tail []byte, boundary string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, nil, "", fmt.Errorf("write form: %w", err)
		}
	}
	// Servers tell the kind of a file by its name.
	if _, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="speech.wav"`},
		"Content-Type":        {"audio/wav"},
	}); err != nil {
		return nil, nil, "", fmt.Errorf("write form: %w", err)
	}
	n := b.Len()
	if err := w.Close(); err != nil {
		return nil, nil, "", fmt.Errorf("write form: %w", err)
	}
	return b.Bytes()[:n], b.Bytes()[n:], w.Boundary(), nil
}

// do sends a request with the key.
func (p *Provider) do(req *http.Request, key string) (*http.Response, error) {
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	req.Header.Set("User-Agent", "hearken")
	return p.client.Do(req)
}

// blame makes of an error what a person is told.
func (p *Provider) blame(ctx, within context.Context, patience time.Duration, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case hearken.CodeOf(err) != "":
		return err
	case within.Err() != nil:
		return hearken.Errorf(hearken.ProviderConnectionFailed, "%s did not answer within %s: %w.", p.server, patience, context.DeadlineExceeded)
	}
	// The client's own error repeats the address.
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return hearken.Errorf(hearken.ProviderConnectionFailed, "%s cannot be reached: %w.", p.server, err)
}

// probe asks the server for its models. A server that does not list them
// answers nevertheless.
func (p *Provider) probe(ctx context.Context, cfg hearken.StreamConfig) error {
	w, err := p.wish(cfg)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, p.base+models, nil)
	if err != nil {
		return err
	}
	resp, err := p.do(req, w.key)
	if err != nil {
		return p.blame(ctx, within, probeWithin, err)
	}
	defer resp.Body.Close()
	switch s := resp.StatusCode; {
	case s >= 500, s == http.StatusUnauthorized, s == http.StatusPaymentRequired, s == http.StatusForbidden, s == http.StatusTooManyRequests:
		return p.explain(readRefusal(resp, w.key))
	}
	return nil
}
