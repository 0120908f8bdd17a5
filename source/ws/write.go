package ws

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/source/wsconn"
)

// write sends frames until the connection or the session ends. A sender that
// does not read delays only this goroutine: the hub then drops events, partials
// first, and still takes the audio.
func (c *conn) write() {
	defer close(c.writerDone)
	if c.send(frame{"type": "ready", "receivedSamples": c.samples(), "epoch": c.in.Epoch()}) != nil {
		return
	}
	for {
		done, err := c.writeNext()
		if done || err != nil {
			return
		}
	}
}

// writeNext waits for one thing to send. It reports whether it was the last.
func (c *conn) writeNext() (done bool, err error) {
	select {
	case ev, ok := <-c.in.Events():
		if !ok {
			return true, c.ws.Close(websocket.StatusGoingAway, "")
		}
		return c.event(ev)
	case <-c.ack.C:
		c.acking.Store(false)
		return false, c.sendAck()
	case err := <-c.warnings:
		return false, c.send(errorOf(err))
	case err := <-c.failure:
		f := errorOf(err)
		if err := c.send(f); err != nil {
			return true, err
		}
		return true, c.ws.Close(closeCodeForError(err), wsconn.CloseReason(f.Message))
	case <-c.h.conns.Closing():
		if err := c.send(frame{"type": "closed", "reason": hearken.StopShutdown}); err != nil {
			return true, err
		}
		return true, c.ws.Close(websocket.StatusGoingAway, hearken.StopShutdown)
	case <-c.readerDone:
		return true, nil
	}
}

func (c *conn) event(ev hearken.InputEvent) (done bool, err error) {
	switch ev.Kind {
	case hearken.InputReplaced:
		return true, c.ws.Close(closeReplaced, "the same sender connected again.")
	case hearken.InputClosed:
		if err := c.sendAck(); err != nil {
			return true, err
		}
		if err := c.send(frame{"type": "closed", "reason": ev.Reason}); err != nil {
			return true, err
		}
		return true, c.ws.Close(closeCodeForReason(ev.Reason), wsconn.CloseReason(ev.Reason))
	case hearken.InputError:
		c.logFailure(ev.Err)
	}
	if f := eventFrame(ev); f != nil {
		return false, c.send(f)
	}
	return false, nil
}

// sendAck is written by hand: a thousand senders get one each second.
func (c *conn) sendAck() error {
	if c.quiet.Load() {
		return nil
	}
	b := append(make([]byte, 0, 48), `{"type":"ack","samples":`...)
	b = strconv.AppendInt(b, c.samples(), 10)
	return c.ws.Write(context.Background(), websocket.MessageText, append(b, '}'))
}

func (c *conn) send(f any) error {
	if c.quiet.Load() {
		return nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return c.ws.Write(context.Background(), websocket.MessageText, b)
}
