package stttest

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// An outbox carries events to a reader without ever blocking the writer, so
// that a test may write and read in one goroutine.
type outbox struct {
	ctx    context.Context
	in, ch chan hearken.StreamEvent
	closed bool
}

func newOutbox(ctx context.Context) *outbox {
	o := &outbox{ctx: ctx, in: make(chan hearken.StreamEvent), ch: make(chan hearken.StreamEvent)}
	go o.run()
	return o
}

// put queues an event; after close it is dropped.
func (o *outbox) put(e hearken.StreamEvent) {
	if o.closed {
		return
	}
	select {
	case o.in <- e:
	case <-o.ctx.Done():
	}
}

// close ends the channel once everything queued has been read.
func (o *outbox) close() {
	if !o.closed {
		o.closed = true
		close(o.in)
	}
}

func (o *outbox) run() {
	defer close(o.ch)
	var queue []hearken.StreamEvent
	for in := o.in; in != nil || len(queue) > 0; {
		var out chan hearken.StreamEvent
		var first hearken.StreamEvent
		if len(queue) > 0 {
			out, first = o.ch, queue[0]
		}
		select {
		case e, ok := <-in:
			if ok {
				queue = append(queue, e)
			} else {
				in = nil
			}
		case out <- first:
			queue = queue[1:]
		case <-o.ctx.Done():
			return
		}
	}
}
