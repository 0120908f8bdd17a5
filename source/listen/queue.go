package listen

import (
	"errors"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
)

// maxQueued is how many bytes of events wait for a slow reader: at most hours
// of speech.
const maxQueued = 4 << 20

// errReaderTooSlow cuts off a client that does not read.
var errReaderTooSlow = errors.New("the reader is too far behind")

// A queueItem is an event of the hub, or a Finalize of the sender in its position
// among them.
type queueItem struct {
	hearken.InputEvent
	finalize *finalizeRequest
	size     int
}

// A finalizeRequest is a Finalize.
type finalizeRequest struct {
	at      float64 // in seconds of audio
	channel int     // negative for all
}

// A queue holds the events for a slow reader. The hub itself would drop words;
// the queue drops only what newer events replace.
type queue struct {
	mu    sync.Mutex
	items []queueItem
	bytes int
	wake  chan struct{} // there is an item
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds an item. It fails if the client is too far behind.
func (q *queue) put(it queueItem) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes > maxQueued {
		return errReaderTooSlow
	}
	it.size = sizeOf(it.InputEvent)
	if !q.replaceObsolete(it) {
		q.items = append(q.items, it)
		q.bytes += it.size
	}
	if q.bytes > maxQueued {
		return errReaderTooSlow
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// replaceObsolete replaces an older item by a newer one of its kind: only the
// newest partial and progress matter. A final removes the partials before it.
func (q *queue) replaceObsolete(it queueItem) bool {
	switch it.Kind {
	case hearken.InputFinal:
		q.items = slices.DeleteFunc(q.items, func(old queueItem) bool {
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

// takeAll removes and returns all items.
func (q *queue) takeAll() []queueItem {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items, q.bytes = nil, 0
	return items
}

// sizeOf estimates the memory that an event takes.
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
