package listen

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/source/wsconn"
)

// A recording collects the results for one request.
type recording struct {
	c          *conn
	utterances [2][]utterance // by channel
	stopped    chan string    // gets the reason for which the session stopped
	incomplete bool           // some audio was not transcribed; final once stopped has a value
}

// transcribe serves POST: the body is audio and the answer its text. The audio
// is handled like that of a stream.
func (h *Handler) transcribe(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		Refuse(w, http.StatusUnsupportedMediaType, hearken.Errorf(hearken.Invalid, "This hub does not fetch recordings; send the audio itself as the body."))
		return
	}
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); err != nil {
		Refuse(w, http.StatusBadRequest, hearken.Errorf(hearken.Invalid, "There is no audio in this request."))
		return // before it makes a session without audio
	}
	c, err := h.begin(r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	defer c.close()
	w.Header().Set("dg-request-id", c.session.ID)
	c.startEvents()
	rec := &recording{c: c, stopped: make(chan string, 1)}
	stop := make(chan struct{})
	defer close(stop)
	stopReading := func() { // a body that hangs must not delay the end
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	go rec.collect(stop, stopReading)
	if err := rec.sendAll(body); err != nil {
		if errors.Is(err, errClosing) {
			stopReading() // collect may not have noticed yet
		}
		h.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(rec.answer(r.URL.Query().Get("utterances") == "true"))
}

// sendAll gives all audio to the hub and waits for the last words.
func (rec *recording) sendAll(body io.Reader) error {
	c := rec.c
	buf := wsconn.Buffers.Get().(*wsconn.Buffer)
	defer wsconn.Buffers.Put(buf)
	for ended := false; !ended; {
		n, err := body.Read(buf[:])
		if err := c.decode(buf[:n]); err != nil {
			return recordingError(err)
		}
		c.throttle(c.h.cfg.Ahead, nil)
		select {
		case <-c.h.conns.Closing():
			return errClosing
		default:
		}
		switch {
		case errors.Is(err, io.EOF):
			ended = true
		case err != nil:
			return hearken.Errorf(hearken.Invalid, "The audio ended before it was complete: %w.", err)
		}
	}
	if err := c.finishAudio(); err != nil {
		return recordingError(err)
	}
	if c.samples.Load() == 0 {
		return hearken.Errorf(hearken.Invalid, "There is no audio in it.")
	}
	select {
	case reason := <-rec.stopped:
		switch reason {
		case hearken.StopProviderFailed:
			return hearken.Errorf(hearken.ProviderConnectionFailed, "The engine failed.").WithTry("again later")
		case hearken.StopShutdown:
			return errClosing
		}
		if rec.incomplete { // an error, never a shorter text
			return hearken.Errorf(hearken.ProviderConnectionFailed, "Some of the recording was not transcribed in time; the session gets the rest later.").
				WithTry("get_transcription of session %s", c.session.ID)
		}
		return nil
	case <-c.h.conns.Closing():
		return errClosing
	case <-c.requestDone:
		return errClosing
	}
}

// recordingError explains to a client why audio was not accepted.
func recordingError(err error) error {
	if hearken.CodeOf(err) == hearken.Undecodable {
		return hearken.Errorf(hearken.Invalid, "%w", err)
	}
	return err
}

// collect takes events until the session or stop ends. It calls stopReading
// when the hub closes.
func (rec *recording) collect(stop chan struct{}, stopReading func()) {
	closing := rec.c.h.conns.Closing()
	for {
		select {
		case <-closing:
			closing = nil
			stopReading()
		case <-rec.c.queue.wake:
			for _, it := range rec.c.queue.takeAll() {
				switch it.Kind {
				case hearken.InputFinal:
					rec.add(it.Segment)
					rec.incomplete = rec.incomplete || it.Segment.EventKind() == hearken.EventGap
				case hearken.InputDropped:
					rec.incomplete = true
				case hearken.InputClosed:
					rec.stopped <- it.Reason
					return
				}
			}
		case <-stop:
			return
		}
	}
}

func (rec *recording) add(seg *hearken.Segment) {
	i := slices.Index(channelOrigins, seg.Origin)
	if i < 0 || seg.Status != hearken.Confirmed || !seg.Spoken() {
		return
	}
	a := rec.c.opts.alternativeOf(seg)
	u := utterance{
		Start: millis(seg.StartTime), End: millis(seg.EndTime), Confidence: a.Confidence, Channel: i,
		Transcript: a.Transcript, Words: a.Words, ID: uuid.NewString(), languages: a.Languages,
	}
	if rec.c.opts.diarize {
		u.Speaker = seg.Speaker
	}
	rec.utterances[i] = append(rec.utterances[i], u)
}

func (rec *recording) answer(utterances bool) answer {
	c := rec.c
	meta := metadataOf(c.session, c.h.cfg.Version, c.opts.extra)
	a := answer{Metadata: c.summaryOf(meta)}
	for i := range int(c.channels.Load()) {
		all := rec.utterances[i]
		slices.SortStableFunc(all, byStart)
		a.Results.Channels = append(a.Results.Channels, channel{[1]alternative{joinUtterances(all)}})
		if utterances {
			a.Results.Utterances = append(a.Results.Utterances, all...)
		}
	}
	slices.SortStableFunc(a.Results.Utterances, byStart)
	return a
}

func byStart(a, b utterance) int { return cmp.Compare(a.Start, b.Start) }

// joinUtterances is everything that was said on a channel.
func joinUtterances(all []utterance) alternative {
	a := alternative{Words: []word{}}
	sum := 0.0
	for _, s := range all {
		if a.Transcript != "" {
			a.Transcript += " "
		}
		a.Transcript += s.Transcript
		a.Words = append(a.Words, s.Words...)
		for _, l := range s.languages {
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
