package ws

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	maxMessage = 1 << 20  // of sound
	maxText    = 64 << 10 // of text
	maxWrong   = 16       // wrong frames before the connection ends
)

// settleTime is how long the writer has to say a last word.
const settleTime = 5 * time.Second

// A conn is one sender's connection. The goroutine that serves the request
// reads; one more writes. A timer looks after both.
type conn struct {
	h  *Handler
	ws *websocket.Conn
	in hearken.Input

	// The reader's own.
	format    audio.Format
	decoder   *audio.Decoder // nil before the first sound
	described bool
	finished  bool
	late      bool // sound came after that
	wrong     int  // frames so far

	rate  atomic.Int64 // in which samples are counted
	heard atomic.Int64 // when the sender last gave a sign of life

	acking  atomic.Bool // an ack is due when ack fires
	ack     *time.Timer
	notes   chan error    // errors that do not end the connection
	fail    chan error    // the one that does
	gone    chan struct{} // closed when the reader has ended
	written chan struct{} // closed when the writer has ended
}

// buffers are what sound is read into. They are only held while a message is
// being read, so a thousand quiet senders need none.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (c *conn) attach(r *http.Request) error {
	principal, err := c.h.cfg.Principal(r)
	if err != nil {
		return err
	}
	if c.format, err = declared(r.URL.Query()); err != nil {
		return err
	}
	c.rate.Store(int64(c.format.CountRate()))
	id := r.PathValue("sessionId")
	if !hearken.ValidID(id) {
		return hearken.Errorf(hearken.SessionNotFound, "there is no such session: the id is not a UUID.")
	}
	c.in, err = c.h.cfg.Sessions.Attach(r.Context(), id, principal)
	return err
}

// farewell says why a connection ends that has not begun.
func (c *conn) farewell(err error) {
	timer := time.AfterFunc(settleTime, func() { _ = c.ws.CloseNow() })
	defer timer.Stop()
	c.logFailure(err)
	f := errorOf(err)
	if c.send(f) == nil {
		_ = c.ws.Close(closeCode(err), reasonOf(f.Message))
	}
}

// serve reads until the connection ends, one way or the other.
func (c *conn) serve() {
	c.ack = time.NewTimer(time.Hour)
	c.ack.Stop()
	c.notes, c.fail = make(chan error, 4), make(chan error, 1)
	c.gone, c.written = make(chan struct{}), make(chan struct{})
	c.hear()
	watch := c.watch()
	go c.write()

	err := c.read()
	if hearken.CodeOf(err) != "" || errors.Is(err, errHub) {
		c.settle(err)
	}
	watch()
	close(c.gone)
	_ = c.ws.CloseNow()
	<-c.written
	c.ack.Stop()
	if c.decoder != nil && !c.finished {
		_ = c.decoder.Close() // what has come is heard to its last sample
	}
	c.in.Detach()
}

// settle lets the writer say why the connection ends. The hub may have told it
// already, and then that is the better answer.
func (c *conn) settle(err error) {
	switch hearken.CodeOf(err) {
	case hearken.SessionAlreadyStopped, hearken.AudioWebSocketClosed:
		if c.writerEnds(time.Second) {
			return
		}
	}
	c.logFailure(err)
	c.fail <- err
	c.writerEnds(2 * settleTime)
}

func (c *conn) writerEnds(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.written:
		return true
	case <-timer.C:
		return false
	}
}

// logFailure logs what senders are not told.
func (c *conn) logFailure(err error) {
	if hearken.CodeOf(err) == "" {
		c.h.cfg.Log.Error("audio connection failed", "error", err)
	}
}

// errHub marks a plain error of the hub's, in contrast to one of the
// connection.
var errHub = errors.New("hub")

// read takes messages. An error without a code is that of the connection.
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
			err = c.sound(r)
		} else {
			err = c.text(r)
		}
		if err != nil {
			return err
		}
	}
}

// sound decodes one message as it comes in.
func (c *conn) sound(r io.Reader) error {
	if c.finished {
		return c.ignore(r)
	}
	if c.decoder == nil {
		decoder, err := audio.NewDecoder(c.format, c.deliver)
		if err != nil {
			return err
		}
		c.decoder = decoder
	}
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for total := 0; ; {
		n, err := r.Read(buf[:])
		if n > 0 {
			c.hear()
			if total += n; total > maxMessage {
				return hearken.Errorf(codeTooBig, "a message holds at most %d bytes of sound; send it in smaller ones.", maxMessage)
			}
			if _, err := c.decoder.Write(buf[:n]); err != nil {
				return hubError(err)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if !c.acking.Swap(true) {
		c.ack.Reset(time.Second)
	}
	return nil
}

// ignore passes over sound that comes after finish, and says so once.
func (c *conn) ignore(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if c.late {
		return nil
	}
	c.late = true
	return c.complain(hearken.Errorf(hearken.Invalid, "sound after finish is not heard."))
}

// deliver hands decoded sound to the hub.
func (c *conn) deliver(channels ...[]int16) error {
	if !c.described {
		f, _ := c.decoder.Format()
		if err := c.in.Describe(f.Encoding, f.Rate, f.Channels); err != nil {
			return err
		}
		c.described = true
	}
	return c.in.Write(channels...)
}

// text takes one frame.
func (c *conn) text(r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return err
	}
	if len(b) > maxText {
		return hearken.Errorf(codeTooBig, "a text message of more than %d bytes: %s", maxText, expected)
	}
	ctl, err := parseControl(b)
	if err != nil {
		return c.complain(err)
	}
	if ctl.Type == "finish" {
		return c.finish()
	}
	if c.decoder != nil {
		return c.complain(hearken.Errorf(hearken.Invalid, "a config frame comes before the first sound."))
	}
	f := audio.Format{Encoding: ctl.Encoding, Rate: ctl.SampleRate, Channels: ctl.Channels}
	if err := f.Check(); err != nil {
		return err
	}
	c.format = f
	c.rate.Store(int64(c.format.CountRate()))
	return nil
}

// finish ends the sound; the session drains, and the writer tells the rest.
func (c *conn) finish() error {
	if c.finished {
		return c.complain(hearken.Errorf(hearken.Invalid, "the sound is finished already."))
	}
	c.finished = true
	if c.decoder != nil {
		if err := c.decoder.Close(); err != nil {
			if err := c.complain(err); err != nil {
				return err
			}
		}
	}
	return hubError(c.in.Finish())
}

// complain tells the sender about a mistake that costs nothing but itself.
func (c *conn) complain(err error) error {
	if c.wrong++; c.wrong >= maxWrong {
		return err
	}
	select {
	case c.notes <- err:
	default: // it does not read what it is told
	}
	return nil
}

// hubError marks what the hub returned.
func hubError(err error) error {
	if err == nil || hearken.CodeOf(err) != "" {
		return err
	}
	return errors.Join(errHub, err)
}

func (c *conn) hear() { c.heard.Store(time.Now().UnixNano()) }

// watch looks now and then whether the sender is still there, until the
// function it returns is called. A sender that sends needs no ping.
func (c *conn) watch() (stop func()) {
	every := c.h.alive
	ctx, cancel := context.WithCancel(context.Background())
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		quiet := time.Since(time.Unix(0, c.heard.Load()))
		if quiet >= 2*every {
			_ = c.ws.CloseNow()
			return
		}
		timer.Reset(every)
		if quiet >= every/2 {
			_ = c.ws.Ping(ctx)
		}
	})
	timer.Reset(every)
	return func() { timer.Stop(); cancel() }
}

// samples is what the hub has safe, in the sender's samples.
func (c *conn) samples() int64 {
	return c.in.Received() * c.rate.Load() / hearken.SampleRate
}
