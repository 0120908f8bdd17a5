package live

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// inputEvents is how many events wait for a sender that does not take them.
// Half of them are kept for what matters more than unconfirmed text.
const inputEvents = 32

// An input is the place of a session's current sender.
type input struct {
	s         *session
	principal string
	// from is the end of the session's sound when this sender came: what lies
	// before it is with the hub, though some of it perhaps only in memory for
	// another moment, and must not be sent twice.
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
		safe = min(safe, c.spool.safe()) // each is flushed on its own
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
	s.journal.post(s.headLocked())
	s.dirtyLocked()
	return nil
}

// checkLocked tells whether this input may send so many channels.
func (in *input) checkLocked(channels int) error {
	s := in.s
	switch {
	case s.input != in:
		return hearken.Errorf(hearken.AudioWebSocketClosed, "another connection took over session %s.", s.id)
	case s.phase != running:
		return alreadyStopped(s.id)
	case channels < 1 || channels > 2:
		return hearken.Errorf(hearken.Invalid, "sound has 1 or 2 channels, not %d.", channels)
	case len(s.channels) > 0 && len(s.channels) != channels:
		return hearken.Errorf(hearken.Invalid, "session %s has %d channels of sound; this sender has %d.", s.id, len(s.channels), channels)
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
	for i, c := range s.channels {
		if dropped := c.spool.append(pcm[i]); dropped > 0 {
			s.lostLocked(dropped)
		}
		c.nudge()
	}
	return nil
}

// beginLocked starts the session's clock and its channels with the first
// sound.
func (s *session) beginLocked(now time.Time, pcm [][]int16) {
	s.clock = now.Add(-time.Duration(len(pcm[0])) * time.Second / hearken.SampleRate)
	s.info.Config.Channels = len(pcm)
	for _, o := range []hearken.Origin{hearken.Microphone, hearken.System}[:len(pcm)] {
		s.addChannelLocked(o, s.hub.newSpool(s, o), 0, 0)
	}
	s.journal.post(s.headLocked())
}

// lostLocked counts sound that was dropped for want of room.
func (s *session) lostLocked(samples int64) {
	if s.dropped == 0 {
		s.hub.cfg.Log.Warn("sound dropped", "session", s.id, "seconds", seconds(samples))
	}
	s.dropped += samples
	if s.input != nil {
		s.input.push(hearken.InputEvent{Kind: hearken.InputDropped, Seconds: seconds(s.dropped)})
	}
}

func (in *input) Events() <-chan hearken.InputEvent { return in.events }

func (in *input) Finalize(channels ...hearken.Origin) error {
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := in.checkLocked(max(1, len(s.channels))); err != nil {
		return err
	}
	for _, c := range s.channels {
		if len(channels) == 0 || slices.Contains(channels, c.origin) {
			c.wanted.Store(c.spool.end())
			c.nudge()
		}
	}
	return nil
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
		s.alone = s.hub.cfg.Now()
	}
}

// push hands an event to the sender if it takes them; what can be known
// another way is dropped when it does not.
func (in *input) push(ev hearken.InputEvent) {
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

// end closes the input, with a last event that always has room.
func (in *input) end(last hearken.InputEvent) {
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
