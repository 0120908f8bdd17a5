package listen

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/source/wsconn"
)

// A recording collects the results for one request.
type recording struct {
	c          *conn
	utterances [2][]utterance // by channel
	stopped    chan string    // gets the reason for which the session stopped
	incomplete bool           // some audio was not transcribed; final once stopped has a value
}

// transcribe serves POST: the body is audio and the answer its text.
func (h *Handler) transcribe(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		Refuse(w, http.StatusUnsupportedMediaType, hearken.Errorf(hearken.Invalid, "This hub does not fetch recordings; send the audio itself as the body."))
		return
	}
	body := bufio.NewReaderSize(r.Body, audio.HeadSize)
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
	err = rec.sendAll(r.Context(), body)
	if err == nil {
		err = rec.finish()
	}
	if err != nil {
		if errors.Is(err, errClosing) {
			stopReading() // collect may not have noticed yet
		}
		h.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(rec.answer())
}

// sendAll gives all audio to the hub.
func (rec *recording) sendAll(ctx context.Context, body *bufio.Reader) error {
	c := rec.c
	head, _ := body.Peek(audio.HeadSize) // a shorter one is enough at the end
	if f := c.opts.audioFormat; f.Encoding == "" && !f.container && c.h.cfg.Decode != nil {
		if err := audio.Probe(head); err != nil {
			return rec.convert(ctx, body, audio.DetectFormat(head), err)
		}
	}
	buf := wsconn.Buffers.Get().(*wsconn.Buffer)
	defer wsconn.Buffers.Put(buf)
	for {
		n, err := body.Read(buf[:])
		if err := c.decode(buf[:n]); err != nil {
			return recordingError(err)
		}
		c.waitForEngine(c.h.cfg.Ahead)
		switch {
		case c.h.isClosing():
			return errClosing
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return hearken.Errorf(hearken.Invalid, "The audio ended before it was complete: %w.", err)
		}
	}
}

// convert sends a recording that is not decoded here for the given reason.
func (rec *recording) convert(ctx context.Context, body io.Reader, encoding string, reason error) error {
	c := rec.c
	c.gotAudio.Store(true)
	limited := http.MaxBytesReader(nil, io.NopCloser(body), c.h.cfg.MaxBytes)
	err := c.h.cfg.Decode(ctx, io.TeeReader(limited, hashWriter{c}), c.opts.audioFormat.Channels == 2, func(channels ...[]int16) error {
		if err := c.deliverAs(audio.Format{Encoding: encoding}, channels...); err != nil {
			return err
		}
		c.waitForEngine(c.h.cfg.Ahead)
		if c.h.isClosing() {
			return errClosing
		}
		return nil
	})
	var failure *hearken.Error
	switch {
	case err == nil:
		return nil
	case c.h.isClosing():
		return errClosing
	case isTooLarge(err):
		return hearken.Errorf(hearken.Invalid, "A recording that must be converted may have at most %d MB: %w.", c.h.cfg.MaxBytes>>20, err).
			WithTry("WAV, FLAC, MP3 or Opus, which need no conversion, or a higher UPLOAD_MAX_MB")
	case hearken.CodeOf(err) != hearken.Undecodable || !errors.As(err, &failure):
		return err
	case failure.Try != "": // what would help
		return hearken.Errorf(hearken.Invalid, "%w", reason).WithTry("%s", failure.Try)
	}
	return hearken.Errorf(hearken.Invalid, "%w %w", reason, err)
}

// finish ends the audio and waits for the last words.
func (rec *recording) finish() error {
	c := rec.c
	if err := c.closeDecoder(); err != nil {
		return recordingError(err)
	}
	if c.samples.Load() == 0 {
		return hearken.Errorf(hearken.Invalid, "There is no audio in it.")
	}
	// From then on the hub waits only a limited time.
	if err := c.in.Finalize(); err == nil {
		c.waitForEngine(nearEnd)
	}
	_ = c.finishAudio() // its decoder is closed
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

// nearEnd is how much of a recording may not be final when its session is
// finished.
const nearEnd = time.Second

// waitForEngine waits until at most maxAhead of the audio is not final, so that
// the hub need not drop any. Nobody listens to a recording, so it goes at the
// engine's pace, not in real time. An engine that is silent for as long as the
// audio takes has nothing to say about it.
func (c *conn) waitForEngine(maxAhead time.Duration) {
	for {
		ahead := c.ahead()
		if ahead <= maxAhead {
			return
		}
		timer := time.NewTimer(ahead)
		select {
		case <-c.progress:
			timer.Stop()
			continue
		case <-timer.C:
		case <-c.eventsDone:
		case <-c.requestDone:
		case <-c.h.conns.Closing():
		}
		timer.Stop()
		return
	}
}

// A hashWriter adds what is written to the hash of a stream's audio.
type hashWriter struct{ c *conn }

func (h hashWriter) Write(b []byte) (int, error) {
	h.c.hashAudio(b)
	return len(b), nil
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
