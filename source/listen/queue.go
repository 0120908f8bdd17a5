package listen

import (
	"errors"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
)

// maxQueued is how many bytes of events wait for a sender that reads slowly:
// hours of speech, at most.
const maxQueued = 4 << 20

// errHopeless is why a sender is cut off that does not read at all.
var errHopeless = errors.New("the reader is too far behind")

// An item is an event of the hub's, or a Finalize of the sender's in its place
// among them.
type item struct {
	hearken.InputEvent
	finalize *request
	size     int
}

// A request is a Finalize.
type request struct {
	at      float64 // in seconds of sound
	channel int     // negative for all
}

// A queue keeps what a sender is to be told until it takes it, however slowly.
// The hub itself would drop words; this drops only what newer events replace.
type queue struct {
	mu    sync.Mutex
	items []item
	bytes int
	wake  chan struct{} // there is something
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds an item. It fails when there is no hope that the sender takes what
// there is.
func (q *queue) put(it item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes > maxQueued {
		return errHopeless
	}
	it.size = sizeOf(it.InputEvent)
	if !q.replaced(it) {
		q.items = append(q.items, it)
		q.bytes += it.size
	}
	if q.bytes > maxQueued {
		return errHopeless
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// replaced puts an item in the place of one that it makes obsolete: what is
// unconfirmed, and how far the words are final, is only of interest in its
// newest form. A final ends what was unconfirmed.
func (q *queue) replaced(it item) bool {
	switch it.Kind {
	case hearken.InputFinal:
		q.items = slices.DeleteFunc(q.items, func(old item) bool {
			gone := old.Kind == hearken.InputPartial && old.Origin == it.Origin
			if gone {
				q.bytes -= old.size
			}
			return gone
		})
	case hearken.InputPartial, hearken.InputProgress:
		for i := len(q.items) - 1; i >= 0; i-- {
			old := &q.items[i]
			if old.finalize != nil || old.Origin == it.Origin && old.Kind == hearken.InputFinal {
				return false
			}
			if old.Origin == it.Origin && old.Kind == it.Kind {
				q.bytes += it.size - old.size
				*old = it
				return true
			}
		}
	}
	return false
}

// take returns everything there is.
func (q *queue) take() []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items, q.bytes = nil, 0
	return items
}

// sizeOf is about as much memory as an event takes.
func sizeOf(ev hearken.InputEvent) int {
	size := 256
	if s := ev.Segment; s != nil {
		size += len(s.Text)
		for i := range s.Words {
			size += 96 + 2*len(s.Words[i].Word)
		}
	}
	return size
}
