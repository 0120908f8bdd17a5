package live

import (
	"context"
	"math"
	"time"

	"github.com/hearken-dev/hearken"
)

// How long evidence may be missing before the health says so.
const (
	audioMissing = 5 * time.Second
	wordsMissing = time.Minute
	lagTrouble   = 5.0 // seconds
)

// An engine that is asked for its words gets throughWithin to tell them.
const (
	throughWithin = 500 * time.Millisecond
	throughEvery  = 10 * time.Millisecond
)

// Status tells how a session is doing, from evidence and never from a socket
// being open.
func (h *Hub) Status(ctx context.Context, id string) (*Status, error) {
	if s := h.find(id); s != nil {
		return s.status(), nil
	}
	info, err := h.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Status{Session: *info, Sender: "none", Durable: true, ProviderState: stateIdle, Health: "stopped"}, nil
}

func (s *session) status() *Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &Status{
		Session:       s.snapshotLocked(),
		Sender:        "none",
		Dropped:       seconds(s.dropped),
		Engine:        s.engines[s.engine],
		Owed:          s.owedLocked(),
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
		st.Lag = max(st.Lag, c.behind())
		c.mu.Lock()
		if c.state != stateIdle {
			st.ProviderState = c.state
		}
		c.mu.Unlock()
	}
	trouble := s.saveErr != nil || spoolErr != nil || !st.Durable || s.journal.trouble() != nil
	st.Health = s.healthLocked(st, trouble)
	return st
}

// healthLocked sums the evidence up, the worst first.
func (s *session) healthLocked(st *Status, trouble bool) string {
	now := s.hub.cfg.Now()
	switch {
	case s.info.Status == hearken.Stopped:
		return "stopped"
	case st.ProviderState == stateRetrying || st.ProviderState == stateFailed:
		return "provider_trouble"
	case trouble:
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

// Through tells up to which second of a session's clock the words of the far
// side are final. If that is before until, their engine is asked for them and
// gets a moment. ok is false where none are still to come: the session is over,
// or has one side only.
func (h *Hub) Through(ctx context.Context, id string, until float64) (through float64, ok bool) {
	s := h.find(id)
	if s == nil {
		return 0, false
	}
	pos, ok := s.farThrough()
	if !ok || pos >= position(until) {
		return seconds(pos), ok
	}
	s.wantFar()
	ctx, cancel := context.WithTimeout(ctx, throughWithin)
	defer cancel()
	look := time.NewTicker(throughEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return seconds(pos), ok
		}
		if pos, ok = s.farThrough(); !ok || pos >= position(until) {
			return seconds(pos), ok
		}
	}
}

// farThrough is the position before which all words of the far side are final,
// and whether there is anything after it.
func (s *session) farThrough() (pos int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pos = math.MaxInt64
	for _, c := range s.channels {
		if c.origin == hearken.System && s.phase < owing {
			pos = min(pos, c.through.Load())
		}
	}
	for _, d := range s.debts {
		if d.Origin == hearken.System {
			pos = min(pos, d.From)
		}
	}
	return pos, pos < math.MaxInt64
}

// wantFar asks the engine of the far side for the words that it has so far.
func (s *session) wantFar() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		if c.origin == hearken.System {
			c.wanted.Store(c.spool.end())
			c.nudge()
		}
	}
}
