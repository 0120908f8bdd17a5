package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt"
)

// An answer is a server's transcript of a file. Only the text always exists.
type answer struct {
	text     string
	language string // as the server calls it
	segments []segment
	words    []timedWord // of the whole answer, if the segments have none
}

// A segment is a part of an answer. Times are seconds in the file.
type segment struct {
	Start            number      `json:"start"`
	End              number      `json:"end"`
	Text             string      `json:"text"`
	AvgLogprob       *number     `json:"avg_logprob"`
	CompressionRatio *number     `json:"compression_ratio"`
	NoSpeechProb     *number     `json:"no_speech_prob"`
	Words            []timedWord `json:"words"` // whisper.cpp has them here
}

// A timedWord is a word, or for whisper.cpp a part of one, with its time.
type timedWord struct {
	Word        string  `json:"word"`
	Start       number  `json:"start"`
	End         number  `json:"end"`
	Probability *number `json:"probability"`
}

// A number is one that some servers write as a string.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		*n = number(f)
	}
	return nil
}

// readAnswer reads an answer. It refuses one that is longer than anybody can
// have said.
func (p *Provider) readAnswer(resp *http.Response, key string, show func(text string)) (*answer, error) {
	a, err := p.readAnyFormat(resp, key, show)
	if err == nil && len(a.text) > maxText {
		return nil, p.protocolError()
	}
	return a, err
}

func (p *Provider) readAnyFormat(resp *http.Response, key string, show func(text string)) (*answer, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, p.refusalError(readRefusal(resp, key))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body := io.LimitReader(resp.Body, maxAnswer+1)
	if kind == "text/event-stream" {
		return p.readEvents(body, key, show)
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if len(b) > maxAnswer {
		return nil, p.protocolError()
	}
	b = bytes.TrimSpace(b)
	switch {
	case kind == "text/html" || bytes.HasPrefix(b, []byte("<")):
		return nil, hearken.Errorf(hearken.ProviderNotConfigured, "%s answers with a web page, not with a transcript.", p.server).
			WithTry("OPENAI_BASE_URL=%s", defaultBaseURL)
	case bytes.HasPrefix(b, []byte("{")):
		return p.readJSON(b, key)
	case bytes.HasPrefix(b, []byte(`"`)):
		var text string
		if json.Unmarshal(b, &text) != nil {
			return nil, p.protocolError()
		}
		return &answer{text: text}, nil
	case bytes.HasPrefix(b, []byte("[")) && json.Valid(b), !printable(b):
		return nil, p.protocolError()
	}
	return &answer{text: string(b)}, nil // plain text, although JSON was requested
}

// printable reports whether b may be a transcript.
func printable(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) < 0
}

// readJSON reads an object. If details are not as expected, only the details
// are lost, not the text.
func (p *Provider) readJSON(b []byte, key string) (*answer, error) {
	var head struct {
		Text  *string         `json:"text"`
		Error json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(b, &head)
	switch {
	case err == nil && head.Text == nil && len(head.Error) > 0: // whisper.cpp sends errors with status 200
		return nil, p.serverError(b, key)
	case err != nil || head.Text == nil:
		return nil, p.protocolError()
	}
	a := &answer{text: *head.Text}
	var more struct {
		Segments []segment   `json:"segments"`
		Words    []timedWord `json:"words"`
	}
	if json.Unmarshal(b, &more) == nil {
		a.segments, a.words = more.Segments, more.Words
	}
	var detected struct {
		Language  string   `json:"language"`
		Languages []string `json:"languages"` // of gpt-transcribe
	}
	_ = json.Unmarshal(b, &detected) // keeps what fits
	if a.language = detected.Language; a.language == "" && len(detected.Languages) == 1 {
		a.language = detected.Languages[0]
	}
	return a, nil
}

// readEvents reads a text that comes piece by piece.
func (p *Provider) readEvents(body io.Reader, key string, show func(text string)) (*answer, error) {
	var text strings.Builder
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		data = bytes.TrimSpace(data)
		if !ok || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var event struct {
			Type  string          `json:"type"`
			Delta string          `json:"delta"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(data, &event) != nil {
			return nil, p.protocolError()
		}
		switch {
		case event.Type == "transcript.text.delta":
			text.WriteString(event.Delta)
			show(text.String())
		case event.Type == "transcript.text.done":
			return p.readJSON(data, key)
		case event.Type == "error" || len(event.Error) > 0:
			return nil, p.serverError(data, key)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, hearken.Errorf(hearken.ProviderConnectionFailed, "%s sent an incomplete answer.", p.server)
}

// serverError is the error that a server sent in place of a transcript.
func (p *Provider) serverError(b []byte, key string) error {
	r := &stt.Refusal{Status: http.StatusInternalServerError}
	parseRefusal(r, b, key)
	return p.refusalError(r)
}

func (p *Provider) protocolError() error {
	return hearken.Errorf(hearken.ProviderConnectionFailed, "%s sent something that is not part of the protocol.", p.server)
}
