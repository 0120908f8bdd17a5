package listen

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// A teller turns events into messages and sends them. It belongs to the
// writer.
type teller struct {
	c     *conn
	meta  metadata
	lanes [2]lane
}

func newTeller(c *conn) *teller {
	t := &teller{c: c, meta: metadataOf(c.session, c.h.cfg.Version, c.opts.extra)}
	for i := range t.lanes {
		t.lanes[i] = lane{o: &c.opts, meta: t.meta, index: i, total: func() int { return int(c.channels.Load()) }}
	}
	return t
}

// write tells the sender what was heard, until the connection or the session
// ends. A sender that reads slowly holds up only this.
func (c *conn) write() {
	defer close(c.written)
	t := newTeller(c)
	for {
		select {
		case <-c.queue.wake:
			for _, it := range c.queue.take() {
				done, err := t.tell(it)
				if err != nil {
					_ = c.ws.CloseNow() // the reader is not to wait for what was lost
				}
				if done || err != nil {
					return
				}
			}
		case end := <-c.fail:
			t.close(end)
			return
		case <-c.gone:
			return
		}
	}
}

// tell sends what one item makes known. It reports whether it was the last.
func (t *teller) tell(it item) (done bool, err error) {
	switch {
	case it.finalize != nil:
		for i := range t.active() {
			if it.finalize.channel < 0 || it.finalize.channel == i {
				t.lanes[i].finalize(it.finalize.at)
			}
		}
	case it.Kind == hearken.InputReplaced:
		t.close(endTaken)
		return true, nil
	case it.Kind == hearken.InputClosed:
		return true, t.finish(it.Reason)
	case it.Kind == hearken.InputError:
		if hearken.CodeOf(it.Err) == "" {
			t.c.h.cfg.Log.Error("engine failed", "session", t.c.session.ID, "error", it.Err)
		}
	case it.Origin == hearken.Microphone:
		t.lanes[0].event(it.InputEvent)
	case it.Origin == hearken.System:
		t.lanes[1].event(it.InputEvent)
	}
	return false, t.flush()
}

// active are the lanes that the sound has.
func (t *teller) active() []lane { return t.lanes[:t.c.channels.Load()] }

// finish sends what is left, the summary, and the end.
func (t *teller) finish(reason string) error {
	heard := t.c.seconds()
	if reason != hearken.StopProviderFailed && reason != hearken.StopShutdown && heard > 0 {
		for i := range t.active() {
			t.lanes[i].finish(heard)
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	last := t.c.summaryOf(t.meta)
	last.Type = "Metadata"
	if err := t.send(last); err != nil {
		return err
	}
	end := &ending{websocket.StatusNormalClosure, ""}
	switch {
	case reason == hearken.StopProviderFailed:
		end = endEngine
	case reason == hearken.StopShutdown || t.c.closing.Load():
		end = endGoing
	}
	t.close(end)
	return nil
}

// flush sends what the lanes have to say.
func (t *teller) flush() error {
	for i := range t.lanes {
		for _, m := range t.lanes[i].out {
			if err := t.send(m); err != nil {
				return err
			}
		}
		clear(t.lanes[i].out)
		t.lanes[i].out = t.lanes[i].out[:0]
	}
	return nil
}

func (t *teller) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.c.h.write)
	defer cancel()
	return t.c.ws.Write(ctx, websocket.MessageText, b)
}

// close ends the connection; a sender that does not answer is not waited for
// long.
func (t *teller) close(e *ending) {
	_ = t.c.ws.Close(e.code, e.reason)
}
