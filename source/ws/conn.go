package ws

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/source/wsconn"
)

const (
	maxMessage   = 1 << 20  // bytes of audio
	maxText      = 64 << 10 // bytes of text
	maxBadFrames = 16       // before the connection ends
)

// lastMessageTimeout is how long the writer may take for its last message.
const lastMessageTimeout = 5 * time.Second

// A conn is one sender's connection. The goroutine that serves the request
// reads, and one more writes. A timer watches both.
type conn struct {
	h  *Handler
	ws *websocket.Conn
	in hearken.Input

	// Used only by the reader.
	format       audio.Format
	decoder      *audio.Decoder // nil before the first audio
	described    bool
	finished     bool
	ignoredAudio bool // the sender knows that audio after finish is ignored
	badFrames    int  // so far
	doubted      bool // the sender knows that its encoding seems to be wrong
	call         *call
	pendingStart *twilioStart // came before the connection attached

	quiet        atomic.Bool  // Twilio sends: it gets no frames
	rate         atomic.Int64 // in which samples are counted
	lastReceived atomic.Int64 // when the sender last sent anything

	acking     atomic.Bool // an ack is due when ack fires
	ack        *time.Timer
	warnings   chan error    // errors that do not end the connection
	failure    chan error    // the error that ends it
	readerDone chan struct{} // closed when the reader has ended
	writerDone chan struct{} // closed when the writer has ended
}

func (c *conn) attach(r *http.Request) error {
	c.quiet.Store(r.Header.Get("X-Twilio-Signature") != "")
	principal, err := c.h.cfg.Principal(r)
	if hearken.CodeOf(err) == hearken.Unauthorized && c.h.cfg.Redeem != nil {
		principal, err = c.awaitTicket(r)
	}
	if err != nil {
		return err
	}
	if c.format, err = parseFormat(r.URL.Query()); err != nil {
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

// refuseAndClose ends a connection that could not attach.
func (c *conn) refuseAndClose(err error) {
	timer := time.AfterFunc(lastMessageTimeout, func() { _ = c.ws.CloseNow() })
	defer timer.Stop()
	c.logFailure(err)
	f := errorOf(err)
	if c.send(f) == nil {
		_ = c.ws.Close(closeCodeForError(err), wsconn.CloseReason(f.Message))
	}
}

// serve reads until the connection ends.
func (c *conn) serve() {
	c.ack = time.NewTimer(time.Hour)
	c.ack.Stop()
	c.warnings, c.failure = make(chan error, 4), make(chan error, 1)
	c.readerDone, c.writerDone = make(chan struct{}), make(chan struct{})
	c.touch()
	watch := c.watch()
	go c.write()

	err := c.read()
	if hearken.CodeOf(err) != "" || errors.Is(err, errHub) {
		c.endWith(err)
	}
	watch()
	close(c.readerDone)
	_ = c.ws.CloseNow()
	<-c.writerDone
	c.ack.Stop()
	if !c.finished {
		_ = c.closeDecoder() // everything that came is transcribed
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			_ = c.in.Finish() // an error means that it has ended already
		}
	}
	c.in.Detach()
}

// read handles messages until one is an error or the connection ends.
func (c *conn) read() error {
	if c.pendingStart != nil {
		if err := c.startTwilio(c.pendingStart); err != nil {
			return err
		}
	}
	return wsconn.Read(c.ws, c.touch, c.binary, c.text)
}

// closeDecoder delivers what the decoder still holds.
func (c *conn) closeDecoder() error {
	switch {
	case c.call != nil:
		return c.call.close()
	case c.decoder != nil:
		return c.decoder.Close()
	}
	return nil
}

// endWith makes the writer say why the connection ends. If the hub has told the
// writer already, that reason is better.
func (c *conn) endWith(err error) {
	switch hearken.CodeOf(err) {
	case hearken.SessionAlreadyStopped, hearken.AudioWebSocketClosed:
		if c.waitForWriter(time.Second) {
			return
		}
	}
	c.logFailure(err)
	c.failure <- err
	c.waitForWriter(2 * lastMessageTimeout)
}

func (c *conn) waitForWriter(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.writerDone:
		return true
	case <-timer.C:
		return false
	}
}

// logFailure logs errors whose text senders do not get.
func (c *conn) logFailure(err error) {
	switch {
	case hearken.CodeOf(err) == "":
		c.h.cfg.Log.Error("audio connection failed", "error", err)
	case c.quiet.Load():
		c.h.cfg.Log.Warn("audio of a call refused", "error", err)
	}
}

// errHub marks an error of the hub without a code, as opposed to one of the
// connection.
var errHub = errors.New("hub")

// binary decodes one message as it comes in.
func (c *conn) binary(r io.Reader) error {
	if c.finished {
		return c.ignore(r)
	}
	if c.call != nil {
		return hearken.Errorf(hearken.Invalid, "the audio of a call comes in media messages.")
	}
	if c.decoder == nil {
		decoder, err := audio.NewDecoder(c.format, c.deliver)
		if err != nil {
			return err
		}
		c.decoder = decoder
	}
	buf := wsconn.Buffers.Get().(*wsconn.Buffer)
	defer wsconn.Buffers.Put(buf)
	for total := 0; ; {
		n, err := r.Read(buf[:])
		if n > 0 {
			c.touch()
			if total += n; total > maxMessage {
				return hearken.Errorf(codeTooBig, "a message holds at most %d bytes of audio; send smaller ones.", maxMessage)
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
	if doubt := c.decoder.Doubt(); doubt != "" && !c.doubted {
		c.doubted = true
		return c.warn(hearken.Errorf(hearken.Undecodable, "%s", doubt))
	}
	return nil
}

// ignore skips audio after finish, and warns once.
func (c *conn) ignore(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if c.ignoredAudio {
		return nil
	}
	c.ignoredAudio = true
	return c.warn(hearken.Errorf(hearken.Invalid, "audio after finish is ignored."))
}

// deliver gives decoded audio to the hub.
func (c *conn) deliver(channels ...[]int16) error {
	f, _ := c.decoder.Format()
	return c.deliverAs(f, channels...)
}

// deliverAs gives audio to the hub that came in a format.
func (c *conn) deliverAs(f audio.Format, channels ...[]int16) error {
	if !c.described {
		if err := c.in.Describe(f.Encoding, f.Rate, f.Channels); err != nil {
			return err
		}
		c.described = true
	}
	return c.in.Write(channels...)
}

// text handles one frame.
func (c *conn) text(r io.Reader) error {
	b, err := readText(r)
	if err != nil {
		return err
	}
	ctl, err := parseControl(b)
	if err != nil {
		return c.warn(err)
	}
	if ctl.Type == "" {
		return c.handleTwilio(&ctl.twilioMessage)
	}
	if ctl.Type == "finish" {
		return c.finish()
	}
	if c.decoder != nil || c.call != nil {
		return c.warn(hearken.Errorf(hearken.Invalid, "a config frame must come before the first audio."))
	}
	f := audio.Format{Encoding: ctl.Encoding, Rate: ctl.SampleRate, Channels: ctl.Channels}
	if err := f.Check(); err != nil {
		return err
	}
	c.format = f
	c.rate.Store(int64(c.format.CountRate()))
	return nil
}

// finish ends the audio. The session then drains, and the writer sends the
// rest.
func (c *conn) finish() error {
	if c.finished {
		return c.warn(hearken.Errorf(hearken.Invalid, "the audio is finished already."))
	}
	c.finished = true
	if err := c.closeDecoder(); err != nil {
		if err := c.warn(err); err != nil {
			return err
		}
	}
	return hubError(c.in.Finish())
}

// warn tells the sender about a mistake that does not end the connection.
func (c *conn) warn(err error) error {
	if c.badFrames++; c.badFrames >= maxBadFrames {
		return err
	}
	select {
	case c.warnings <- err:
	default: // the sender does not read
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

func (c *conn) touch() { c.lastReceived.Store(time.Now().UnixNano()) }

// watch pings a silent sender and closes the connection if it does not answer,
// until stop is called. A sender that sends needs no ping.
func (c *conn) watch() (stop func()) {
	every := c.h.pingEvery
	ctx, cancel := context.WithCancel(context.Background())
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		quiet := time.Since(time.Unix(0, c.lastReceived.Load()))
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

// samples is how much audio the hub has safely, in the sender's samples.
func (c *conn) samples() int64 {
	return c.in.Received() * c.rate.Load() / hearken.SampleRate
}
