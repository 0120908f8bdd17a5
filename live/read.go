package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// Session finds a session, active or stored.
func (h *Hub) Session(ctx context.Context, id string) (*hearken.Session, error) {
	if s := h.find(id); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return new(s.snapshotLocked()), nil
	}
	return h.stored(ctx, id)
}

// HasLine reports whether an entry of a session exists: it may have been
// deleted, alone or with its session.
func (h *Hub) HasLine(ctx context.Context, id string, line int) (bool, error) {
	if s := h.find(id); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, found := findLine(s.segments, line)
		return found && s.phase != gone, nil
	}
	found, err := h.cfg.Store.Segments(ctx, id, line, 1, false)
	if hearken.CodeOf(err) == hearken.SessionNotFound {
		return false, nil
	}
	return len(found) > 0 && found[0].Line == line, storeFailed(err)
}

// Sessions lists sessions, newest first.
func (h *Hub) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	// Memory first: a session that stops meanwhile is in one or in both, never in
	// neither.
	inMemory := h.list()
	list, err := h.lists.get(f, func() ([]hearken.Session, error) { return h.cfg.Store.Sessions(ctx, f) })
	if err != nil {
		return nil, storeFailed(err)
	}
	list = slices.Clone(list)
	at := make(map[string]int, len(list))
	for i, info := range list {
		at[info.ID] = i
	}
	stale := false
	for _, s := range inMemory {
		s.mu.Lock()
		info, dead := s.snapshotLocked(), s.phase == gone
		s.mu.Unlock()
		i, known := at[info.ID]
		switch {
		case known && (dead || !matches(f, &info)):
			list[i].ID, stale = "", true
		case known:
			list[i] = info
		case !dead && matches(f, &info):
			list, stale = append(list, info), true
		}
	}
	if stale {
		list = slices.DeleteFunc(list, func(s hearken.Session) bool { return s.ID == "" })
		slices.SortStableFunc(list, func(a, b hearken.Session) int { return b.StartedAt.Compare(a.StartedAt) })
	}
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
}

func matches(f hearken.SessionFilter, s *hearken.Session) bool {
	return (f.Status == "" || f.Status == s.Status) &&
		(f.Since.IsZero() || !s.StartedAt.Before(f.Since)) &&
		(f.Until.IsZero() || s.StartedAt.Before(f.Until))
}

// Read returns entries of a session and waits for new ones if asked to.
func (h *Hub) Read(ctx context.Context, req ReadRequest) (*Page, error) {
	if req.Limit == 0 {
		req.Limit = 50
	}
	s := h.find(req.Session)
	if s == nil {
		req.Wait, req.Interim = 0, false // nothing more will come
		page, err := h.pages.get(req, func() (*Page, error) { return h.readStored(ctx, req) })
		if err != nil {
			return nil, err
		}
		own := *page
		own.Segments = slices.Clone(page.Segments)
		return &own, nil
	}
	if req.Wait > 0 {
		return s.readWaiting(ctx, req)
	}
	page, _ := s.readPage(req)
	return page, nil
}

// readWaiting reads and waits if there is nothing to read.
func (s *session) readWaiting(ctx context.Context, req ReadRequest) (*Page, error) {
	deadline := time.NewTimer(req.Wait)
	defer deadline.Stop()
	shown, changed := s.readPage(req)
	for {
		if len(shown.Segments) > 0 || shown.Session.Status == hearken.Stopped {
			return shown, nil
		}
		select {
		case <-changed:
		case <-deadline.C:
			return shown, nil
		case <-s.hub.closing:
			return shown, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		before := shown.Interim
		shown, changed = s.readPage(req)
		if req.Interim && !slices.EqualFunc(before, shown.Interim, sameText) {
			return shown, nil
		}
	}
}

func sameText(a, b hearken.Segment) bool { return a.ID == b.ID && a.Text == b.Text }

// readPage returns a page from memory and a channel that is closed at the next
// change.
func (s *session) readPage(req ReadRequest) (*Page, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := &Page{Session: s.snapshotLocked(), Total: s.info.SegmentCount}
	from := page.from(req.From)
	i, _ := findLine(s.segments, from+1)
	page.fill(s.segments[i:min(i+req.Limit, len(s.segments))], req)
	page.More = page.Next < s.info.SegmentCount && i+len(page.Segments) < len(s.segments)
	if req.Interim {
		for _, o := range channelOrigins {
			if seg, ok := s.interim[o]; ok {
				seg.Line = s.info.SegmentCount + 1
				page.Interim = append(page.Interim, seg)
			}
		}
	}
	return page, s.changed
}

func (h *Hub) readStored(ctx context.Context, req ReadRequest) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	info, err := h.stored(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	page := &Page{Session: *info, Total: info.SegmentCount}
	segments, err := h.cfg.Store.Segments(ctx, req.Session, page.from(req.From)+1, req.Limit, req.Words)
	if err != nil {
		return nil, storeFailed(err)
	}
	page.fill(segments, req)
	page.More = page.Next < page.Total && len(page.Segments) > 0
	return page, nil
}

// from is the line after which a page begins.
func (p *Page) from(from int) int {
	if from < 0 {
		from = max(0, p.Total+from)
	}
	p.Next = min(from, p.Total)
	return p.Next
}

// fill puts entries onto the page.
func (p *Page) fill(segments []hearken.Segment, req ReadRequest) {
	p.Segments = slices.Clone(segments)
	for i := range p.Segments {
		if !req.Words {
			p.Segments[i].Words = []hearken.Word{}
		}
		p.Next = p.Segments[i].Line
	}
}

// Segments yields all entries of a session in the order in which they were
// said, in batches.
func (h *Hub) Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error {
	info, err := h.Session(ctx, id)
	if err != nil {
		return err
	}
	if !info.Config.OutOfOrder {
		return h.segments(ctx, id, words, yield) // by line, which is the same order
	}
	var all []hearken.Segment
	err = h.segments(ctx, id, words, func(batch []hearken.Segment) error {
		all = append(all, batch...)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b hearken.Segment) int { return cmp.Compare(a.StartTime, b.StartTime) })
	for batch := range slices.Chunk(all, saveBatch) {
		if err := yield(batch); err != nil {
			return err
		}
	}
	return nil
}

// segments yields all entries of a session by line.
func (h *Hub) segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error {
	req := ReadRequest{Session: id, Limit: saveBatch, Words: words}
	for {
		page, err := h.Read(ctx, req)
		if err != nil {
			return err
		}
		if len(page.Segments) > 0 {
			if err := yield(page.Segments); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
		req.From = page.Next
	}
}

// Search finds entries in stored and active sessions.
func (h *Hub) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	// Memory first: an entry that is saved meanwhile is in one or in both, never
	// in neither.
	var hits []hearken.Hit
	for _, s := range h.list() {
		hits = append(hits, s.search(q, clauses)...)
	}
	stored, err := h.cfg.Store.Search(ctx, q)
	if err != nil {
		return nil, storeFailed(err)
	}
	if len(hits) == 0 {
		return stored, nil
	}
	type entry struct {
		session string
		line    int
	}
	inMemory := map[entry]bool{}
	for i := range hits {
		inMemory[entry{hits[i].Session, hits[i].Segment.Line}] = true
	}
	for _, hit := range stored {
		if !inMemory[entry{hit.Session, hit.Segment.Line}] {
			hits = append(hits, hit)
		}
	}
	slices.SortStableFunc(hits, func(a, b hearken.Hit) int {
		return cmp.Or(b.Segment.Timestamp.Compare(a.Segment.Timestamp), cmp.Compare(b.Segment.Line, a.Segment.Line))
	})
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], nil
}

// search searches what the store does not have yet.
func (s *session) search(q hearken.Query, clauses []hearken.Clause) []hearken.Hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == gone || q.Session != "" && q.Session != s.id {
		return nil
	}
	var hits []hearken.Hit
	from, _ := findLine(s.segments, s.saved+1)
	for _, seg := range s.segments[from:] {
		if !seg.Spoken() || !q.Since.IsZero() && seg.Timestamp.Before(q.Since) || !q.Until.IsZero() && !seg.Timestamp.Before(q.Until) {
			continue
		}
		terms := hearken.Terms(seg.Text)
		if !slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) }) {
			seg.Words = []hearken.Word{}
			hits = append(hits, hearken.Hit{Session: s.id, Title: s.info.Title, StartedAt: s.info.StartedAt, Segment: seg})
		}
	}
	return hits
}
