package live

import (
	"context"
	"time"
)

// LastAudio returns when live audio last arrived in any session, deleted ones
// included. A session that starts counts as audio. Sessions that were active
// before a restart count as if their audio had gone on until it. It is zero if
// there was none.
func (h *Hub) LastAudio() time.Time {
	last := h.lastAudio.Load()
	if last == nil {
		return time.Time{}
	}
	return *last
}

// noteAudio records that audio arrived.
func (h *Hub) noteAudio(at time.Time) { h.lastAudio.Store(&at) }

// LiveSession returns the active session in which audio arrived last, and when.
// The id is empty if there is none.
func (h *Hub) LiveSession() (id string, lastAudio time.Time) {
	for _, s := range h.list() {
		s.mu.Lock()
		if at := s.lastAudio; s.phase == running && !s.info.Config.Recorded && at.After(lastAudio) {
			id, lastAudio = s.id, at
		}
		s.mu.Unlock()
	}
	return id, lastAudio
}

// AudioEnd returns when the last audio of a session arrived, and whether more may
// come. The time is zero if it is not known, as of a deleted session.
func (h *Hub) AudioEnd(ctx context.Context, id string) (lastAudio time.Time, active bool) {
	if s := h.find(id); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.lastAudio.IsZero() {
			return h.LastAudio(), s.phase == running
		}
		return s.lastAudio, s.phase == running
	}
	info, err := h.stored(ctx, id)
	if err != nil || info.StoppedAt == nil {
		return time.Time{}, false
	}
	return *info.StoppedAt, false
}
