package pscribe

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// refining is how long a segment may be without being confirmed. One that was
// left unconfirmed for longer will not be confirmed any more.
const refining = time.Minute

// pages groups what was printed by session: by the id that a line names, by
// the heads of tables, and by where the segment numbers begin again.
func pages(records iter.Seq[record]) []hearken.ScribePage {
	var all []hearken.ScribePage
	var page *hearken.ScribePage // the one that grows
	var numbers numbering
	var raw []string
	finish := func() {
		if page != nil {
			page.Raw = strings.Join(raw, "\n")
			page.Entries = newest(page.Entries)
			page.Next = goOn(page.Entries, 0)
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

// restart reports whether e belongs to another session than what came before:
// its number was there already with other words, or it is lower without the
// time being a little earlier. Two people speaking at once make numbers go
// back a little, too.
func (n *numbering) restart(e hearken.Segment) bool {
	if len(n.seen) == 0 || e.Line > n.last.Line {
		return false
	}
	if old, ok := n.seen[e.ID]; ok {
		far := e.Timestamp.Sub(old.Timestamp).Abs() > refining
		return far || old.IsFinal && e.IsFinal && !same(old, e)
	}
	earlier := n.last.Timestamp.Sub(e.Timestamp)
	if e.Line == n.last.Line {
		return earlier.Abs() > refining
	}
	return earlier < 0 || earlier > refining
}

func same(a, b hearken.Segment) bool {
	return a.Status == b.Status && a.Text == b.Text && a.Timestamp.Equal(b.Timestamp)
}

// newest leaves of each segment what it came to in the end: an unconfirmed
// entry only if there is no later one and no confirmed one. The order is that
// of the segment numbers.
func newest(entries []hearken.Segment) []hearken.Segment {
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
		case e.IsFinal && !same(kept[i], e):
			kept = append(kept, e) // it cannot be, but no words are lost
		}
	}
	slices.SortStableFunc(kept, func(a, b hearken.Segment) int { return a.Line - b.Line })
	return kept
}

// goOn is the line from which a reader goes on who has seen the entries, and
// all before since.
func goOn(entries []hearken.Segment, since int) int {
	first := 0 // of those without a settled one
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

// filter leaves the entries that f takes.
func filter(entries []hearken.Segment, f hearken.StatusFilter) []hearken.Segment {
	return slices.DeleteFunc(entries, func(e hearken.Segment) bool { return !f.Matches(e.Status) })
}
