package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	// minSamples is the least audio that makes a session, as in OpenAI's API.
	minSamples = hearken.SampleRate / 10
	// chunkSamples is how much audio is sent at a time.
	chunkSamples = hearken.SampleRate
)

// A job sends one recording through a session. One goroutine sends the audio.
// One takes the hub's events promptly, because the hub does not wait. A third
// may look at the segments so far.
type job struct {
	cfg     *Config
	request hearken.StartRequest
	path    string

	// Used only by the sender.
	in       hearken.Input // nil before there is audio
	buffered []int16       // audio that is not yet enough for a session
	sent     int64         // samples
	sendErr  error
	complete bool // all of it was sent
	finished bool // the hub knows that it was

	newSegments chan struct{} // there is a new segment, or the session began
	activity    chan struct{} // there was any event
	eventsDone  chan struct{} // nothing more will come

	mu            sync.Mutex
	id            string
	segments      []hearken.Segment // those for the answer, as they came
	finalUntil    float64           // seconds for which the words are final
	lines         map[int]bool      // of the entries that came
	mayHaveMissed bool              // some events may be lost
	dropped       bool              // the hub had to drop audio
	gaps          []hearken.Segment // stretches of audio that were not transcribed
	endEvent      hearken.InputEvent
	cause         error // the last error event

	pendingTranslation *hearken.Segment // the last segment, if its translation may still come
	translated         int
	untranslated       int
}

func newJob(cfg *Config, request hearken.StartRequest, path string) *job {
	return &job{
		cfg: cfg, request: request, path: path,
		lines:       map[int]bool{},
		newSegments: make(chan struct{}, 1), activity: make(chan struct{}, 1), eventsDone: make(chan struct{}),
	}
}

// run sends the recording through a session. It returns when the words are
// complete or an error when they will not be.
func (j *job) run(ctx context.Context) error {
	defer j.close()
	if err := j.decode(ctx); err != nil {
		return err
	}
	j.complete = true
	if j.in == nil {
		return invalid("file", "audio_too_short", "Audio file is too short. Minimum audio length is 0.1 seconds.")
	}
	if err := j.waitForWords(ctx); err != nil {
		return err
	}
	// If that fails, the session is stopping already and says why.
	j.finished = j.in.Finish() == nil
	return j.waitForEnd(ctx)
}

// seconds is the length of the recording, once it has run.
func (j *job) seconds() float64 { return float64(j.sent) / hearken.SampleRate }

// decode decodes the file and sends its audio. A panic in a decoder counts as
// an undecodable file.
func (j *job) decode(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			j.cfg.Log.Error("decoder panicked", "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = undecodable(nil)
		}
	}()
	err = j.cfg.Decode(ctx, j.path, func(channels ...[]int16) error {
		if j.sendErr == nil {
			j.sendErr = j.addAudio(ctx, channels[0])
		}
		return j.sendErr
	})
	switch {
	case j.sendErr != nil:
		return j.sendErr
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case hearken.CodeOf(err) == hearken.Undecodable:
		return undecodable(err)
	}
	return fmt.Errorf("decode upload: %w", err)
}

// undecodable is OpenAI's error, with a hint if there is one.
func undecodable(err error) *failure {
	f := invalid("file", "invalid_file_format",
		"Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']")
	if he, ok := errors.AsType[*hearken.Error](err); ok && he.Try != "" {
		f.message += " Try: " + he.Try
	}
	return f
}

// addAudio takes decoded audio. The session starts once there is enough, so
// that a file without audio makes none.
func (j *job) addAudio(ctx context.Context, pcm []int16) error {
	if j.in == nil {
		j.buffered = append(j.buffered, pcm...)
		if len(j.buffered) < minSamples {
			return nil
		}
		if err := j.begin(ctx); err != nil {
			return err
		}
		pcm, j.buffered = j.buffered, nil
	}
	return j.send(ctx, pcm)
}

// begin starts the session and attaches to it.
func (j *job) begin(ctx context.Context) error {
	session, err := j.cfg.Sessions.Start(ctx, j.request)
	if err != nil {
		if j.request.Language != "" && j.request.Model == "" && hearken.CodeOf(err) == hearken.ProviderNotConfigured {
			return invalid("language", "", "%s", err)
		}
		return err
	}
	in, err := j.cfg.Sessions.Attach(ctx, session.ID, j.request.Principal)
	if err != nil {
		return err
	}
	j.in = in
	_ = in.Describe(encodingOf(j.path), 0, 1) // only informative
	j.mu.Lock()
	j.id = session.ID
	j.mu.Unlock()
	wake(j.newSegments)
	go j.handleEvents()
	return nil
}

// encodingOf recognises a file's encoding by its first bytes.
func encodingOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, audio.HeadSize)
	n, _ := io.ReadFull(f, head)
	return audio.DetectFormat(head[:n])
}

// checkComplete returns an error if the words are not complete. It is called
// when no more events come.
func (j *job) checkComplete() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	reason := j.endEvent.Reason
	switch {
	case j.endEvent.Kind == hearken.InputReplaced:
		return j.stoppedFailure("another sender took over its session")
	case reason == hearken.StopProviderFailed:
		return j.engineFailed()
	case reason == hearken.StopShutdown:
		return unavailableFailure("shutdown", "The hub is shutting down. Try: the same request again in a moment")
	case reason == "":
		return unavailableFailure("incomplete", "The hub closed session %s before it had all words. Try: the same request again", j.id)
	case !j.complete:
		return j.stoppedFailure("its session ended: " + reason)
	case j.dropped || j.mayHaveMissed || len(j.gaps) > 0:
		return unavailableFailure("incomplete", "Some of the recording was not transcribed. The words so far are in session %s. Try: the same request again when the hub is less busy", j.id)
	}
	j.flushUntranslated()
	if j.untranslated > 0 && j.translated == 0 {
		return unavailableFailure("not_translated", "The engine gave no translation. The words as they were said are in session %s.", j.id)
	}
	return nil
}

// stoppedFailure is the error for a recording that was stopped on purpose.
func (j *job) stoppedFailure(why string) *failure {
	f := unavailableFailure("stopped", "The recording was not transcribed to its end: %s. The words so far are in session %s.", why, j.id)
	f.status, f.retryAfter, f.noRetry = http.StatusConflict, 0, true
	return f
}

// engineFailed explains why an engine failed, if the reason may be shown.
func (j *job) engineFailed() *failure {
	why, try := "the engine failed", "the same request again, or another engine as the model"
	f := unavailableFailure(string(hearken.ProviderConnectionFailed), "")
	if code := hearken.CodeOf(j.cause); code != "" {
		f.code, why, try = string(code), j.cause.Error(), ""
		switch code {
		case hearken.APIKeyMissing, hearken.ProviderNotConfigured, hearken.Unauthorized, hearken.Forbidden:
			f.noRetry, f.retryAfter = true, 0
		}
	}
	f.message = "The recording could not be transcribed: " + strings.TrimSuffix(why, ".") + ". The words so far are in session " + j.id + "."
	if try != "" {
		f.message += " Try: " + try
	}
	return f
}
