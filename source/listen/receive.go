package listen

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/source/wsconn"
)

// binary decodes one message as it comes in. An empty one ends the stream.
func (c *conn) binary(r io.Reader) error {
	buf := wsconn.Buffers.Get().(*wsconn.Buffer)
	defer wsconn.Buffers.Put(buf)
	total := 0
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			c.touch()
			if total == 0 && isControl(buf[:n]) {
				return endControl
			}
			total += n
			if err := c.decodeOrEnd(buf[:n]); err != nil {
				return err
			}
			c.throttle(c.h.cfg.Ahead, c.writerDone)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if total == 0 {
		return c.closeStream()
	}
	return nil
}

// isControl reports whether a binary message is a control message that should
// have been sent as text.
func isControl(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"type"`)) || bytes.HasPrefix(b, []byte(`{ "type"`))
}

// decodeOrEnd decodes bytes and gives their audio to the hub, or returns how
// the connection ends.
func (c *conn) decodeOrEnd(b []byte) error {
	err := c.decode(b)
	switch hearken.CodeOf(err) {
	case "":
		if err == nil {
			return nil
		}
		c.h.cfg.Log.Error("audio not accepted", "session", c.session.ID, "error", err)
	case hearken.SessionAlreadyStopped, hearken.AudioWebSocketClosed:
		c.mayIdle.Store(true) // the writer learns why and ends the connection
		return nil
	case hearken.Undecodable, hearken.Invalid:
		return &ending{websocket.StatusPolicyViolation, wsconn.CloseReason("DATA-0000: " + err.Error())}
	}
	return endHub
}

func (c *conn) decode(b []byte) (err error) {
	if c.finished || c.refused {
		return nil
	}
	c.gotAudio.Store(true)
	c.hashAudio(b)
	if c.decoder == nil {
		c.decoder, err = newStreamDecoder(c.opts.audioFormat, c.deliver)
	}
	if err == nil {
		err = c.decoder.write(b)
	}
	if err == nil && c.doubt.Load() == nil {
		if doubt := c.decoder.inner.Doubt(); doubt != "" {
			c.doubt.Store(&doubt)
		}
	}
	c.refused = err != nil
	return err
}

// hashAudio adds bytes to the hash of the received audio.
func (c *conn) hashAudio(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.digest.Write(b)
}

// audioHash is the SHA-256 of the audio so far, in hexadecimal.
func (c *conn) audioHash() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return hex.EncodeToString(c.digest.Sum(nil))
}

// deliver gives decoded audio to the hub.
func (c *conn) deliver(channels ...[]int16) error {
	f, _ := c.decoder.inner.Format()
	return c.deliverAs(f, channels...)
}

// deliverAs gives audio to the hub that came in a format.
func (c *conn) deliverAs(f audio.Format, channels ...[]int16) error {
	if c.samples.Load() == 0 {
		if err := c.in.Describe(f.Encoding, f.Rate, len(channels)); err != nil {
			return err
		}
		c.channels.Store(int32(len(channels)))
	}
	if err := c.in.Write(channels...); err != nil {
		return err
	}
	c.samples.Add(int64(len(channels[0])))
	return nil
}

// setFinalUntil records how far a channel's words are final.
func (c *conn) setFinalUntil(o hearken.Origin, seconds float64) {
	channel, pos := slices.Index(channelOrigins, o), int64(seconds*hearken.SampleRate)
	if channel < 0 || pos <= c.finalUntil[channel].Load() {
		return
	}
	c.finalUntil[channel].Store(pos) // only forwardEvents writes it
	select {
	case c.progress <- struct{}{}:
	default:
	}
}

// throttle makes a sender wait that is ahead of both the engine and real time,
// before the hub would have to drop audio. It returns when either has caught
// up, or when gone, the request or the hub ends.
func (c *conn) throttle(maxAhead time.Duration, gone <-chan struct{}) {
	if c.finished || c.refused {
		return
	}
	for {
		ahead := c.ahead()
		early := time.Duration(c.samples.Load())*time.Second/hearken.SampleRate - time.Since(c.startedAt)
		if ahead <= maxAhead || early <= 0 {
			return
		}
		c.mayIdle.Store(true)
		timer := time.NewTimer(early)
		select {
		case <-c.progress:
		case <-timer.C:
		case <-gone:
			early = 0
		case <-c.requestDone:
			early = 0
		case <-c.h.conns.Closing():
			early = 0
		}
		timer.Stop()
		if early == 0 {
			return
		}
		c.touch()
		if !c.closing.Load() {
			c.mayIdle.Store(false)
		}
	}
}

// ahead is how much audio the hub has whose words are not final.
func (c *conn) ahead() time.Duration {
	final := c.finalUntil[0].Load()
	if c.channels.Load() == 2 {
		final = min(final, c.finalUntil[1].Load())
	}
	return time.Duration(c.samples.Load()-final) * time.Second / hearken.SampleRate
}

// A streamDecoder decodes a stream in the format that its query declared.
type streamDecoder struct {
	audioFormat
	inner *audio.Decoder
	sink  func(channels ...[]int16) error
	head  []byte // of a container that is not recognised yet
	mixed []int16
}

// headBytes are enough to recognise a container.
const headBytes = 16

// newStreamDecoder makes a decoder that calls sink with audio at
// [hearken.SampleRate].
func newStreamDecoder(f audioFormat, sink func(channels ...[]int16) error) (*streamDecoder, error) {
	s := &streamDecoder{audioFormat: f, sink: sink}
	var err error
	s.inner, err = audio.NewDecoder(f.Format, s.deliver)
	return s, err
}

// write decodes the next bytes.
func (s *streamDecoder) write(b []byte) error {
	if s.container {
		s.head = append(s.head, b...)
		if len(s.head) < headBytes {
			return nil
		}
		if audio.DetectFormat(s.head) == "" {
			return errNoContainer
		}
		b, s.head, s.container = s.head, nil, false
	}
	_, err := s.inner.Write(b)
	return err
}

var errNoContainer = hearken.Errorf(hearken.Undecodable, "this is not Ogg, WebM or FLAC; packets without a container cannot be decoded.")

// close delivers what is still held.
func (s *streamDecoder) close() error {
	if len(s.head) > 0 {
		return errNoContainer
	}
	return s.inner.Close()
}

func (s *streamDecoder) deliver(channels ...[]int16) error {
	if !s.mix || len(channels) < 2 {
		return s.sink(channels...)
	}
	s.mixed = s.mixed[:0]
	for i, left := range channels[0] {
		s.mixed = append(s.mixed, int16((int32(left)+int32(channels[1][i]))/2))
	}
	return s.sink(s.mixed)
}
