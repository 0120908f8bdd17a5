package evidence

import (
	"sync"

	"github.com/hearken-dev/hearken"
)

// cacheBytes is how much text each half of a cache holds. Its tokens take some
// twenty times as much memory.
const cacheBytes = 512 << 10

// A cache holds the tokens of entries, which never change once confirmed. It
// has two halves; when the newer is full, the older is dropped.
type cache struct {
	mu         sync.Mutex
	young, old map[string]cut
	size       int // of the texts in young
}

// A cut is an entry's text and its tokens.
type cut struct {
	text     string
	toks     []token
	squashed string
}

// get returns the tokens of an entry with their times.
func (c *cache) get(session string, seg *hearken.Segment) cut {
	key := session + "/" + seg.ID
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[key]; ok && v.text == seg.Text {
		return v
	}
	v, ok := c.old[key]
	if !ok || v.text != seg.Text {
		toks := timed(seg)
		v = cut{seg.Text, toks, squash(toks)}
	}
	if c.young == nil || c.size+len(v.text) > cacheBytes {
		c.old, c.young, c.size = c.young, map[string]cut{}, 0
	}
	c.young[key] = v
	c.size += len(v.text)
	return v
}

// timed returns the tokens of an entry with their times: that of their word, if
// measured, else their share of the entry's time.
func timed(seg *hearken.Segment) []token {
	toks := tokens(seg.Text)
	if measured(seg) {
		var at []float64
		for _, w := range seg.Words {
			for range tokens(w.Word) {
				at = append(at, w.StartTime)
			}
		}
		if len(at) == len(toks) {
			for i := range toks {
				toks[i].at = at[i]
			}
			return toks
		}
	}
	share := (seg.EndTime - seg.StartTime) / float64(max(len(toks), 1))
	for i := range toks {
		toks[i].at = seg.StartTime + float64(i)*share
	}
	return toks
}

// measured reports whether the times of an entry's words were measured.
func measured(seg *hearken.Segment) bool { return len(seg.Words) > 0 && !seg.Estimated }
