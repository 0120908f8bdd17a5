// Package stt is what the engines have in common: how a stream's events reach
// their reader, and how a server's words are made fit to be shown.
package stt

import (
	"context"
	"sync"

	"github.com/hearken-dev/hearken"
)

// An Outbox carries a stream's events to its reader without ever holding up
// the stream. A reader that is slow finds only the newest of the unconfirmed
// texts and of the progress, and every final.
type Outbox struct {
	ctx context.Context
	ch  chan hearken.StreamEvent

	mu      sync.Mutex
	queue   []hearken.StreamEvent
	sending bool // somebody delivers
	closed  bool
}

// NewOutbox makes an outbox for a stream that ends with ctx.
func NewOutbox(ctx context.Context) *Outbox {
	return &Outbox{ctx: ctx, ch: make(chan hearken.StreamEvent)}
}

// Events is where the reader finds them.
func (o *Outbox) Events() <-chan hearken.StreamEvent { return o.ch }

// Put queues an event; after Close it is dropped.
func (o *Outbox) Put(e hearken.StreamEvent) {
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
	o.send()
}

// replaces reports whether news makes the event before it worthless.
func replaces(news, old hearken.StreamEventKind) bool {
	return news == old && (news == hearken.Partial || news == hearken.Progress)
}

// Close ends the channel after everything in it was read, or the stream's
// context has ended.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		o.send()
	}
}

// send sees to it that somebody delivers what is queued.
func (o *Outbox) send() {
	if !o.sending {
		o.sending = true
		go o.deliver()
	}
}

func (o *Outbox) deliver() {
	for e, ok := o.take(); ok; e, ok = o.take() {
		select {
		case o.ch <- e:
		case <-o.ctx.Done(): // nobody reads any more
		}
	}
}

func (o *Outbox) take() (e hearken.StreamEvent, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue, o.sending = nil, false
		if o.closed {
			close(o.ch)
		}
		return e, false
	}
	e = o.queue[0]
	o.queue[0] = hearken.StreamEvent{}
	o.queue = o.queue[1:]
	return e, true
}
