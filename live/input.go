package live

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// inputEvents is how many events wait for a slow sender. Half of them are
// reserved for events that matter more than unconfirmed text.
const inputEvents = 32

// An input belongs to a session's current sender.
type input struct {
	s         *session
	principal string
	// from is the end of the session's audio when this sender attached. The hub
	// has everything before it, some perhaps only in memory; it must not be
	// sent twice.
	from int64

	mu     sync.Mutex
	events chan hearken.InputEvent
	closed bool
}

var _ hearken.Input = (*input)(nil)

// Attach makes the caller the sender of an active session. The same principal
// replaces its own earlier connection; another is refused.
func (h *Hub) Attach(ctx context.Context, id, principal string) (hearken.Input, error) {
	s, err := h.active(ctx, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != running {
		return nil, alreadyStopped(id)
	}
	if s.input != nil {
		if s.input.principal != principal {
			return nil, hearken.Errorf(hearken.SessionAlreadyActive, "session %s already has a sender.", id)
		}
		s.input.end(hearken.InputEvent{Kind: hearken.InputReplaced})
	}
	in := &input{s: s, principal: principal, events: make(chan hearken.InputEvent, inputEvents)}
	if len(s.channels) > 0 {
		in.from = s.channels[0].spool.end() // channels advance together
	}
	s.input = in
	return in, nil
}

func alreadyStopped(id string) error {
	return hearken.Errorf(hearken.SessionAlreadyStopped, "session %s is stopped.", id).WithTry("start_transcription for a new one")
}

func (in *input) Epoch() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.s.info.Epoch
}

func (in *input) Received() int64 {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	safe := int64(math.MaxInt64)
	for _, c := range in.s.channels {
		safe = min(safe, c.spool.durableUntil()) // each is flushed on its own
	}
	if len(in.s.channels) == 0 {
		return 0
	}
	return max(in.from, safe)
}

func (in *input) Describe(encoding string, sampleRate, channels int) error {
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := in.checkLocked(channels); err != nil {
		return err
	}
	cfg := &s.info.Config
	if cfg.Encoding == encoding && cfg.SampleRate == sampleRate && cfg.Channels == channels {
		return nil
	}
	cfg.Encoding, cfg.SampleRate, cfg.Channels = encoding, sampleRate, channels
	s.journal.enqueue(s.headLocked())
	s.markUnsavedLocked()
	return nil
}

// checkLocked returns an error if this input may not send so many channels.
func (in *input) checkLocked(channels int) error {
	s := in.s
	switch {
	case s.input != in:
		return hearken.Errorf(hearken.AudioWebSocketClosed, "another connection took over session %s.", s.id)
	case s.phase != running:
		return alreadyStopped(s.id)
	case channels < 1 || channels > 2:
		return hearken.Errorf(hearken.Invalid, "audio has 1 or 2 channels, not %d.", channels)
	case len(s.channels) > 0 && len(s.channels) != channels:
		return hearken.Errorf(hearken.Invalid, "session %s has %d channels of audio; this sender has %d.", s.id, len(s.channels), channels)
	}
	return nil
}

func (in *input) Write(pcm ...[]int16) error {
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := in.checkLocked(len(pcm)); err != nil {
		return err
	}
	now := s.hub.cfg.Now()
	if len(s.channels) == 0 {
		s.beginLocked(now, pcm)
	}
	s.lastAudio = now
	if !s.info.Config.Recorded {
		s.hub.noteAudio(now)
	}
	for i, c := range s.channels {
		if dropped := c.spool.append(pcm[i]); dropped > 0 {
			s.countDroppedLocked(dropped)
		}
		c.nudge()
	}
	return nil
}

// beginLocked starts the session's clock and channels with the first audio.
func (s *session) beginLocked(now time.Time, pcm [][]int16) {
	s.clock = now.Add(-time.Duration(len(pcm[0])) * time.Second / hearken.SampleRate)
	s.info.Config.Channels = len(pcm)
	for _, o := range channelOrigins[:len(pcm)] {
		s.addChannelLocked(o, s.hub.newSpool(s, o), 0, 0)
	}
	s.journal.enqueue(s.headLocked())
}

// countDroppedLocked counts audio that the spool had no space for.
func (s *session) countDroppedLocked(samples int64) {
	if s.dropped == 0 {
		s.hub.cfg.Log.Warn("audio dropped", "session", s.id, "seconds", seconds(samples))
	}
	s.dropped += samples
	s.input.push(hearken.InputEvent{Kind: hearken.InputDropped, Seconds: seconds(s.dropped)})
}

func (in *input) Events() <-chan hearken.InputEvent { return in.events }

func (in *input) Finalize(channels ...hearken.Origin) error {
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := in.checkLocked(max(1, len(s.channels))); err != nil {
		return err
	}
	s.finalizeLocked(channels...)
	return nil
}

// finalizeLocked asks the engines of these channels, or of all if none is given,
// for the words of the audio so far.
func (s *session) finalizeLocked(channels ...hearken.Origin) {
	for _, c := range s.channels {
		if len(channels) == 0 || slices.Contains(channels, c.origin) {
			c.finalizeUpTo.Store(c.spool.end())
			c.nudge()
		}
	}
}

func (in *input) Finish() error {
	s := in.s
	s.mu.Lock()
	err := in.checkLocked(max(1, len(s.channels)))
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.hub.finish(s, hearken.StopFinished)
}

func (in *input) Detach() {
	in.end(hearken.InputEvent{})
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.input == in {
		s.input = nil
		s.noSenderSince = s.hub.cfg.Now()
	}
}

// push queues an event for the sender, if there is one: in may be nil. If the
// sender is slow, events that it can learn otherwise are dropped.
func (in *input) push(ev hearken.InputEvent) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	lossy := ev.Kind != hearken.InputFinal && ev.Kind != hearken.InputError
	if lossy && len(in.events) >= inputEvents/2 {
		return
	}
	select {
	case in.events <- ev:
	default:
	}
}

// end closes the input after a last event, for which it makes space. Like push,
// it does nothing without a sender.
func (in *input) end(last hearken.InputEvent) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.closed = true
	if last.Kind != "" {
		if len(in.events) == cap(in.events) {
			select {
			case <-in.events:
			default:
			}
		}
		in.events <- last
	}
	close(in.events)
}

// maxSkip is the longest stretch that can be skipped.
const maxSkip = 2 * time.Minute

func (in *input) Skip(d time.Duration, why string) error {
	s := in.s
	s.mu.Lock()
	channels := len(s.channels)
	var from int64
	if channels > 0 {
		from = s.channels[0].spool.end() // channels advance together
	}
	s.mu.Unlock()
	left := int(min(d, maxSkip).Seconds() * hearken.SampleRate)
	if channels == 0 || left <= 0 {
		return nil
	}
	to := from + int64(left)
	for ; left > 0; left -= hearken.SampleRate {
		silence := make([]int16, min(left, hearken.SampleRate))
		if err := in.Write(slices.Repeat([][]int16{silence}, channels)...); err != nil {
			return err
		}
	}
	s.addEvent(hearken.EventGap, seconds(from), seconds(to), "[gap: %.1f s was not recorded: %s]", seconds(to-from), why)
	return nil
}
