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
	"github.com/hearken-dev/hearken/source/wsconn"
)

const (
	maxText            = 64 << 10
	lastMessageTimeout = 10 * time.Second // for the writer's last message
	// maxDrain is how much audio an engine can finish while a session ends: the
	// hub does not wait for ever.
	maxDrain = 10 * time.Second
)

// A conn is one stream. The goroutine that serves the request reads, one
// writes, and one takes the hub's events as they come, because the hub does not
// wait for slow readers.
type conn struct {
	h       *Handler
	ws      *websocket.Conn
	in      hearken.Input
	opts    options
	session *hearken.Session
	queue   *queue

	// Used only by the reader.
	decoder  *streamDecoder // nil before the first audio
	refused  bool           // the session takes no more audio
	finished bool           // the sender ended its audio

	mu     sync.Mutex
	digest hash.Hash // of the audio as it came

	startedAt   time.Time
	requestDone <-chan struct{} // closed when the request's context ends
	channels    atomic.Int32    // of the results; what was asked for until audio comes
	samples     atomic.Int64    // given to the hub
	finalUntil  [2]atomic.Int64
	progress    chan struct{} // finalUntil has grown
	speakers    speakerCheck
	doubt       atomic.Pointer[string] // why the declared encoding seems to be wrong

	lastReceived atomic.Int64 // when the sender last sent anything
	gotAudio     atomic.Bool  // audio came
	mayIdle      atomic.Bool  // the sender need not send anything: it has to wait, or is done
	closing      atomic.Bool  // the hub is closing
	finishOnce   sync.Once    // finishes the session
	failure      chan *ending
	readerDone   chan struct{} // closed when the reader has ended
	writerDone   chan struct{} // closed when the writer has ended

	eventsStarted bool
	eventsDone    chan struct{} // closed when no more events come
}

func newConn(ctx context.Context, h *Handler, opts options, session *hearken.Session, in hearken.Input) *conn {
	c := &conn{
		h: h, in: in, opts: opts, session: session, queue: newQueue(), digest: sha256.New(),
		startedAt: time.Now(), requestDone: ctx.Done(), progress: make(chan struct{}, 1), failure: make(chan *ending, 1),
		readerDone: make(chan struct{}), writerDone: make(chan struct{}), eventsDone: make(chan struct{}),
	}
	c.channels.Store(int32(opts.channels))
	return c
}

// An ending is why and how the hub ends a connection.
type ending struct {
	code   websocket.StatusCode
	reason string // begins with Deepgram's own code
}

func (e *ending) Error() string { return e.reason }

var (
	endIdle     = &ending{websocket.StatusInternalError, "NET-0001: neither audio nor a text message came within the timeout window. See https://dpgr.am/net0001"}
	endNoAudio  = &ending{websocket.StatusInternalError, "NET-0001: no audio came within the timeout window; KeepAlive alone is not enough. See https://dpgr.am/net0001"}
	endEngine   = &ending{websocket.StatusInternalError, "NET-0000: the engine failed; try again later."}
	endHub      = &ending{websocket.StatusInternalError, "NET-0000: the hub failed; its log says why."}
	endText     = &ending{websocket.StatusPolicyViolation, "DATA-0000: text that is not JSON. Audio goes into binary messages."}
	endControl  = &ending{websocket.StatusPolicyViolation, "DATA-0000: a control message in a binary message, where audio belongs. Send it as text."}
	endTooBig   = &ending{websocket.StatusMessageTooBig, "a text message of more than 64 KiB."}
	endReplaced = &ending{websocket.StatusPolicyViolation, "another connection sends to this session now."}
	endShutdown = &ending{websocket.StatusGoingAway, "the hub is closing; connect again."}
)

// serve reads until the connection ends.
func (c *conn) serve() {
	c.touch()
	stop := c.watch()
	c.startEvents()
	go c.write()
	err := wsconn.Read(c.ws, c.touch, c.binary, c.text)
	if end, ok := errors.AsType[*ending](err); ok {
		c.endWith(end)
		timer := time.NewTimer(lastMessageTimeout)
		select {
		case <-c.writerDone:
		case <-timer.C:
		}
		timer.Stop()
	}
	stop()
	close(c.readerDone)
	_ = c.ws.CloseNow()
	<-c.writerDone
}

// close finishes the session of the stream. Everything that was sent is still
// transcribed, even if the client is gone.
func (c *conn) close() {
	_ = c.finishAudio()
	c.in.Detach()
	if c.eventsStarted {
		<-c.eventsDone
	}
}

// finishAudio ends the audio. It returns an error if its end cannot be decoded.
func (c *conn) finishAudio() (err error) {
	if c.decoder != nil && !c.refused && !c.finished {
		err = c.closeDecoder()
		if !c.opts.Recorded { // otherwise the engine was given its time
			c.throttle(min(c.h.cfg.Ahead, maxDrain), nil)
		}
	}
	c.finished = true
	c.mayIdle.Store(true)
	c.finish()
	return err
}

// closeDecoder delivers what the decoder still holds.
func (c *conn) closeDecoder() error {
	if c.decoder == nil || c.refused {
		return nil
	}
	return c.decoder.close()
}

// finish ends the session, which then drains.
func (c *conn) finish() {
	c.finishOnce.Do(func() {
		if err := c.in.Finish(); err != nil && hearken.CodeOf(err) == "" {
			c.h.cfg.Log.Error("session not finished", "session", c.session.ID, "error", err)
		}
	})
}

// endWith makes the writer end the connection.
func (c *conn) endWith(e *ending) {
	select {
	case c.failure <- e:
	default: // there is a reason already
	}
}

// startEvents begins to take the hub's events, until there are no more.
func (c *conn) startEvents() {
	c.eventsStarted = true
	go c.forwardEvents()
}

func (c *conn) forwardEvents() {
	defer close(c.eventsDone)
	cut := false
	for ev := range c.in.Events() {
		switch ev.Kind {
		case hearken.InputLag, hearken.InputDropped:
			continue // Deepgram has no message for it
		case hearken.InputProgress:
			c.setFinalUntil(ev.Origin, ev.Seconds)
		case hearken.InputFinal:
			c.setFinalUntil(ev.Origin, max(ev.Seconds, ev.Segment.EndTime))
			c.speakers.add(ev.Segment)
		}
		if cut {
			continue // the events must still be drained
		}
		if err := c.queue.put(queueItem{InputEvent: ev}); err != nil {
			c.h.cfg.Log.Warn("stream cut off", "session", c.session.ID, "error", err)
			c.abort()
			cut = true
		}
	}
}

// abort ends a connection whose client does not read.
func (c *conn) abort() {
	if c.ws != nil {
		_ = c.ws.CloseNow()
	}
}

// text handles a text message. Every one keeps the connection alive.
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

// closeStream ends the stream at the sender's request.
func (c *conn) closeStream() error {
	// Transcribed words matter more than a broken end.
	if err := c.finishAudio(); hearken.CodeOf(err) == hearken.Undecodable && c.samples.Load() == 0 {
		return &ending{websocket.StatusPolicyViolation, wsconn.CloseReason("DATA-0000: " + err.Error())}
	}
	return nil
}

// finalize asks for the words so far. The writer learns it first, so that it
// knows which results answer it.
func (c *conn) finalize(channel *int) {
	if c.finished {
		return
	}
	req := &finalizeRequest{at: c.seconds(), channel: -1}
	var origins []hearken.Origin
	if channel != nil {
		if *channel < 0 || *channel >= int(c.channels.Load()) {
			return
		}
		req.channel = *channel
		origins = channelOrigins[*channel : *channel+1]
	}
	if c.queue.put(queueItem{finalize: req}) != nil {
		_ = c.ws.CloseNow() // it asks and does not read
		return
	}
	if err := c.in.Finalize(origins...); err != nil && hearken.CodeOf(err) == "" {
		c.h.cfg.Log.Warn("finalize failed", "session", c.session.ID, "error", err)
	}
}

// seconds is how much audio the hub was given.
func (c *conn) seconds() float64 { return float64(c.samples.Load()) / hearken.SampleRate }

// channelOrigins are the origins of the first and the second channel.
var channelOrigins = []hearken.Origin{hearken.Microphone, hearken.System}

func (c *conn) touch() { c.lastReceived.Store(time.Now().UnixNano()) }

// watch ends the connection when nothing comes for too long, and the session
// when the hub closes, until stop is called.
func (c *conn) watch() (stop func()) {
	done := make(chan struct{})
	go func() {
		timer := time.NewTimer(c.h.idle)
		defer timer.Stop()
		closing, left := c.h.conns.Closing(), c.requestDone
		for {
			select {
			case <-timer.C:
				if c.closing.Load() {
					c.endWith(endShutdown)
					return
				}
				timer.Reset(c.checkIdle())
			case <-closing:
				closing, left = nil, nil
				c.drainAndEnd(timer)
			case <-left:
				closing, left = nil, nil
				c.drainAndEnd(timer)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// drainAndEnd waits briefly for the last words.
func (c *conn) drainAndEnd(timer *time.Timer) {
	c.closing.Store(true)
	c.mayIdle.Store(true)
	c.finish()
	timer.Reset(c.h.drain)
}

// checkIdle ends the connection if its sender was silent for too long, and otherwise
// returns how long it may still be silent.
func (c *conn) checkIdle() time.Duration {
	if c.mayIdle.Load() {
		return c.h.idle
	}
	since, end := c.startedAt, endNoAudio
	if c.gotAudio.Load() {
		since, end = time.Unix(0, c.lastReceived.Load()), endIdle
	}
	left := c.h.idle - time.Since(since)
	if left <= 0 {
		c.endWith(end)
		return c.h.idle
	}
	return left
}
