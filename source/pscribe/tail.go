package pscribe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Tail returns the newest entries, or the oldest from a line on. With a wait
// it looks again until there is something settled to return.
func (s *Scribe) Tail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	if err := atLeast("n", req.N, 1); err != nil {
		return nil, err
	}
	if err := atLeast("since_line", req.SinceLine, 0); err != nil {
		return nil, err
	}
	if req.Wait < 0 {
		return nil, hearken.Errorf(hearken.Invalid, "The wait must not be negative: %s.", req.Wait)
	}
	deadline := s.now().Add(req.Wait)
	for {
		page, err := s.look(ctx, req)
		left := deadline.Sub(s.now())
		if err != nil || left <= 0 || hasNews(page, req.Filter) {
			return page, err
		}
		if err := pause(ctx, min(s.poll, left)); err != nil {
			return nil, s.startFailure("tail", err)
		}
	}
}

func hasNews(page *hearken.ScribePage, f hearken.StatusFilter) bool {
	return slices.ContainsFunc(page.Entries, func(e hearken.Segment) bool {
		return e.IsFinal || f == hearken.OnlyUnconfirmed
	})
}

// look is one Tail without a wait.
func (s *Scribe) look(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	read := s.last
	if req.SinceLine > 0 {
		read = s.from
	}
	v, err := read(ctx, req)
	if err != nil {
		return nil, err
	}
	page := &hearken.ScribePage{Session: cmp.Or(req.Session, v.session), Raw: strings.Join(v.raw, "\n")}
	entries := slices.DeleteFunc(v.entries, func(e hearken.Segment) bool { return e.Line < req.SinceLine })
	open := s.open(entries)
	entries = slices.DeleteFunc(entries, func(e hearken.Segment) bool { return e.IsFinal && e.Line >= open })
	last := lastSettled(entries)
	page.Entries = atMost(filter(entries, req.Filter), req.N, req.SinceLine > 0)
	page.Next = min(goOn(page.Entries, req.SinceLine), open)
	for _, e := range page.Entries {
		if e.Line < last { // settled or given up
			page.Next = max(page.Next, e.Line+1)
		}
	}
	return page, nil
}

// lastSettled is the highest line that is settled, or 0.
func lastSettled(entries []hearken.Segment) int {
	for _, e := range slices.Backward(entries) {
		if e.IsFinal {
			return e.Line
		}
	}
	return 0
}

// A view is what the program shows of a session.
type view struct {
	session string
	entries []hearken.Segment
	raw     []string
	rows    int // before only the newest of each segment was kept
}

// from reads all from a line on. The filter is not passed on: whether
// ParrotScribe counts the lines before or after filtering is its own affair,
// and what is still to be confirmed must be seen.
func (s *Scribe) from(ctx context.Context, req hearken.TailRequest) (view, error) {
	if _, err := withFilter(nil, req.Filter); err != nil {
		return view{}, err
	}
	return s.view(ctx, req.Session, 0, req.SinceLine, hearken.AllEntries)
}

// last reads the newest n. A segment that was refined has many rows: it reads
// more of them if n rows hold too few entries.
func (s *Scribe) last(ctx context.Context, req hearken.TailRequest) (view, error) {
	const most = 10_000
	n := req.N
	v, err := s.view(ctx, req.Session, n, 0, req.Filter)
	for err == nil && v.rows >= n && len(v.entries) < req.N && n < most {
		n *= 4
		v, err = s.view(ctx, req.Session, n, 0, req.Filter)
	}
	if err != nil {
		return v, err
	}
	line := s.doubt(v.entries, req.Filter)
	if line == 0 {
		return v, nil
	}
	all, err := s.view(ctx, req.Session, 0, line, hearken.AllEntries)
	if err != nil {
		return v, err
	}
	v.entries = slices.DeleteFunc(v.entries, func(e hearken.Segment) bool { return e.Line >= line })
	for _, e := range all.entries {
		if e.Line >= line {
			v.entries = append(v.entries, e)
		}
	}
	return v, nil
}

// doubt is the first line that may still be unconfirmed without being seen
// among the entries, or 0: the newest rows, and those that a filter lets
// through, do not tell.
func (s *Scribe) doubt(entries []hearken.Segment, f hearken.StatusFilter) int {
	const behind = 32 // segments that can begin while one is refined
	for i, e := range entries {
		switch {
		case !s.fresh(e):
			continue
		case i == 0 && e.Line > 1:
			return max(e.Line-behind, 1)
		case i == 0:
			continue
		}
		before := entries[i-1]
		if e.Line > before.Line+1 {
			return before.Line + 1
		}
		if !before.IsFinal && f != "" && f != hearken.AllEntries {
			return max(before.Line, 1)
		}
	}
	if f == hearken.OnlyUnconfirmed && len(entries) > 0 {
		return max(entries[0].Line, 1)
	}
	return 0
}

// fresh reports whether an entry is so new that it, or one beside it, may
// still have to be confirmed.
func (s *Scribe) fresh(e hearken.Segment) bool {
	return s.now().Sub(e.Timestamp) < refining
}

// open is the first line that is still to be confirmed. What was confirmed
// from there on waits for it: to show it now would be to show it twice, or to
// lose the other.
func (s *Scribe) open(entries []hearken.Segment) int {
	i := slices.IndexFunc(entries, func(e hearken.Segment) bool { return !e.IsFinal && s.fresh(e) })
	if i < 0 {
		return math.MaxInt
	}
	return max(entries[i].Line, 1)
}

func (s *Scribe) view(ctx context.Context, session string, n, from int, f hearken.StatusFilter) (view, error) {
	args, err := tailArgs(session, n, from, f)
	if err != nil {
		return view{}, err
	}
	out, err := s.run(ctx, args...)
	if err != nil {
		return view{}, err
	}
	var v view
	for r := range readLines(out.stdout) {
		if r.session != "" {
			v.session = r.session
		}
		switch r.kind {
		case isEntry:
			v.entries = append(v.entries, r.entry)
		case isRaw:
			v.raw = append(v.raw, r.raw)
		}
	}
	v.rows = len(v.entries)
	v.entries = newest(v.entries)
	return v, nil
}

// atMost takes the n oldest or newest entries. Entries of one line, such as a
// confirmed one and its translation, are not parted where that can be helped:
// whoever goes on from the next line would never see the rest.
func atMost(entries []hearken.Segment, n int, oldest bool) []hearken.Segment {
	if len(entries) <= n {
		return entries
	}
	if !oldest {
		return entries[len(entries)-n:]
	}
	cut := n
	for cut > 0 && entries[cut-1].Line == entries[cut].Line {
		cut--
	}
	if cut == 0 {
		cut = n
	}
	return entries[:cut]
}
