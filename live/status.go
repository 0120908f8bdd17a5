package live

import (
	"context"
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

// How long something may be missing before the health says so.
const (
	audioMissing = 5 * time.Second
	wordsMissing = time.Minute
	lagTrouble   = 5.0 // seconds
)

// Status reports how a session is doing. It judges by audio and words, not by
// whether a connection is open.
func (h *Hub) Status(ctx context.Context, id string) (*Status, error) {
	if s := h.find(id); s != nil {
		return s.status(), nil
	}
	info, err := h.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	remote := h.remoteEngines(append([]string{info.Provider}, info.Config.Chain...))
	return &Status{Session: *info, Remote: remote, Sender: "none", Durable: true, ProviderState: stateIdle, Health: "stopped"}, nil
}

func (s *session) status() *Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &Status{
		Session:       s.snapshotLocked(),
		Sender:        "none",
		Dropped:       seconds(s.dropped),
		Engine:        s.engines[s.engine],
		Remote:        s.hub.remoteEngines(s.engines),
		Backlog:       s.backlogSecondsLocked(),
		Unsaved:       s.info.SegmentCount - s.saved,
		Durable:       len(s.volatile) == 0,
		ProviderState: stateIdle,
	}
	if !s.lastAudio.IsZero() {
		st.LastAudio = new(s.lastAudio.UTC())
	}
	if !s.lastWord.IsZero() {
		st.LastWord = new(s.lastWord.UTC())
	}
	if s.input != nil {
		st.Sender = "connected"
	} else if s.phase == running {
		st.Sender = "waiting"
	}
	if s.saveErr != nil {
		st.StoreError = s.saveErr.Error()
	}
	var spoolErr error
	for _, c := range s.channels {
		bytes, err := c.spool.held()
		st.SpoolBytes += bytes
		if err != nil {
			spoolErr = err
		}
		st.Lag = max(st.Lag, c.lagSeconds())
		c.mu.Lock()
		if c.state != stateIdle {
			st.ProviderState = c.state
		}
		c.mu.Unlock()
	}
	storageTrouble := s.saveErr != nil || spoolErr != nil || !st.Durable || s.journal.lastError() != nil
	st.Health = s.healthLocked(st, storageTrouble)
	return st
}

// healthLocked summarises the status, the worst problem first.
func (s *session) healthLocked(st *Status, storageTrouble bool) string {
	now := s.hub.cfg.Now()
	switch {
	case s.info.Status == hearken.Stopped:
		return "stopped"
	case st.ProviderState == stateRetrying || st.ProviderState == stateFailed:
		return "provider_trouble"
	case storageTrouble:
		return "storage_trouble"
	case s.lastAudio.IsZero() || now.Sub(s.lastAudio) > audioMissing:
		return "waiting_for_audio"
	case st.Lag > lagTrouble:
		return "lagging"
	case now.Sub(s.lastWord) > wordsMissing && now.Sub(s.clock) > wordsMissing:
		return "silent"
	}
	return "ok"
}

// FinalUntil returns up to which second of a session's clock the far side's
// words are final. Ok is false if no words are still to come: the session is over
// or has one side only.
func (h *Hub) FinalUntil(id string) (finalUntil float64, ok bool) {
	s := h.find(id)
	if s == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pos := int64(math.MaxInt64)
	for _, c := range s.channels {
		if c.origin == hearken.System && s.phase < backlogged {
			pos = min(pos, c.finalUntil.Load())
		}
	}
	for _, span := range s.backlog {
		if span.Origin == hearken.System {
			pos = min(pos, span.From)
		}
	}
	return seconds(pos), pos < math.MaxInt64
}
