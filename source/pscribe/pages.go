package pscribe

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// confirmWithin is how long a segment may stay unconfirmed. An older one will never
// be confirmed.
const confirmWithin = time.Minute

// pages groups what was printed by session. A new session begins where a line names
// one, where a table begins, and where the segment numbers start again.
func pages(records iter.Seq[record]) []hearken.ScribePage {
	var all []hearken.ScribePage
	var page *hearken.ScribePage // the current one
	var numbers numbering
	var raw []string
	finish := func() {
		if page != nil {
			page.Raw = strings.Join(raw, "\n")
			page.Entries = dropSuperseded(page.Entries)
			page.Next = nextLine(page.Entries, 0)
			all = append(all, *page)
		}
	}
	next := func(session string) {
		finish()
		page, numbers, raw = &hearken.ScribePage{Session: session}, numbering{}, nil
	}
	for r := range records {
		named := r.session != "" && (page == nil || page.Session != r.session)
		switch {
		case r.kind == isSeparator, page == nil && r.kind == isHeader:
			continue
		case page == nil,
			named && (len(page.Entries) > 0 || page.Session != ""),
			r.kind == isHeader && len(page.Entries) > 0,
			r.kind == isEntry && numbers.restart(r.entry):
			next(r.session)
		case named:
			page.Session = r.session
		}
		switch r.kind {
		case isEntry:
			page.Entries = append(page.Entries, r.entry)
			numbers.add(r.entry)
		case isRaw:
			raw = append(raw, r.raw)
		}
	}
	finish()
	return all
}

// numbering follows the segment numbers of one session.
type numbering struct {
	last hearken.Segment // with the highest number
	seen map[string]hearken.Segment
}

func (n *numbering) add(e hearken.Segment) {
	if n.seen == nil {
		n.seen = map[string]hearken.Segment{}
	}
	if e.Line >= n.last.Line {
		n.last = e
	}
	if !n.seen[e.ID].IsFinal {
		n.seen[e.ID] = e
	}
}

// restart reports whether e belongs to a new session: its number existed already
// with other words, or its number is lower and its time is not slightly earlier.
// Numbers also go back a little if two people speak at once.
func (n *numbering) restart(e hearken.Segment) bool {
	if len(n.seen) == 0 || e.Line > n.last.Line {
		return false
	}
	if old, ok := n.seen[e.ID]; ok {
		far := e.Timestamp.Sub(old.Timestamp).Abs() > confirmWithin
		return far || old.IsFinal && e.IsFinal && !sameEntry(old, e)
	}
	earlier := n.last.Timestamp.Sub(e.Timestamp)
	if e.Line == n.last.Line {
		return earlier.Abs() > confirmWithin
	}
	return earlier < 0 || earlier > confirmWithin
}

func sameEntry(a, b hearken.Segment) bool {
	return a.Status == b.Status && a.Text == b.Text && a.Timestamp.Equal(b.Timestamp)
}

// dropSuperseded keeps the final state of each segment: an unconfirmed entry stays
// only if no later and no confirmed one follows. It sorts by segment number.
func dropSuperseded(entries []hearken.Segment) []hearken.Segment {
	last := map[string]int{} // the index of the entry that stands for an id
	kept := entries[:0:0]
	for _, e := range entries {
		i, ok := last[e.ID]
		switch {
		case !ok:
			last[e.ID] = len(kept)
			kept = append(kept, e)
		case !kept[i].IsFinal:
			kept[i] = e
		case e.IsFinal && !sameEntry(kept[i], e):
			kept = append(kept, e) // impossible, but no words may be lost
		}
	}
	slices.SortStableFunc(kept, func(a, b hearken.Segment) int { return a.Line - b.Line })
	return kept
}

// nextLine is the line from which a reader continues that has seen these entries
// and everything before since.
func nextLine(entries []hearken.Segment, since int) int {
	first := 0 // the first line that is not final
	for _, e := range entries {
		if e.IsFinal {
			since = max(since, e.Line+1)
		} else if first == 0 {
			first = e.Line
		}
	}
	if since == 0 {
		since = first
	}
	return max(since, 1)
}

// filter keeps the entries that f selects.
func filter(entries []hearken.Segment, f hearken.StatusFilter) []hearken.Segment {
	return slices.DeleteFunc(entries, func(e hearken.Segment) bool { return !f.Matches(e.Status) })
}
