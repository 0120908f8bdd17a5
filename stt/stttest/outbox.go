package stttest

import (
	"context"
	"sync"

	"github.com/hearken-dev/hearken"
)

// An outbox carries events to a reader without ever blocking the writer, so
// that a test may write and read in one goroutine.
type outbox struct {
	ch   chan hearken.StreamEvent
	wake chan struct{}

	mu     sync.Mutex
	queue  []hearken.StreamEvent
	closed bool
}

func newOutbox(ctx context.Context) *outbox {
	o := &outbox{ch: make(chan hearken.StreamEvent), wake: make(chan struct{}, 1)}
	go o.run(ctx)
	return o
}

// put queues an event; after close it is dropped.
func (o *outbox) put(e hearken.StreamEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, e)
	o.signal()
}

// close ends the channel once everything queued has been read.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run(ctx context.Context) {
	defer close(o.ch)
	for {
		o.mu.Lock()
		batch, closed := o.queue, o.closed
		o.queue = nil
		o.mu.Unlock()
		for _, e := range batch {
			select {
			case o.ch <- e:
			case <-ctx.Done():
				return
			}
		}
		if closed {
			return
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
			return
		}
	}
}
