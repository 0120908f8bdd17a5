package listen

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// A recording collects what was heard in one.
type recording struct {
	c    *conn
	said [2][]spoken
	over chan string // gets the reason for which the session stopped
	less bool        // some of the sound was not transcribed; settled when over has it
}

// spoken is one segment.
type spoken struct {
	alternative
	start, end float64
	speaker    *int
	id         string
}

// transcribe serves POST: the body is sound, and the answer its text. The
// sound takes the same way as that of a stream.
func (h *Handler) transcribe(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		Refuse(w, http.StatusUnsupportedMediaType, hearken.Errorf(hearken.Invalid, "This hub fetches no recordings from elsewhere; send the sound itself as the body."))
		return
	}
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); err != nil {
		Refuse(w, http.StatusBadRequest, hearken.Errorf(hearken.Invalid, "There is no sound in this request."))
		return // before there is a session without any
	}
	c, err := h.begin(r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer c.leave()
	w.Header().Set("dg-request-id", c.session.ID)
	c.receive()
	rec := &recording{c: c, over: make(chan string, 1)}
	stop := make(chan struct{})
	defer close(stop)
	hurry := func() { // a body that hangs does not hold up the end
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	go rec.collect(stop, hurry)
	if err := rec.hear(body); err != nil {
		if errors.Is(err, errClosing) {
			hurry() // collect may not have come to it
		}
		h.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(rec.answer(r.URL.Query().Get("utterances") == "true"))
}

// hear gives all sound to the hub and waits for the last word.
func (rec *recording) hear(body io.Reader) error {
	c := rec.c
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for ended := false; !ended; {
		n, err := body.Read(buf[:])
		if err := c.decode(buf[:n]); err != nil {
			return recordingError(err)
		}
		c.wait(c.h.cfg.Ahead, nil)
		select {
		case <-c.h.closing:
			return errClosing
		default:
		}
		switch {
		case errors.Is(err, io.EOF):
			ended = true
		case err != nil:
			return hearken.Errorf(hearken.Invalid, "The sound ended before it was complete: %w.", err)
		}
	}
	if err := c.complete(); err != nil {
		return recordingError(err)
	}
	if c.samples.Load() == 0 {
		return hearken.Errorf(hearken.Invalid, "There is no sound in it.")
	}
	select {
	case reason := <-rec.over:
		switch reason {
		case hearken.StopProviderFailed:
			return hearken.Errorf(hearken.ProviderConnectionFailed, "The engine failed.").WithTry("again later")
		case hearken.StopShutdown:
			return errClosing
		}
		if rec.less { // an error, and never a shorter text
			return hearken.Errorf(hearken.ProviderConnectionFailed, "Some of the recording was not transcribed in time; the session gets the rest later.").
				WithTry("get_transcription of session %s", c.session.ID)
		}
		return nil
	case <-c.h.closing:
		return errClosing
	case <-c.left:
		return errClosing
	}
}

// recordingError is why sound was not taken, in a client's terms.
func recordingError(err error) error {
	if hearken.CodeOf(err) == hearken.Undecodable {
		return hearken.Errorf(hearken.Invalid, "%w", err)
	}
	return err
}

// collect takes events until the session has ended, or nobody wants to know.
// When the hub ends it calls hurry.
func (rec *recording) collect(stop chan struct{}, hurry func()) {
	closing := rec.c.h.closing
	for {
		select {
		case <-closing:
			closing = nil
			hurry()
		case <-rec.c.queue.wake:
			for _, it := range rec.c.queue.take() {
				switch it.Kind {
				case hearken.InputFinal:
					rec.add(it.Segment)
					rec.less = rec.less || it.Segment.EventKind() == hearken.EventGap
				case hearken.InputDropped:
					rec.less = true
				case hearken.InputClosed:
					rec.over <- it.Reason
					return
				}
			}
		case <-stop:
			return
		}
	}
}

func (rec *recording) add(seg *hearken.Segment) {
	if seg.Status != hearken.Confirmed || !seg.Spoken() {
		return
	}
	i := 0
	if seg.Origin == hearken.System {
		i = 1
	}
	s := spoken{alternative: rec.c.opts.alternativeOf(seg), start: millis(seg.StartTime), end: millis(seg.EndTime), id: newID()}
	if rec.c.opts.diarize {
		s.speaker = seg.Speaker
	}
	rec.said[i] = append(rec.said[i], s)
}

func (rec *recording) answer(utterances bool) answer {
	c := rec.c
	meta := metadataOf(c.session, c.h.cfg.Version, c.opts.extra)
	a := answer{Metadata: c.summaryOf(meta)}
	for i := range int(c.channels.Load()) {
		slices.SortStableFunc(rec.said[i], func(a, b spoken) int {
			return int(a.start*1000) - int(b.start*1000)
		})
		var ch channel
		ch.Alternatives[0] = joined(rec.said[i])
		a.Results.Channels = append(a.Results.Channels, ch)
		for _, s := range rec.said[i] {
			if utterances {
				a.Results.Utterances = append(a.Results.Utterances, utterance{
					Start: s.start, End: s.end, Confidence: s.Confidence, Channel: i,
					Transcript: s.Transcript, Words: s.Words, Speaker: s.speaker, ID: s.id,
				})
			}
		}
	}
	slices.SortStableFunc(a.Results.Utterances, func(a, b utterance) int {
		return int(a.Start*1000) - int(b.Start*1000)
	})
	return a
}

// joined is all that was said on a channel.
func joined(all []spoken) alternative {
	a := alternative{Words: []word{}}
	sum := 0.0
	for _, s := range all {
		if a.Transcript != "" {
			a.Transcript += " "
		}
		a.Transcript += s.Transcript
		a.Words = append(a.Words, s.Words...)
		for _, l := range s.Languages {
			if !slices.Contains(a.Languages, l) {
				a.Languages = append(a.Languages, l)
			}
		}
		sum += s.Confidence
	}
	if len(all) > 0 {
		a.Confidence = round4(sum / float64(len(all)))
	}
	return a
}
