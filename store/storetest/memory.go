package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Store = (*Memory)(nil)

// Memory is a store that keeps nothing: for tests that need one that is quick,
// touches no disk and starts no goroutine. It passes the suite.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*remembered
	keys     map[string]hearken.Key
	owner    *hearken.StoreOwner
	actions  map[string]*hearken.Action
	alarms   map[string]*hearken.Alarm
	grants   map[string]*hearken.Grant
	contacts map[string]*hearken.Contact
}

type remembered struct {
	session  hearken.Session
	segments []hearken.Segment // in the order of their lines
	note     *hearken.Note
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{
		sessions: map[string]*remembered{}, keys: map[string]hearken.Key{},
		actions: map[string]*hearken.Action{}, alarms: map[string]*hearken.Alarm{},
		grants: map[string]*hearken.Grant{}, contacts: map[string]*hearken.Contact{},
	}
}

// find takes the lock, which the caller gives back, and looks for a session.
func (m *Memory) find(ctx context.Context, id string) (*remembered, error) {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r := m.sessions[id]; r != nil {
		return r, nil
	}
	return nil, hearken.Errorf(hearken.SessionNotFound, "There is no session %s.", id)
}

func (m *Memory) Save(ctx context.Context, s *hearken.Session, segments []hearken.Segment) error {
	r, err := m.find(ctx, s.ID)
	defer m.mu.Unlock()
	if hearken.CodeOf(err) == hearken.SessionNotFound {
		r, err = &remembered{}, nil
	}
	if err != nil {
		return err
	}
	if !hearken.ValidID(s.ID) {
		return hearken.Errorf(hearken.Invalid, "The session id %q is not a UUID.", s.ID)
	}
	if slices.ContainsFunc(segments, func(g hearken.Segment) bool { return g.Line < 1 }) {
		return hearken.Errorf(hearken.Invalid, "A segment has no line.")
	}
	m.sessions[s.ID] = r
	r.session = *s
	r.session.StartedAt, r.session.StoppedAt = kept(s.StartedAt), keptPtr(s.StoppedAt)
	for _, g := range segments {
		if at, there := r.line(g.Line); !there {
			g.Timestamp = kept(g.Timestamp)
			g.Words = slices.Clone(g.Words)
			r.segments = slices.Insert(r.segments, at, g)
		}
	}
	return nil
}

func (r *remembered) line(line int) (at int, there bool) {
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
	var found []hearken.Session
	for _, r := range m.sessions {
		if s := r.session; (f.Status == "" || s.Status == f.Status) && within(s.StartedAt, f.Since, f.Until) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b hearken.Session) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
	})
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	return found, ctx.Err()
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
			terms := hearken.Terms(g.Text)
			if g.Spoken() && within(g.Timestamp, q.Since, q.Until) &&
				!slices.ContainsFunc(clauses, func(c hearken.Clause) bool { return !c.Matches(terms) }) {
				g.Words = nil
				hits = append(hits, hearken.Hit{Session: id, Title: r.session.Title, StartedAt: r.session.StartedAt, Segment: g})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hearken.Hit) int {
		return cmp.Or(b.Segment.Timestamp.Compare(a.Segment.Timestamp),
			cmp.Compare(b.Session, a.Session), cmp.Compare(b.Segment.Line, a.Segment.Line))
	})
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

func (m *Memory) Forget(ctx context.Context, id string, line int) error {
	r, err := m.find(ctx, id)
	defer m.mu.Unlock()
	if err == nil {
		from, _ := r.line(line)
		r.segments = slices.Clone(r.segments[:from])
	}
	return err
}

func (m *Memory) SaveNote(ctx context.Context, n *hearken.Note) error {
	r, err := m.find(ctx, n.Session)
	defer m.mu.Unlock()
	if err == nil {
		note := *n
		note.SavedAt = kept(n.SavedAt)
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
		return nil, hearken.Errorf(hearken.NotFound, "The session %s has no note.", session)
	}
	note := *r.note
	return &note, nil
}

func (m *Memory) SaveKey(ctx context.Context, k *hearken.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := *k
	key.CreatedAt, key.RevokedAt = kept(k.CreatedAt), keptPtr(k.RevokedAt)
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
	m.owner = &hearken.StoreOwner{DataDir: o.DataDir, PIN: slices.Clone(o.PIN), SavedAt: kept(o.SavedAt)}
	return ctx.Err()
}

func (m *Memory) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == nil {
		return nil, hearken.Errorf(hearken.NotFound, "The store has no owner.")
	}
	o := *m.owner
	o.PIN = slices.Clone(o.PIN)
	return &o, ctx.Err()
}

// Close does nothing.
func (m *Memory) Close() error { return nil }

// kept is a time as all stores keep it.
func kept(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func keptPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := kept(*t)
	return &u
}

// within reports whether t is at or after since and before until, where given.
func within(t, since, until time.Time) bool {
	return (since.IsZero() || !t.Before(since)) && (until.IsZero() || t.Before(until))
}
