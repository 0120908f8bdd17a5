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
	// Audio is sent in messages of so many samples. A frame is sent at once
	// unless it is too short to be worth a message.
	minMessage   = hearken.SampleRate / 50 // 20 ms
	audioMessage = hearken.SampleRate / 10 // 100 ms
)

var errClosed = errors.New("stream is closed")

// A stream is one connection. Three goroutines use it: the caller, who writes;
// the reader, which reads messages and alone emits results; and one that
// maintains the connection. Each of them may break the connection, and the
// reader then reports why.
type stream struct {
	ctx      context.Context
	conn     *websocket.Conn
	key      string // never to be shown
	language string
	interim  bool
	pauses   bool // whether they end segments
	stall    time.Duration
	log      *slog.Logger
	events   chan hearken.StreamEvent

	closing  chan struct{} // closed by Close
	done     chan struct{} // closed when it is over; err says why
	err      error
	finalize chan struct{} // asks for what the server has not confirmed

	// Used by the caller alone, and after Close by maintain.
	pace   pace
	buf    []byte // audio that is too short for a message
	next   int64  // position of the next frame
	closed bool

	// sendMu is held while audio is counted and sent, so that the clock has it
	// in the order in which the server gets it.
	sendMu sync.Mutex

	mu              sync.Mutex
	clock           connectionClock
	opened          time.Time
	sentAt          time.Time         // when something was last sent, or began to be
	receivedAt      time.Time         // when the server last sent something
	unansweredSince time.Time         // when audio was first sent after that; zero if none was
	sending         bool              // audio is being written to the connection
	answeredUntil   float64           // the server has sent results up to here, in seconds
	finalUntil      int64             // before this all audio is done
	accepted        int64             // samples that the connection has certainly accepted
	finalizes       []finalizeRequest // not answered yet
	cause           error             // why this side broke the connection
	closedAt        time.Time         // when CloseStream was sent
	ended           bool              // no more events follow

	readerState // the reader's alone
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
		opened:   now, sentAt: now, receivedAt: now,
		finalUntil:  cfg.Start,
		readerState: readerState{entriesUntil: cfg.Start},
	}
}

func (s *stream) start() {
	stop := context.AfterFunc(s.ctx, func() { s.conn.CloseNow() })
	go s.maintain()
	go func() {
		defer stop()
		s.read()
	}()
}

// Events delivers the results.
func (s *stream) Events() <-chan hearken.StreamEvent { return s.events }

// Write sends the frame. It blocks while the server takes no more, and to keep
// the pace.
func (s *stream) Write(f hearken.Frame) error {
	if s.closed {
		return errClosed
	}
	if err := s.closeError(); err != nil {
		return err
	}
	pcm := f.PCM
	switch gap := f.Pos - s.next; {
	case gap > 0:
		if err := s.skipTo(f.Pos); err != nil {
			return err
		}
	case gap < 0: // sent before
		pcm = pcm[min(int64(len(pcm)), -gap):]
	}
	s.next += int64(len(pcm))
	for len(pcm) > 0 {
		n := min(len(pcm), audioMessage-len(s.buf)/2)
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

// skipTo continues at a later position. Nobody's sentence continues there, so
// the server is asked to finish what it has.
func (s *stream) skipTo(pos int64) error {
	if err := s.send(); err != nil {
		return err
	}
	s.mu.Lock()
	before := s.clock.sent()
	s.clock.jumpTo(pos)
	s.mu.Unlock()
	s.next = pos
	if before == 0 {
		return nil
	}
	return s.requestFinalize(false)
}

// send sends the audio in the buffer, if any, at the pace.
func (s *stream) send() error {
	n := len(s.buf) / 2
	if n == 0 {
		return nil
	}
	if wait := s.pace.delay(n, time.Now()); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done:
			return s.closeError()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	s.mu.Lock()
	// Count it before sending: the answer may come before this goroutine
	// continues.
	s.clock.add(int64(n))
	s.mu.Unlock()
	err := s.transmit(s.buf)
	s.buf = s.buf[:0]
	return err
}

// transmit sends audio that was counted.
func (s *stream) transmit(pcm []byte) error {
	s.mu.Lock()
	s.sentAt, s.sending = time.Now(), true
	if s.unansweredSince.IsZero() {
		s.unansweredSince = s.sentAt
	}
	s.mu.Unlock()
	err := s.conn.Write(context.Background(), websocket.MessageBinary, pcm)
	s.mu.Lock()
	s.sending = false
	if err == nil {
		s.accepted += int64(len(pcm) / 2)
	}
	s.mu.Unlock()
	return s.sendError(err)
}

// sendText sends a text message. A server that does not accept it has stalled.
func (s *stream) sendText(text string) error {
	guard := time.AfterFunc(s.stall, func() { s.fail(errStalled(s.stall)) })
	defer guard.Stop()
	err := s.conn.Write(context.Background(), websocket.MessageText, []byte(text))
	s.mu.Lock()
	s.sentAt = time.Now()
	s.mu.Unlock()
	return s.sendError(err)
}

// sendError says why something could not be sent. The reader knows, or will know
// in a moment: the server's last message may still be unread.
func (s *stream) sendError(err error) error {
	if err == nil {
		return nil
	}
	moment := time.AfterFunc(time.Second, func() { s.conn.CloseNow() })
	defer moment.Stop()
	select {
	case <-s.done:
		return s.closeError()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// closeError is why nothing can be sent any more; nil if it can.
func (s *stream) closeError() error {
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

// fail breaks the connection and notes why.
func (s *stream) fail(err error) {
	s.mu.Lock()
	if s.cause == nil {
		s.cause = err
	}
	s.mu.Unlock()
	s.conn.CloseNow()
}

// Close ends the audio. The maintaining goroutine finishes the stream.
func (s *stream) Close() error {
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	return nil
}
