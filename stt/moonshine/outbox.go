package moonshine

import (
	"context"
	"sync"

	"github.com/hearken-dev/hearken"
)

// An outbox carries a stream's events to its reader without ever holding up an
// inference. A reader that is slow finds only the newest of the unconfirmed
// texts, and every final.
type outbox struct {
	ch   chan hearken.StreamEvent
	wake chan struct{}

	mu     sync.Mutex
	queue  []hearken.StreamEvent
	closed bool
}

func newOutbox(ctx context.Context) *outbox {
	o := &outbox{ch: make(chan hearken.StreamEvent), wake: make(chan struct{}, 1)}
	go o.deliver(ctx)
	return o
}

func (o *outbox) put(e hearken.StreamEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if n := len(o.queue); n > 0 && replaces(e.Kind, o.queue[n-1].Kind) {
		o.queue[n-1] = e
	} else {
		o.queue = append(o.queue, e)
	}
	o.signal()
}

// replaces reports whether news makes the event before it worthless.
func replaces(news, old hearken.StreamEventKind) bool {
	return news == old && (news == hearken.Partial || news == hearken.Progress)
}

// close ends the channel after everything in it was read.
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

func (o *outbox) deliver(ctx context.Context) {
	defer close(o.ch)
	for {
		e, ok, closed := o.take()
		switch {
		case ok:
			select {
			case o.ch <- e:
			case <-ctx.Done():
				return
			}
		case closed:
			return
		default:
			select {
			case <-o.wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (o *outbox) take() (e hearken.StreamEvent, ok, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue = nil
		return e, false, o.closed
	}
	e = o.queue[0]
	o.queue[0] = hearken.StreamEvent{}
	o.queue = o.queue[1:]
	return e, true, false
}
