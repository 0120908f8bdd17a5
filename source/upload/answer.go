package upload

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/export"
)

// answer transcribes an upload and writes the result.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, f *form, o *options) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	job := newJob(&h.cfg, o.request, f.path)
	done := make(chan error, 1)
	go func() { done <- job.run(ctx) }()

	out := &eventWriter{w: w, job: job, diarized: o.format == "diarized_json"}
	var alive <-chan time.Time
	if o.stream {
		ticker := time.NewTicker(h.keepAliveEvery)
		defer ticker.Stop()
		alive = ticker.C
	}
	for {
		var err error
		select {
		case <-job.newSegments:
			if o.stream {
				err = out.deltas()
			}
		case <-alive:
			err = out.comment()
		case err := <-done:
			h.finish(w, r, o, out, err)
			return
		}
		if err != nil {
			cancel() // the client is gone; wait for the session to end
			o.stream, alive = false, nil
		}
	}
}

// finish writes the end of the answer: all the words, or an error.
func (h *Handler) finish(w http.ResponseWriter, r *http.Request, o *options, out *eventWriter, err error) {
	if r.Context().Err() != nil {
		return // the client is gone
	}
	out.setRequestID()
	switch {
	case err != nil && out.headerSent:
		f := failureOf(err)
		if f.status == http.StatusInternalServerError {
			h.cfg.Log.Error("upload failed", "err", err)
		}
		_ = out.event(f.body())
	case err != nil:
		h.fail(w, err)
	case o.stream:
		if out.deltas() == nil {
			_ = out.done(newTranscript(out.job))
		}
	default:
		kind, body, err := render(newTranscript(out.job), o)
		if err != nil {
			h.fail(w, err)
			return
		}
		respond(w, kind, body)
	}
}

func respond(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client may be gone
}

// usage says for how much audio a client would be charged, in whole seconds.
type usage struct {
	Type    string  `json:"type"`
	Seconds float64 `json:"seconds"`
}

func (t *transcript) usage() usage { return usage{"duration", math.Ceil(t.duration)} }

// The JSON formats.
type (
	jsonAnswer struct {
		Text  string `json:"text"`
		Usage usage  `json:"usage"`
	}
	verboseAnswer struct {
		Task     string           `json:"task"`
		Language string           `json:"language"`
		Duration float64          `json:"duration"`
		Text     string           `json:"text"`
		Segments []verboseSegment `json:"segments,omitzero"`
		Words    []word           `json:"words,omitzero"`
		Usage    usage            `json:"usage"`
	}
	verboseSegment struct {
		ID               int     `json:"id"`
		Seek             int     `json:"seek"`
		Start            float64 `json:"start"`
		End              float64 `json:"end"`
		Text             string  `json:"text"`
		Tokens           []int   `json:"tokens"`
		Temperature      float64 `json:"temperature"`
		AvgLogprob       float64 `json:"avg_logprob"`
		CompressionRatio float64 `json:"compression_ratio"`
		NoSpeechProb     float64 `json:"no_speech_prob"`
	}
	diarizedAnswer struct {
		Task     string            `json:"task"`
		Duration float64           `json:"duration"`
		Text     string            `json:"text"`
		Segments []diarizedSegment `json:"segments"`
		Usage    usage             `json:"usage"`
	}
	diarizedSegment struct {
		Type    string  `json:"type"`
		ID      string  `json:"id"`
		Start   float64 `json:"start"`
		End     float64 `json:"end"`
		Text    string  `json:"text"`
		Speaker string  `json:"speaker"`
	}
)

// render writes a transcript in the requested format.
func render(t *transcript, o *options) (kind string, body []byte, err error) {
	switch o.format {
	case "text":
		return "text/plain; charset=utf-8", []byte(t.text() + "\n"), nil
	case "srt", "vtt":
		body, err = t.cues(o.format)
		return "text/plain; charset=utf-8", body, err
	case "verbose_json":
		return "application/json", encode(t.verbose(o)), nil
	case "diarized_json":
		return "application/json", encode(t.diarized()), nil
	}
	return "application/json", encode(jsonAnswer{t.text(), t.usage()}), nil
}

// cues returns subtitles. A translation counts as confirmed text here.
func (t *transcript) cues(format string) ([]byte, error) {
	segments := slices.Clone(t.segments)
	for i := range segments {
		segments[i].Status = hearken.Confirmed
	}
	var b bytes.Buffer
	session := &hearken.Session{Config: hearken.SessionConfig{Channels: 1}}
	err := export.Write(&b, format, session, nil, export.List(segments))
	return b.Bytes(), err
}

func (t *transcript) verbose(o *options) verboseAnswer {
	a := verboseAnswer{Task: "transcribe", Language: nameOf(t.language), Duration: t.duration, Text: t.text(), Usage: t.usage()}
	if o.request.Translate {
		a.Task = "translate"
	}
	if o.words {
		a.Words = []word{}
		for i := range t.segments {
			a.Words = append(a.Words, words(&t.segments[i])...)
		}
	}
	if !o.segments {
		return a
	}
	a.Segments = []verboseSegment{}
	for i, s := range t.segments {
		text := oneLine(s.Text)
		a.Segments = append(a.Segments, verboseSegment{
			ID: i, Seek: int(s.StartTime * 100), Start: milliseconds(s.StartTime), End: milliseconds(s.EndTime),
			Text:   separator(".", text, t.language) + text, // clients join them without a separator
			Tokens: []int{}, AvgLogprob: logprob(s.Confidence), CompressionRatio: compressionRatio(text),
		})
	}
	return a
}

func (t *transcript) diarized() diarizedAnswer {
	a := diarizedAnswer{Task: "transcribe", Duration: t.duration, Text: t.text(), Segments: []diarizedSegment{}, Usage: t.usage()}
	for _, s := range t.segments {
		for _, turn := range splitBySpeaker(s) {
			a.Segments = append(a.Segments, newDiarized(&turn, len(a.Segments)))
		}
	}
	return a
}

func newDiarized(s *hearken.Segment, n int) diarizedSegment {
	return diarizedSegment{
		Type: "transcript.text.segment", ID: "seg_" + strconv.Itoa(n), Text: oneLine(s.Text),
		Start: milliseconds(s.StartTime), End: milliseconds(s.EndTime), Speaker: speakerLabel(s.Speaker),
	}
}
