package live

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// retranscribeAhead is how far archived audio may run ahead of the engine.
const retranscribeAhead = 30 * hearken.SampleRate

// Retranscribe transcribes the archived audio of a stopped session again,
// perhaps with another provider, language, model or vocabulary. Confirmed
// entries never change, so the result is a new session. It returns at once; the
// new session stops when it is complete.
func (h *Hub) Retranscribe(ctx context.Context, id string, req hearken.StartRequest) (*hearken.Session, error) {
	old, err := h.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	if old.Status != hearken.Stopped {
		return nil, hearken.Errorf(hearken.SessionAlreadyActive, "session %s is still active.", id).WithTry("stop_transcription first")
	}
	var archived []*spool
	for _, o := range channelOrigins {
		sp, err := openSpool(filepath.Join(h.audioDir(), id, string(o)), "", 0, 0)
		if err != nil {
			return nil, err
		}
		if sp.end() > 0 {
			archived = append(archived, sp)
		}
	}
	if len(archived) == 0 {
		return nil, hearken.Errorf(hearken.NotFound, "the audio of session %s was not kept.", id).
			WithTry("KEEP_AUDIO=on; it applies to sessions that start afterwards")
	}
	if req.Capture = old.Config.Capture; req.Capture {
		if err := h.checkCapture(req); err != nil {
			return nil, err
		}
	}
	req.Recorded = true
	if req.Title == "" {
		req.Title = old.Title
	}
	if req.Language == "" && (req.Provider == "" || req.Provider == old.Provider) {
		req.Language = old.Language
	}
	info, err := h.Start(ctx, req)
	if err != nil {
		return nil, err
	}
	in, err := h.Attach(ctx, info.ID, req.Principal)
	if err != nil {
		return nil, err
	}
	h.work.Go(func() { h.replay(h.find(info.ID), in, archived) })
	return info, nil
}

// replay sends archived audio to a session, no faster than its engine takes it.
func (h *Hub) replay(s *session, in hearken.Input, archived []*spool) {
	defer in.Detach()
	var end int64
	for _, sp := range archived {
		end = max(end, sp.end())
	}
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for pos := int64(0); pos < end; {
		if s.unfedSamples() > retranscribeAhead {
			select {
			case <-pace.C:
				continue
			case <-s.stopped:
				return
			case <-h.ctx.Done():
				return
			}
		}
		n := min(hearken.SampleRate, end-pos)
		pcm := make([][]int16, len(archived))
		for i, sp := range archived {
			pcm[i] = make([]int16, n) // silence where nothing was archived
			if err := copyAudio(sp, pos, pcm[i]); err != nil {
				h.cfg.Log.Warn("archived audio not read", "session", s.id, "err", err)
			}
		}
		if err := in.Write(pcm...); err != nil {
			return
		}
		pos += n
	}
	if err := in.Finish(); err != nil {
		h.cfg.Log.Warn("session not finished", "session", s.id, "err", err)
	}
}

// copyAudio copies the audio at pos and leaves holes as they are.
func copyAudio(sp *spool, pos int64, pcm []int16) error {
	for at := pos; at < pos+int64(len(pcm)); {
		n, found, err := sp.read(at, pcm[at-pos:])
		if err != nil {
			return err
		}
		if found > at { // a hole
			at = found
			continue
		}
		if n == 0 {
			return nil
		}
		at += int64(n)
	}
	return nil
}

// unfedSamples is how much audio the session's engine has not taken yet.
func (s *session) unfedSamples() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var unfed int64
	for _, c := range s.channels {
		unfed = max(unfed, c.spool.end()-c.fed.Load())
	}
	return unfed
}
