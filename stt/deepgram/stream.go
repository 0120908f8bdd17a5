package deepgram

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

var _ hearken.Stream = (*stream)(nil)

const (
	// Sound is sent in messages of this many samples: a frame goes out at once
	// unless it is too short to be worth a message.
	minMessage   = hearken.SampleRate / 50 // 20 ms
	soundMessage = hearken.SampleRate / 10 // 100 ms
)

var errClosed = errors.New("stream is closed")

// A stream is one connection. Three goroutines meet in it: the caller, who
// writes; one that reads what the server says and alone tells events; and one
// that keeps the connection alive and watches it. Whoever finds that it is
// over breaks the connection, and the reader tells why.
type stream struct {
	ctx      context.Context
	conn     *websocket.Conn
	key      string // never to be shown
	language string
	interim  bool
	pauses   bool // end segments
	stall    time.Duration
	log      *slog.Logger
	events   chan hearken.StreamEvent

	closing  chan struct{} // closed by Close
	done     chan struct{} // closed when it is over; err says why
	err      error
	finalize chan struct{} // asks for what the server holds back

	// The caller's alone, and after Close the keeper's.
	pace   pace
	buf    []byte // sound that is too short for a message
	next   int64  // position of the next frame
	closed bool

	// order is held while sound is counted and sent, so that the clock has it
	// in the order in which the server gets it.
	order sync.Mutex

	mu       sync.Mutex
	clock    clock
	opened   time.Time
	sentAt   time.Time // when something was last sent, or began to be
	heardAt  time.Time // when the server last said something
	hungry   time.Time // when sound was first sent after that; zero if none was
	sending  bool      // sound is on its way into the connection
	newest   float64   // up to here the server has told something
	through  int64     // before this all is final
	taken    int64     // samples that the connection has certainly taken
	asked    []request // Finalize that was not answered yet
	cause    error     // why the connection was broken from here
	closedAt time.Time // when CloseStream was sent
	ended    bool      // no more events but the last

	hearing // the reader's alone
}

func newStream(ctx context.Context, conn *websocket.Conn, cfg hearken.StreamConfig) *stream {
	now := time.Now()
	return &stream{
		ctx: ctx, conn: conn, interim: cfg.Interim, pauses: cfg.Endpointing >= 0,
		events:   make(chan hearken.StreamEvent, 16),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
		finalize: make(chan struct{}, 1),
		next:     cfg.Start,
		clock:    newClock(cfg.Start),
		opened:   now, sentAt: now, heardAt: now,
		through: cfg.Start,
		hearing: hearing{said: cfg.Start},
	}
}

func (s *stream) start() {
	stop := context.AfterFunc(s.ctx, func() { s.conn.CloseNow() })
	go s.keep()
	go func() {
		defer stop()
		s.read()
	}()
}

// Events delivers what was heard.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.events }

// Write sends the frame. It waits while the server takes no more, and so that
// a replay is no faster than the pace.
func (s *stream) Write(f hearken.Frame) error {
	if s.closed {
		return errClosed
	}
	if err := s.over(); err != nil {
		return err
	}
	pcm := f.PCM
	switch gap := f.Pos - s.next; {
	case gap > 0:
		if err := s.jump(f.Pos); err != nil {
			return err
		}
	case gap < 0: // sent before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	s.next += int64(len(pcm))
	for len(pcm) > 0 {
		n := min(len(pcm), soundMessage-len(s.buf)/2)
		s.buf = audio.AppendBytes(s.buf, pcm[:n])
		pcm = pcm[n:]
		if len(s.buf)/2 < minMessage {
			break
		}
		if err := s.send(); err != nil {
			return err
		}
	}
	return nil
}

// jump goes on at a later position. Nothing that was being said goes on
// there, so the server is asked to settle what it has.
func (s *stream) jump(pos int64) error {
	if len(s.buf) > 0 {
		if err := s.send(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	before := s.clock.sent()
	s.clock.jump(pos)
	s.mu.Unlock()
	s.next = pos
	if before == 0 {
		return nil
	}
	return s.ask(false)
}

// send sends the sound in the buffer, at the pace.
func (s *stream) send() error {
	n := len(s.buf) / 2
	if wait := s.pace.wait(n, time.Now()); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done:
			return s.over()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	s.order.Lock()
	defer s.order.Unlock()
	s.mu.Lock()
	// Counted before it is sent: the answer may be here sooner than this
	// goroutine is back.
	s.clock.add(int64(n))
	s.mu.Unlock()
	err := s.transmit(s.buf)
	s.buf = s.buf[:0]
	return err
}

// transmit sends sound that was counted.
func (s *stream) transmit(sound []byte) error {
	s.mu.Lock()
	s.sentAt, s.sending = time.Now(), true
	if s.hungry.IsZero() {
		s.hungry = s.sentAt
	}
	s.mu.Unlock()
	err := s.conn.Write(context.Background(), websocket.MessageBinary, sound)
	s.mu.Lock()
	s.sending = false
	if err == nil {
		s.taken += int64(len(sound) / 2)
	}
	s.mu.Unlock()
	return s.blame(err)
}

// tell sends a text. A server that does not take it has stalled.
func (s *stream) tell(text string) error {
	guard := time.AfterFunc(s.stall, func() { s.fail(errStalled(s.stall)) })
	defer guard.Stop()
	err := s.conn.Write(context.Background(), websocket.MessageText, []byte(text))
	s.mu.Lock()
	s.sentAt = time.Now()
	s.mu.Unlock()
	return s.blame(err)
}

// blame says why something could not be sent. The reader knows, or will know
// in a moment: what the server said last is still to be read.
func (s *stream) blame(err error) error {
	if err == nil {
		return nil
	}
	moment := time.AfterFunc(time.Second, func() { s.conn.CloseNow() })
	defer moment.Stop()
	select {
	case <-s.done:
		return s.over()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// over is why nothing can be sent any more; nil if it can.
func (s *stream) over() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// fail breaks the connection for a reason.
func (s *stream) fail(err error) {
	s.mu.Lock()
	if s.cause == nil {
		s.cause = err
	}
	s.mu.Unlock()
	s.conn.CloseNow()
}

// Close says that no more sound comes. The keeper tells the server.
func (s *stream) Close() error {
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	return nil
}
