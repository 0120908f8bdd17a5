// Package stt is what the engines share: how a stream's events reach their
// reader, and how a server's refusal becomes an error.
package stt

import (
	"context"
	"math"
	"sync"

	"github.com/hearken-dev/hearken"
)

// An Outbox passes a stream's events to its reader without ever blocking the
// stream. A slow reader gets every final, but only the newest unconfirmed text
// and progress.
type Outbox struct {
	ctx context.Context
	ch  chan hearken.StreamEvent

	mu      sync.Mutex
	queue   []hearken.StreamEvent
	sending bool // a goroutine delivers
	closed  bool
}

// NewOutbox makes an outbox for a stream that ends with ctx.
func NewOutbox(ctx context.Context) *Outbox {
	return &Outbox{ctx: ctx, ch: make(chan hearken.StreamEvent)}
}

// Events is the channel to read from.
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
	o.startDelivery()
}

// replaces reports whether an event makes the one before it obsolete.
func replaces(kind, before hearken.StreamEventKind) bool {
	return kind == before && (kind == hearken.Partial || kind == hearken.Progress)
}

// Close closes the channel after everything in it was read, or the stream's
// context has ended.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		o.startDelivery()
	}
}

// startDelivery starts a goroutine to deliver what is queued, unless one does.
func (o *Outbox) startDelivery() {
	if !o.sending {
		o.sending = true
		go o.deliver()
	}
}

func (o *Outbox) deliver() {
	for e, ok := o.next(); ok; e, ok = o.next() {
		select {
		case o.ch <- e:
		case <-o.ctx.Done(): // the reader may be gone
		}
	}
}

func (o *Outbox) next() (e hearken.StreamEvent, ok bool) {
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

// When a stretch without speech gets an entry of its own, in samples.
const (
	MinSilence = 5 * hearken.SampleRate  // a shorter one gets none
	MaxSilence = 60 * hearken.SampleRate // a longer one gets an entry each minute
)

// Seconds is the time of a position on the session's clock.
func Seconds(pos int64) float64 { return float64(pos) / hearken.SampleRate }

// Position is the position at a time on the session's clock.
func Position(seconds float64) int64 { return int64(math.Round(seconds * hearken.SampleRate)) }

// SilenceEvent is the event for a stretch without speech between two positions.
func SilenceEvent(from, to, finalUntil int64, language string) hearken.StreamEvent {
	return hearken.StreamEvent{Kind: hearken.Final, FinalUntil: finalUntil, Segment: hearken.Segment{
		Status: hearken.NoSpeech, IsFinal: true, StartTime: Seconds(from), EndTime: Seconds(to), Language: language,
	}}
}
