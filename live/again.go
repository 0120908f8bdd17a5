package live

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// againAhead is how far the sound of a session that is transcribed again may
// run ahead of the engine.
const againAhead = 30 * hearken.SampleRate

// Retranscribe transcribes the kept sound of a stopped session anew, perhaps with
// another provider, language, model or vocabulary. What was confirmed never
// changes, so the result is a session of its own. It returns at once; the new
// session stops by itself when it is complete.
func (h *Hub) Retranscribe(ctx context.Context, id string, req StartRequest) (*hearken.Session, error) {
	old, err := h.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	if old.Status != hearken.Stopped {
		return nil, hearken.Errorf(hearken.SessionAlreadyActive, "session %s is still active.", id).WithTry("stop_transcription first")
	}
	var kept []*spool
	for _, o := range []hearken.Origin{hearken.Microphone, hearken.System} {
		sp, err := openSpool(filepath.Join(h.audioDir(), id, string(o)), "", 0, 0)
		if err != nil {
			return nil, err
		}
		if sp.end() > 0 {
			kept = append(kept, sp)
		}
	}
	if len(kept) == 0 {
		return nil, hearken.Errorf(hearken.NotFound, "the sound of session %s was not kept.", id).
			WithTry("KEEP_AUDIO=on, for the sessions that start from then on")
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
	h.work.Go(func() { h.replay(h.find(info.ID), in, kept) })
	return info, nil
}

// replay sends kept sound to a session, no faster than its engine takes it.
func (h *Hub) replay(s *session, in hearken.Input, kept []*spool) {
	defer in.Detach()
	end := kept[0].end()
	for _, sp := range kept[1:] {
		end = max(end, sp.end())
	}
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for pos := int64(0); pos < end; {
		if s.waiting() > againAhead {
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
		pcm := make([][]int16, len(kept))
		for i, sp := range kept {
			pcm[i] = make([]int16, n) // silence where nothing was kept
			if err := fillFrom(sp, pos, pcm[i]); err != nil {
				h.cfg.Log.Warn("kept sound not read", "session", s.id, "err", err)
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

// fillFrom copies the sound at pos and leaves holes as they are.
func fillFrom(sp *spool, pos int64, pcm []int16) error {
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

// waiting is how much sound of a session its engine has not taken yet.
func (s *session) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var most int64
	for _, c := range s.channels {
		most = max(most, c.spool.end()-c.fed.Load())
	}
	return most
}
