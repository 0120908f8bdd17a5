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
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

const (
	transcriptions = "/audio/transcriptions"
	translations   = "/audio/translations"
	models         = "/models"

	probeWithin = 10 * time.Second
	// maxAnswer and maxText are far more than the longest answer about half a
	// minute and the most that anybody says in it. They keep an unknown server
	// from filling the memory or the transcript.
	maxAnswer = 1 << 20
	maxText   = 16 << 10
)

// A requestFormat is the form in which a server is asked for its answer.
type requestFormat struct {
	verbose bool // verbose_json: segments, times, confidence
	words   bool // times of words as well
	stream  bool // the text piece by piece
}

// requestFormat is the format that a model was found to accept, or else the one
// that its name suggests.
func (p *Provider) requestFormat(model string, interim bool) requestFormat {
	if f, ok := p.formats.Load(model); ok {
		f := f.(requestFormat)
		f.stream = f.stream && interim
		return f
	}
	if isOpenAIModel(strings.ToLower(model)) {
		return requestFormat{stream: interim}
	}
	return requestFormat{verbose: true, words: true}
}

// simpler is the format to try after the server has refused f, if the refusal
// is about the format.
func (f requestFormat) simpler(r *stt.Refusal) (requestFormat, bool) {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		return f, false
	}
	about := strings.ToLower(r.Param + " " + r.Code + " " + r.Reason)
	less := f
	switch {
	case f.words && strings.Contains(about, "granularit"):
		less.words = false
	case f.verbose && (strings.Contains(about, "response_format") || strings.Contains(about, "response format") || strings.Contains(about, "verbose")):
		less = requestFormat{}
	case f.stream && strings.Contains(about, "stream"):
		less.stream = false
	case r.Reason == "": // it does not say what it rejects
		less = requestFormat{}
	}
	return less, less != f
}

// fields are the form's fields besides the file.
func (o *streamOptions) fields(format requestFormat) [][2]string {
	fields := [][2]string{{"model", o.model}}
	add := func(name, value string) { fields = append(fields, [2]string{name, value}) }
	newest := strings.HasPrefix(strings.ToLower(o.model), "gpt-transcribe")
	switch {
	case o.language != "" && newest:
		add("languages[]", o.language)
	case o.language != "":
		add("language", o.language)
	}
	if newest {
		for _, term := range o.terms {
			add("keywords[]", term)
		}
	} else if text := vocabularyPrompt(o.terms); text != "" {
		add("prompt", text)
	}
	if format.verbose {
		add("response_format", "verbose_json")
	} else {
		add("response_format", "json")
	}
	if format.words {
		add("timestamp_granularities[]", "word")
		add("timestamp_granularities[]", "segment")
	}
	if format.stream {
		add("stream", "true")
	}
	return fields
}

// maxTokens limits the vocabulary of a request: Whisper reads the last 224
// tokens of a prompt.
const maxTokens = 200

// countTokens is about how many tokens a term has, and rarely less: names are split
// into pieces of two letters or more, and in other scripts a letter is mostly
// one.
func countTokens(term string) int {
	plain, other := 0, 0
	for _, r := range term {
		if r < utf8.RuneSelf {
			plain++
		} else {
			other++
		}
	}
	return 2 + plain/3 + other
}

// vocabularyPrompt gives a vocabulary to a model that takes none: as words that might
// have come before, which it then spells the same way.
func vocabularyPrompt(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return strings.Join(terms, ", ") + "."
}

// transcribe asks the server once for the words in a file, in a format that it
// accepts. If the server sends its text piece by piece, show gets it so far.
func (p *Provider) transcribe(ctx context.Context, o *streamOptions, wav []byte, interim bool, show func(text string)) (*answer, error) {
	first := p.requestFormat(o.model, interim)
	format := first
	for {
		a, err := p.post(ctx, transcriptions, o, o.fields(format), wav, show)
		if err == nil {
			if format != first {
				p.log.Info("server accepts a simpler request", "model", o.model, "verbose", format.verbose, "words", format.words, "stream", format.stream)
				p.formats.Store(o.model, format)
			}
			return a, nil
		}
		r, ok := errors.AsType[*stt.Refusal](err)
		if !ok {
			return nil, err
		}
		if format, ok = format.simpler(r); !ok {
			return nil, err
		}
	}
}

// translate asks the server once for an English translation of a file.
func (p *Provider) translate(ctx context.Context, o *streamOptions, wav []byte) (*answer, error) {
	model := o.model
	if isOpenAIModel(strings.ToLower(model)) {
		model = defaultModel // the only one of them that translates
	}
	return p.post(ctx, translations, o, [][2]string{{"model", model}, {"response_format", "json"}}, wav, func(string) {})
}

// post sends a file with fields to an endpoint and reads the answer. Its error
// is an [*hearken.Error], or the cause of the context's end.
func (p *Provider) post(ctx context.Context, endpoint string, o *streamOptions, fields [][2]string, wav []byte, show func(text string)) (*answer, error) {
	within, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	head, tail, boundary, err := multipartForm(fields)
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
	resp, err := p.sendWithKey(req, o.key)
	if err == nil {
		defer resp.Body.Close()
		var a *answer
		if a, err = p.readAnswer(resp, o.key, show); err == nil {
			return a, nil
		}
	}
	return nil, p.requestError(ctx, within, p.cfg.Timeout, err)
}

// multipartForm is the body of a request up to the file's bytes, and after them.
func multipartForm(fields [][2]string) (head, tail []byte, boundary string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, nil, "", fmt.Errorf("write form: %w", err)
		}
	}
	// Servers recognize the kind of a file by its name.
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

func (p *Provider) sendWithKey(req *http.Request, key string) (*http.Response, error) {
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	req.Header.Set("User-Agent", "hearken")
	return p.client.Do(req)
}

// requestError makes the error that a person reads.
func (p *Provider) requestError(ctx, within context.Context, timeout time.Duration, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case hearken.CodeOf(err) != "":
		return err
	case within.Err() != nil:
		return hearken.Errorf(hearken.ProviderConnectionFailed, "%s did not answer within %s: %w.", p.server, timeout, context.DeadlineExceeded)
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
	o, err := p.streamOptions(cfg)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, p.base+models, nil)
	if err != nil {
		return err
	}
	resp, err := p.sendWithKey(req, o.key)
	if err != nil {
		return p.requestError(ctx, within, probeWithin, err)
	}
	defer resp.Body.Close()
	switch s := resp.StatusCode; {
	case s >= 500, s == http.StatusUnauthorized, s == http.StatusPaymentRequired, s == http.StatusForbidden, s == http.StatusTooManyRequests:
		return p.refusalError(readRefusal(resp, o.key))
	}
	return nil
}
