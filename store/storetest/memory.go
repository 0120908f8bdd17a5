package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store"
)

var _ hearken.Store = (*Memory)(nil)

// Memory is a store without files, for tests that need a quick one. It touches
// no disk, starts no goroutine and passes the suite.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	keys     map[string]hearken.Key
	owner    *hearken.StoreOwner
	exposed  map[string]time.Time
	heads    map[string]hearken.AuditHead
	actions  map[string]*hearken.Action
	alarms   map[string]*hearken.Alarm
	grants   map[string]*hearken.Grant
	contacts map[string]*hearken.Contact
}

type memorySession struct {
	session  hearken.Session
	segments []hearken.Segment // in the order of their lines
	note     *hearken.Note
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{
		sessions: map[string]*memorySession{}, keys: map[string]hearken.Key{}, heads: map[string]hearken.AuditHead{},
		actions: map[string]*hearken.Action{}, alarms: map[string]*hearken.Alarm{},
		grants: map[string]*hearken.Grant{}, contacts: map[string]*hearken.Contact{},
	}
}

// find locks the store, which the caller unlocks, and looks for a session.
func (m *Memory) find(ctx context.Context, id string) (*memorySession, error) {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r := m.sessions[id]; r != nil {
		return r, nil
	}
	return nil, store.NoSession(id)
}

func (m *Memory) Save(ctx context.Context, s *hearken.Session, segments []hearken.Segment) error {
	r, err := m.find(ctx, s.ID)
	defer m.mu.Unlock()
	if hearken.CodeOf(err) == hearken.SessionNotFound {
		r, err = &memorySession{}, nil
	}
	if err != nil {
		return err
	}
	if err := store.CheckSession(s, segments); err != nil {
		return err
	}
	m.sessions[s.ID] = r
	r.session = *s
	r.session.StartedAt, r.session.StoppedAt = store.RoundTime(s.StartedAt), store.RoundTimePtr(s.StoppedAt)
	for _, g := range segments {
		if at, exists := r.line(g.Line); !exists {
			g.Timestamp = store.RoundTime(g.Timestamp)
			g.Words = slices.Clone(g.Words)
			r.segments = slices.Insert(r.segments, at, g)
		}
	}
	return nil
}

func (r *memorySession) line(line int) (at int, exists bool) {
	return slices.BinarySearchFunc(r.segments, line, func(g hearken.Segment, line int) int { return cmp.Compare(g.Line, line) })
}

func (m *Memory) Session(ctx context.Context, id string) (*hearken.Session, error) {
	r, err := m.find(ctx, id)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s := r.session
	return &s, nil
}

func (m *Memory) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []hearken.Session
	for _, r := range m.sessions {
		all = append(all, r.session)
	}
	return store.SelectSessions(all, f), ctx.Err()
}

func (m *Memory) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	r, err := m.find(ctx, id)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	from, _ := r.line(line)
	found := slices.Clone(r.segments[from:][:min(max(limit, 0), len(r.segments)-from)])
	for i := range found {
		found[i].Words = slices.Clone(found[i].Words)
		if !words {
			found[i].Words = nil
		}
	}
	return found, nil
}

func (m *Memory) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	clauses, err := q.Clauses()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var hits []hearken.Hit
	for id, r := range m.sessions {
		if q.Session != "" && q.Session != id {
			continue
		}
		for _, g := range r.segments {
			if q.Matches(clauses, &g) {
				g.Words = nil
				hits = append(hits, hearken.Hit{Session: id, Title: r.session.Title, StartedAt: r.session.StartedAt, Segment: g})
			}
		}
	}
	store.SortHits(hits)
	hits = hits[:min(len(hits), hearken.SearchDepth)]
	if q.Ranked {
		hearken.Rank(clauses, hits)
	}
	return hits[:min(len(hits), q.Count())], ctx.Err()
}

func (m *Memory) Delete(ctx context.Context, id string) error {
	_, err := m.find(ctx, id)
	defer m.mu.Unlock()
	if err == nil {
		delete(m.sessions, id)
	}
	return err
}

func (m *Memory) Forget(ctx context.Context, id string, from, to float64) error {
	r, err := m.find(ctx, id)
	defer m.mu.Unlock()
	if err == nil {
		r.segments = slices.DeleteFunc(slices.Clone(r.segments), func(g hearken.Segment) bool { return g.SaidBetween(from, to) })
	}
	return err
}

func (m *Memory) SaveNote(ctx context.Context, n *hearken.Note) error {
	r, err := m.find(ctx, n.Session)
	defer m.mu.Unlock()
	if err == nil {
		note := *n
		note.SavedAt = store.RoundTime(n.SavedAt)
		r.note = &note
	}
	return err
}

func (m *Memory) Note(ctx context.Context, session string) (*hearken.Note, error) {
	r, err := m.find(ctx, session)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if r.note == nil {
		return nil, store.NoNote(session)
	}
	note := *r.note
	return &note, nil
}

func (m *Memory) SaveKey(ctx context.Context, k *hearken.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := *k
	key.CreatedAt, key.RevokedAt = store.RoundTime(k.CreatedAt), store.RoundTimePtr(k.RevokedAt)
	m.keys[k.ID] = key
	return ctx.Err()
}

func (m *Memory) Keys(ctx context.Context) ([]hearken.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.keys), func(a, b hearken.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}), ctx.Err()
}

func (m *Memory) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owner = &hearken.StoreOwner{DataDir: o.DataDir, PIN: slices.Clone(o.PIN), SavedAt: store.RoundTime(o.SavedAt)}
	return ctx.Err()
}

func (m *Memory) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == nil {
		return nil, store.NoOwner()
	}
	o := *m.owner
	o.PIN = slices.Clone(o.PIN)
	return &o, ctx.Err()
}

func (m *Memory) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exposed == nil {
		m.exposed = map[string]time.Time{}
	}
	if m.exposed[principal].Before(at) {
		m.exposed[principal] = store.RoundTime(at)
	}
	return ctx.Err()
}

func (m *Memory) Exposures(ctx context.Context) (map[string]time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]time.Time{}
	maps.Copy(found, m.exposed)
	return found, ctx.Err()
}

func (m *Memory) SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	head := *h
	head.SavedAt = store.RoundTime(h.SavedAt)
	m.heads[h.Name] = head
	return ctx.Err()
}

func (m *Memory) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.heads), func(a, b hearken.AuditHead) int { return cmp.Compare(a.Name, b.Name) }), ctx.Err()
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
