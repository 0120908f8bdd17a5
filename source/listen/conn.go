package listen

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

const (
	maxText    = 64 << 10
	settleTime = 10 * time.Second // for the writer to say a last word
	// drainable is how much sound an engine gets done while a session ends:
	// the hub does not wait for ever.
	drainable = 10 * time.Second
)

// A conn is one stream. The goroutine that serves the request reads; one
// writes; one takes the hub's events as they come, because the hub does not
// wait for slow readers.
type conn struct {
	h       *Handler
	ws      *websocket.Conn
	in      hearken.Input
	opts    options
	session *hearken.Session
	queue   *queue

	// The reader's own.
	sound    *sound // nil before the first
	deaf     bool   // the session takes no more sound
	finished bool   // the sender said that this was all

	mu     sync.Mutex
	digest hash.Hash // of the sound as it came

	begun    time.Time
	left     <-chan struct{} // closed when the request's context ends
	channels atomic.Int32    // of the results; what was asked for until sound comes
	samples  atomic.Int64    // that the hub was given
	through  [2]atomic.Int64
	progress chan struct{} // through has grown

	heard   atomic.Int64 // when the sender last gave a sign of life
	audible atomic.Bool  // sound came
	patient atomic.Bool  // the sender need not give one: it was told to wait, or is done
	closing atomic.Bool  // the hub ends
	ended   sync.Once    // the session
	fail    chan *ending
	gone    chan struct{} // closed when the reader has ended
	written chan struct{} // closed when the writer has ended

	receiving bool
	received  chan struct{} // closed when no more events come
}

func newConn(ctx context.Context, h *Handler, opts options, session *hearken.Session, in hearken.Input) *conn {
	c := &conn{
		h: h, in: in, opts: opts, session: session, queue: newQueue(), digest: sha256.New(),
		begun: time.Now(), left: ctx.Done(), progress: make(chan struct{}, 1), fail: make(chan *ending, 1),
		gone: make(chan struct{}), written: make(chan struct{}), received: make(chan struct{}),
	}
	c.channels.Store(int32(opts.channels))
	return c
}

// An ending is why the hub ends a connection, and how.
type ending struct {
	code   websocket.StatusCode
	reason string // begins with Deepgram's own word for it
}

func (e *ending) Error() string { return e.reason }

var (
	endNoSound = &ending{websocket.StatusInternalError, "NET-0001: neither audio nor a text message came within the timeout window. See https://dpgr.am/net0001"}
	endNoAudio = &ending{websocket.StatusInternalError, "NET-0001: no audio came within the timeout window; KeepAlive alone is not enough. See https://dpgr.am/net0001"}
	endEngine  = &ending{websocket.StatusInternalError, "NET-0000: the engine failed; try again later."}
	endHub     = &ending{websocket.StatusInternalError, "NET-0000: the hub failed; its log says why."}
	endText    = &ending{websocket.StatusPolicyViolation, "DATA-0000: text that is not JSON. Audio goes into binary messages."}
	endControl = &ending{websocket.StatusPolicyViolation, "DATA-0000: a control message in a binary message, where audio belongs. Send it as text."}
	endTooBig  = &ending{websocket.StatusMessageTooBig, "a text message of more than 64 KiB."}
	endTaken   = &ending{websocket.StatusPolicyViolation, "another connection sends to this session now."}
	endGoing   = &ending{websocket.StatusGoingAway, "the hub ends; connect again."}
)

// buffers are what sound is read into. They are only held while a message is
// being read.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// serve reads until the connection ends, one way or the other.
func (c *conn) serve() {
	c.hear()
	stop := c.watch()
	c.receive()
	go c.write()
	err := c.read()
	if end, ok := errors.AsType[*ending](err); ok {
		c.end(end)
		timer := time.NewTimer(settleTime)
		select {
		case <-c.written:
		case <-timer.C:
		}
		timer.Stop()
	}
	stop()
	close(c.gone)
	_ = c.ws.CloseNow()
	<-c.written
}

// leave ends the session with the stream: what was sent is heard to its last
// sample, whoever is still there to be told.
func (c *conn) leave() {
	_ = c.complete()
	c.in.Detach()
	if c.receiving {
		<-c.received
	}
}

// complete says that there is no more sound. It returns what was wrong with
// the end of it.
func (c *conn) complete() (err error) {
	if c.sound != nil && !c.deaf && !c.finished {
		err = c.sound.close()
		c.wait(min(c.h.cfg.Ahead, drainable), nil)
	}
	c.finished = true
	c.patient.Store(true)
	c.finish()
	return err
}

// finish ends the session, which then drains.
func (c *conn) finish() {
	c.ended.Do(func() {
		if err := c.in.Finish(); err != nil && hearken.CodeOf(err) == "" {
			c.h.cfg.Log.Error("session not finished", "session", c.session.ID, "error", err)
		}
	})
}

// end has the writer end the connection.
func (c *conn) end(e *ending) {
	select {
	case c.fail <- e:
	default: // there is a reason already
	}
}

// receive begins to take the hub's events, until there are no more.
func (c *conn) receive() {
	c.receiving = true
	go func() {
		defer close(c.received)
		c.events()
	}()
}

func (c *conn) events() {
	cut := false
	for ev := range c.in.Events() {
		switch ev.Kind {
		case hearken.InputLag, hearken.InputDropped:
			continue // Deepgram has no word for it
		case hearken.InputProgress:
			c.dealtWith(ev.Origin, ev.Seconds)
		case hearken.InputFinal:
			c.dealtWith(ev.Origin, max(ev.Seconds, ev.Segment.EndTime))
		}
		if cut {
			continue // the events are drained all the same
		}
		if err := c.queue.put(item{InputEvent: ev}); err != nil {
			c.h.cfg.Log.Warn("stream cut off", "session", c.session.ID, "error", err)
			c.cut()
			cut = true
		}
	}
}

// cut ends a connection whose other end does not read.
func (c *conn) cut() {
	if c.ws != nil {
		_ = c.ws.CloseNow()
	}
}

// read takes messages.
func (c *conn) read() error {
	// No context: it would cost a watcher for each message. CloseNow ends a
	// read as well.
	ctx := context.Background()
	for {
		kind, r, err := c.ws.Reader(ctx)
		if err != nil {
			return err
		}
		c.hear()
		if kind == websocket.MessageBinary {
			err = c.binary(r)
		} else {
			err = c.text(r)
		}
		if err != nil {
			return err
		}
	}
}

// text takes what a sender says. Whatever it is, it keeps the connection
// alive.
func (c *conn) text(r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return err
	}
	if len(b) > maxText {
		return endTooBig
	}
	if !json.Valid(b) {
		return endText
	}
	var ctl control
	if json.Unmarshal(b, &ctl) != nil {
		return nil
	}
	switch ctl.Type {
	case "Finalize":
		c.finalize(ctl.Channel)
	case "CloseStream":
		return c.closeStream()
	}
	return nil
}

// closeStream is the end that the sender asks for.
func (c *conn) closeStream() error {
	// Words that were heard are worth more than a broken end.
	if err := c.complete(); hearken.CodeOf(err) == hearken.Undecodable && c.samples.Load() == 0 {
		return &ending{websocket.StatusPolicyViolation, reasonOf("DATA-0000: " + err.Error())}
	}
	return nil
}

// finalize asks for the words so far. The writer is told first, so that it
// knows which results answer it.
func (c *conn) finalize(channel *int) {
	if c.finished {
		return
	}
	req := &request{at: c.seconds(), channel: -1}
	var origins []hearken.Origin
	if channel != nil {
		if *channel < 0 || *channel >= int(c.channels.Load()) {
			return
		}
		req.channel = *channel
		origins = []hearken.Origin{originOf(*channel)}
	}
	if c.queue.put(item{finalize: req}) != nil {
		_ = c.ws.CloseNow() // it asks and does not listen
		return
	}
	if err := c.in.Finalize(origins...); err != nil && hearken.CodeOf(err) == "" {
		c.h.cfg.Log.Warn("finalize failed", "session", c.session.ID, "error", err)
	}
}

// seconds is how much sound the hub was given.
func (c *conn) seconds() float64 { return float64(c.samples.Load()) / hearken.SampleRate }

func originOf(channel int) hearken.Origin {
	if channel == 1 {
		return hearken.System
	}
	return hearken.Microphone
}

func (c *conn) hear() { c.heard.Store(time.Now().UnixNano()) }

// watch ends the connection when nothing comes for too long, and the session
// when the hub does, until the function it returns is called.
func (c *conn) watch() (stop func()) {
	done := make(chan struct{})
	go func() {
		timer := time.NewTimer(c.h.idle)
		defer timer.Stop()
		closing, left := c.h.closing, c.left
		for {
			select {
			case <-timer.C:
				if c.closing.Load() {
					c.end(endGoing)
					return
				}
				timer.Reset(c.idle())
			case <-closing:
				closing, left = nil, nil
				c.shutDown(timer)
			case <-left:
				closing, left = nil, nil
				c.shutDown(timer)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// shutDown lets the last words come, if they come soon.
func (c *conn) shutDown(timer *time.Timer) {
	c.closing.Store(true)
	c.patient.Store(true)
	c.finish()
	timer.Reset(c.h.drain)
}

// idle ends the connection if its sender is gone, and otherwise tells how long
// it may yet be silent.
func (c *conn) idle() time.Duration {
	if c.patient.Load() {
		return c.h.idle
	}
	since, end := c.begun, endNoAudio
	if c.audible.Load() {
		since, end = time.Unix(0, c.heard.Load()), endNoSound
	}
	left := c.h.idle - time.Since(since)
	if left <= 0 {
		c.end(end)
		return c.h.idle
	}
	return left
}
