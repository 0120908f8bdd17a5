package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	// shortest is the least sound that is worth a session, as OpenAI has it.
	shortest = hearken.SampleRate / 10
	// chunk is how much sound is sent at a time.
	chunk = hearken.SampleRate
)

// A hearing is one recording on its way through a session. One goroutine sends
// the sound, and one takes what the hub tells, promptly, because the hub does
// not wait; a third may look at what has come so far.
type hearing struct {
	cfg     *Config
	request Request
	path    string

	// The sender's own.
	in       hearken.Input // nil before there is sound
	held     []int16       // sound that is not yet enough for a session
	mixed    []int16
	sent     int64 // samples
	sendErr  error
	complete bool // all of it was sent
	finished bool // and the hub told so

	news chan struct{} // a segment has come, or the session has begun
	told chan struct{} // anything has come
	over chan struct{} // nothing more will come

	mu       sync.Mutex
	id       string
	segments []hearken.Segment // wanted ones, as they came
	through  float64           // seconds for which the words are final
	lines    map[int]bool      // of the entries that came
	crowded  bool              // there may have been more
	dropped  bool              // there was sound that the hub could not hold
	gaps     []hearken.Segment // stretches of sound without an engine
	end      hearken.InputEvent
	cause    error // what the hub said before the end

	foreign      *hearken.Segment // the last segment, if its translation may still come
	translated   int
	untranslated int
}

func newHearing(cfg *Config, request Request, path string) *hearing {
	return &hearing{
		cfg: cfg, request: request, path: path,
		lines: map[int]bool{},
		news:  make(chan struct{}, 1), told: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

// run sends the recording through a session and returns when its words are
// complete, or will not be.
func (h *hearing) run(ctx context.Context) error {
	defer h.leave()
	if err := h.decode(ctx); err != nil {
		return err
	}
	h.complete = true
	if h.in == nil {
		return invalid("file", "audio_too_short", "Audio file is too short. Minimum audio length is 0.1 seconds.")
	}
	if err := h.settle(ctx); err != nil {
		return err
	}
	// If that fails the session is stopping already, and says why.
	h.finished = h.in.Finish() == nil
	return h.await(ctx)
}

// seconds is how long the recording is, once it has run.
func (h *hearing) seconds() float64 { return float64(h.sent) / hearken.SampleRate }

// decode hears the file. A decoder that panics has met a file that it cannot
// decode, and takes nobody with it.
func (h *hearing) decode(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			h.cfg.Log.Error("decoder panicked", "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = undecodable(nil)
		}
	}()
	err = h.cfg.Decode(ctx, h.path, func(channels ...[]int16) error {
		if h.sendErr == nil {
			h.sendErr = h.hear(ctx, h.mix(channels))
		}
		return h.sendErr
	})
	switch {
	case h.sendErr != nil:
		return h.sendErr
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case hearken.CodeOf(err) == hearken.Undecodable:
		return undecodable(err)
	}
	return fmt.Errorf("decode upload: %w", err)
}

// undecodable says what OpenAI says, and what else would help.
func undecodable(err error) *failure {
	f := invalid("file", "invalid_file_format",
		"Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']")
	if he, ok := errors.AsType[*hearken.Error](err); ok && he.Try != "" {
		f.message += " Try: " + he.Try
	}
	return f
}

// hear takes decoded sound. The session starts with the first that is enough,
// so that a file without any leaves none behind.
func (h *hearing) hear(ctx context.Context, pcm []int16) error {
	if h.in == nil {
		h.held = append(h.held, pcm...)
		if len(h.held) < shortest {
			return nil
		}
		if err := h.begin(ctx); err != nil {
			return err
		}
		pcm, h.held = h.held, nil
	}
	return h.send(ctx, pcm)
}

// mix makes one channel of all.
func (h *hearing) mix(channels [][]int16) []int16 {
	if len(channels) == 1 {
		return channels[0]
	}
	h.mixed = h.mixed[:0]
	for i := range channels[0] {
		sum := 0
		for _, c := range channels {
			sum += int(c[i])
		}
		h.mixed = append(h.mixed, int16(sum/len(channels)))
	}
	return h.mixed
}

// begin starts the session and becomes its sender.
func (h *hearing) begin(ctx context.Context) error {
	id, err := h.cfg.Sessions.Start(ctx, h.request)
	if err != nil {
		if h.request.Language != "" && h.request.Model == "" && hearken.CodeOf(err) == hearken.ProviderNotConfigured {
			return invalid("language", "", "%s", err)
		}
		return err
	}
	in, err := h.cfg.Sessions.Attach(ctx, id, h.request.Principal)
	if err != nil {
		return err
	}
	h.in = in
	_ = in.Describe(encodingOf(h.path), 0, 1) // for the record
	h.mu.Lock()
	h.id = id
	h.mu.Unlock()
	signal(h.news)
	go h.listen()
	return nil
}

// encodingOf is what a file is by its first bytes.
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
