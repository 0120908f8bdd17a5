package listen

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coder/websocket"
	"github.com/hearken-dev/hearken"
)

// A writer turns events into messages and sends them. It is for one goroutine.
type writer struct {
	c        *conn
	meta     metadata
	builders [2]resultBuilder
}

func newWriter(c *conn) *writer {
	w := &writer{c: c, meta: metadataOf(c.session, c.h.cfg.Version, c.opts.extra)}
	for i := range w.builders {
		w.builders[i] = resultBuilder{opts: &c.opts, meta: w.meta, index: i, total: func() int { return int(c.channels.Load()) }}
	}
	return w
}

// write sends messages until the connection or the session ends. A slow reader
// delays only this goroutine.
func (c *conn) write() {
	defer close(c.writerDone)
	w := newWriter(c)
	for {
		select {
		case <-c.queue.wake:
			for _, it := range c.queue.takeAll() {
				done, err := w.handle(it)
				if err != nil {
					_ = c.ws.CloseNow() // the reader must not wait for lost messages
				}
				if done || err != nil {
					return
				}
			}
		case end := <-c.failure:
			w.close(end)
			return
		case <-c.readerDone:
			return
		}
	}
}

// handle sends the messages for one item. It reports whether it was the last.
func (w *writer) handle(it queueItem) (done bool, err error) {
	switch {
	case it.finalize != nil:
		for i := range w.active() {
			if it.finalize.channel < 0 || it.finalize.channel == i {
				w.builders[i].finalize(it.finalize.at)
			}
		}
	case it.Kind == hearken.InputReplaced:
		w.close(endReplaced)
		return true, nil
	case it.Kind == hearken.InputClosed:
		return true, w.finish(it.Reason)
	case it.Kind == hearken.InputError:
		if hearken.CodeOf(it.Err) == "" {
			w.c.h.cfg.Log.Error("engine failed", "session", w.c.session.ID, "error", it.Err)
		}
	default:
		if channel := slices.Index(channelOrigins, it.Origin); channel >= 0 {
			w.builders[channel].event(it.InputEvent)
		}
	}
	return false, w.flush()
}

// active are the builders of the channels that the audio has.
func (w *writer) active() []resultBuilder { return w.builders[:w.c.channels.Load()] }

// finish sends the last results, the summary and the close frame.
func (w *writer) finish(reason string) error {
	total := w.c.seconds()
	if reason != hearken.StopProviderFailed && reason != hearken.StopShutdown && total > 0 {
		for i := range w.active() {
			w.builders[i].finish(total)
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	last := w.c.summaryOf(w.meta)
	last.Type = "Metadata"
	if err := w.send(last); err != nil {
		return err
	}
	end := &ending{websocket.StatusNormalClosure, ""}
	switch {
	case reason == hearken.StopProviderFailed:
		end = endEngine
	case reason == hearken.StopShutdown || w.c.closing.Load():
		end = endShutdown
	}
	w.close(end)
	return nil
}

// flush sends what the builders have made.
func (w *writer) flush() error {
	for i := range w.builders {
		for _, m := range w.builders[i].out {
			if err := w.send(m); err != nil {
				return err
			}
		}
		clear(w.builders[i].out)
		w.builders[i].out = w.builders[i].out[:0]
	}
	return nil
}

func (w *writer) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.c.h.write)
	defer cancel()
	return w.c.ws.Write(ctx, websocket.MessageText, b)
}

// close ends the connection.
func (w *writer) close(e *ending) {
	_ = w.c.ws.Close(e.code, e.reason)
}
