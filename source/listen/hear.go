package listen

import (
	"bytes"
	"encoding/hex"
	"io"
	"time"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// binary decodes one message as it comes in. An empty one is the end.
func (c *conn) binary(r io.Reader) error {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	total := 0
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			c.hear()
			if total == 0 && isControl(buf[:n]) {
				return endControl
			}
			total += n
			if err := c.take(buf[:n]); err != nil {
				return err
			}
			c.wait(c.h.cfg.Ahead, c.written)
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

// isControl reports whether sound is no sound but a control message that was
// sent as the wrong kind.
func isControl(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"type"`)) || bytes.HasPrefix(b, []byte(`{ "type"`))
}

// take decodes bytes and gives what they hold to the hub, or says how the
// connection ends because it cannot.
func (c *conn) take(b []byte) error {
	err := c.decode(b)
	switch hearken.CodeOf(err) {
	case "":
		if err == nil {
			return nil
		}
		c.h.cfg.Log.Error("sound not taken", "session", c.session.ID, "error", err)
	case hearken.SessionAlreadyStopped, hearken.AudioWebSocketClosed:
		c.patient.Store(true) // the writer learns why, and ends
		return nil
	case hearken.Undecodable, hearken.Invalid:
		return &ending{websocket.StatusPolicyViolation, reasonOf("DATA-0000: " + err.Error())}
	}
	return endHub
}

func (c *conn) decode(b []byte) (err error) {
	if c.finished || c.deaf {
		return nil
	}
	c.audible.Store(true)
	c.note(b)
	if c.sound == nil {
		c.sound, err = newSound(c.opts.form, c.deliver)
	}
	if err == nil {
		err = c.sound.write(b)
	}
	c.deaf = err != nil
	return err
}

// note counts bytes of sound into the sum of what was received.
func (c *conn) note(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.digest.Write(b)
}

// sum is the SHA-256 of the sound so far, in hexadecimal.
func (c *conn) sum() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return hex.EncodeToString(c.digest.Sum(nil))
}

// deliver hands decoded sound to the hub.
func (c *conn) deliver(channels ...[]int16) error {
	if c.samples.Load() == 0 {
		f, _ := c.sound.decoder.Format()
		if c.sound.floats {
			f.Encoding = "linear32"
		}
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

// dealtWith notes how far a channel's words are final.
func (c *conn) dealtWith(o hearken.Origin, seconds float64) {
	var place = &c.through[0]
	switch o {
	case hearken.System:
		place = &c.through[1]
	case hearken.EventOrigin:
		return
	}
	pos := int64(seconds * hearken.SampleRate)
	if pos <= place.Load() {
		return
	}
	place.Store(pos) // only receive writes it
	select {
	case c.progress <- struct{}{}:
	default:
	}
}

// wait holds up a sender that is ahead of both the engine and the time its
// sound takes, before the hub would have to drop what it sends. It goes on
// when one of the two has caught up, or there is nobody to hold up.
func (c *conn) wait(most time.Duration, gone <-chan struct{}) {
	if c.finished || c.deaf {
		return
	}
	for {
		sent := c.samples.Load()
		behind := c.through[0].Load()
		if c.channels.Load() == 2 {
			behind = min(behind, c.through[1].Load())
		}
		ahead := time.Duration(sent-behind) * time.Second / hearken.SampleRate
		early := time.Duration(sent)*time.Second/hearken.SampleRate - time.Since(c.begun)
		if ahead <= most || early <= 0 {
			return
		}
		c.patient.Store(true)
		timer := time.NewTimer(early)
		select {
		case <-c.progress:
		case <-timer.C:
		case <-gone:
			early = 0
		case <-c.left:
			early = 0
		case <-c.h.closing:
			early = 0
		}
		timer.Stop()
		if early == 0 {
			return
		}
		c.hear()
		if !c.closing.Load() {
			c.patient.Store(false)
		}
	}
}

// reasonOf makes a close reason of a sentence: at most 123 bytes fit.
func reasonOf(s string) string {
	if len(s) > 123 {
		s = string(bytes.ToValidUTF8([]byte(s[:120]), nil)) + "..."
	}
	return s
}
