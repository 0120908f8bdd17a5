package pscribe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Tail returns the newest entries, or the oldest from a line on. With a wait it
// polls until there is a final entry.
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
		page, err := s.readTail(ctx, req)
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

// readTail is one Tail without a wait.
func (s *Scribe) readTail(ctx context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	read := s.readNewest
	if req.SinceLine > 0 {
		read = s.readFrom
	}
	v, err := read(ctx, req)
	if err != nil {
		return nil, err
	}
	page := &hearken.ScribePage{Session: cmp.Or(req.Session, v.session), Raw: strings.Join(v.raw, "\n")}
	entries := slices.DeleteFunc(v.entries, func(e hearken.Segment) bool { return e.Line < req.SinceLine })
	open := s.firstOpenLine(entries)
	entries = slices.DeleteFunc(entries, func(e hearken.Segment) bool { return e.IsFinal && e.Line >= open })
	last := lastFinal(entries)
	page.Entries = truncate(filter(entries, req.Filter), req.N, req.SinceLine > 0)
	page.Next = min(nextLine(page.Entries, req.SinceLine), open)
	for _, e := range page.Entries {
		if e.Line < last { // final, or never will be
			page.Next = max(page.Next, e.Line+1)
		}
	}
	return page, nil
}

// lastFinal is the highest line that is final, or 0.
func lastFinal(entries []hearken.Segment) int {
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
	rows    int // including superseded ones
}

// readFrom reads everything from a line on. It does not pass the filter on, because
// it must see what is unconfirmed, and ParrotScribe may count lines before or after
// filtering.
func (s *Scribe) readFrom(ctx context.Context, req hearken.TailRequest) (view, error) {
	if _, err := withFilter(nil, req.Filter); err != nil {
		return view{}, err
	}
	return s.view(ctx, req.Session, 0, req.SinceLine, hearken.AllEntries)
}

// readNewest reads the newest n entries. A segment may have many rows, one for each
// change. So it reads more rows if n rows hold too few entries.
func (s *Scribe) readNewest(ctx context.Context, req hearken.TailRequest) (view, error) {
	const maxRows = 10_000
	n := req.N
	v, err := s.view(ctx, req.Session, n, 0, req.Filter)
	for err == nil && v.rows >= n && len(v.entries) < req.N && n < maxRows {
		n *= 4
		v, err = s.view(ctx, req.Session, n, 0, req.Filter)
	}
	if err != nil {
		return v, err
	}
	line := s.firstUnseenLine(v.entries, req.Filter)
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

// firstUnseenLine is the first line that may still be unconfirmed and is not among
// the entries, or 0. The newest rows, or those that a filter selects, may not
// include it.
func (s *Scribe) firstUnseenLine(entries []hearken.Segment, f hearken.StatusFilter) int {
	const behind = 32 // segments that can begin before one is confirmed
	for i, e := range entries {
		switch {
		case !s.mayChange(e):
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

// mayChange reports whether an entry is so new that it, or one near it, may still be
// confirmed.
func (s *Scribe) mayChange(e hearken.Segment) bool {
	return s.now().Sub(e.Timestamp) < confirmWithin
}

// firstOpenLine is the first line that is still to be confirmed. Later confirmed
// entries wait for it: otherwise a reader would get them twice, or miss it.
func (s *Scribe) firstOpenLine(entries []hearken.Segment) int {
	i := slices.IndexFunc(entries, func(e hearken.Segment) bool { return !e.IsFinal && s.mayChange(e) })
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
	v.entries = dropSuperseded(v.entries)
	return v, nil
}

// truncate keeps the n oldest or newest entries. If possible, it does not separate
// entries of one line, such as a confirmed one and its translation: a reader that
// continues from the next line would never see the rest.
func truncate(entries []hearken.Segment, n int, oldest bool) []hearken.Segment {
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
