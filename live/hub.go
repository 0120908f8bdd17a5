package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
)

// A Hub owns every active session. All methods may be called concurrently.
type Hub struct {
	cfg         Config
	openJournal func(path string) (journalFile, error)

	ctx     context.Context // ends with the hub
	cancel  context.CancelFunc
	work    sync.WaitGroup // background loops and finishing sessions
	saves   chan *session  // sessions that should be saved soon
	closing chan struct{}  // closed when the hub begins to close
	// editLock lets one change of a stored session run at a time, so that none
	// restores what another has just deleted. Sending acquires it.
	editLock chan struct{}
	// lastAudio is when audio last arrived in any session.
	lastAudio atomic.Pointer[time.Time]
	lists     cache[hearken.SessionFilter, []hearken.Session]
	pages     cache[ReadRequest, *Page]

	mu       sync.RWMutex
	sessions map[string]*session
	tickets  map[string]string // of sessions that have stopped
	closed   bool
}

// Open recovers the sessions that an earlier hub left and returns a hub that
// continues them.
func Open(ctx context.Context, cfg Config) (*Hub, error) {
	return open(ctx, cfg, openJournalFile)
}

func open(ctx context.Context, cfg Config, journals func(string) (journalFile, error)) (*Hub, error) {
	if len(cfg.Providers) == 0 || cfg.Store == nil {
		return nil, errors.New("a hub needs a store and a provider")
	}
	h := &Hub{
		cfg:         cfg.withDefaults(),
		openJournal: journals,
		saves:       make(chan *session, 64),
		closing:     make(chan struct{}),
		editLock:    make(chan struct{}, 1),
		sessions:    map[string]*session{},
		tickets:     map[string]string{},
	}
	h.lists.now, h.pages.now = h.cfg.Now, h.cfg.Now
	for _, dir := range []string{h.journalDir(), h.spoolDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, hearken.Errorf(hearken.RepositoryError, "the data directory cannot be written: %w.", err).
				WithTry("HEARKEN_DATA_DIR=DIR with a directory of your own")
		}
	}
	h.ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := h.recover(); err != nil {
		h.cancel()
		return nil, err
	}
	if len(h.sessions) > 0 {
		h.noteAudio(h.cfg.Now())
	}
	for _, loop := range []func(){h.flushLoop, h.syncLoop, h.saveLoop, h.watchLoop} {
		h.work.Go(loop)
	}
	for range backlogWorkers {
		h.work.Go(h.backlogLoop)
	}
	return h, nil
}

func (h *Hub) journalDir() string { return filepath.Join(h.cfg.Dir, "journal") }
func (h *Hub) spoolDir() string   { return filepath.Join(h.cfg.Dir, "spool") }
func (h *Hub) audioDir() string   { return filepath.Join(h.cfg.Dir, "audio") }

func (h *Hub) journalPath(id string) string {
	return filepath.Join(h.journalDir(), id+journalSuffix)
}

// Close takes in what engines still hold, until ctx ends, and saves. Sessions
// stay active: the next hub continues them if their senders return.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	sessions := h.listLocked()
	h.mu.Unlock()
	var drains sync.WaitGroup
	for _, s := range sessions {
		drains.Go(func() { s.drain(ctx) })
	}
	drains.Wait()
	h.cancel()
	h.work.Wait()
	errs := make([]error, len(sessions))
	for i, s := range sessions {
		drains.Go(func() { errs[i] = s.close(ctx) })
	}
	drains.Wait()
	return errors.Join(errs...)
}

// Start makes a session after checking that a provider can serve it.
func (h *Hub) Start(ctx context.Context, req hearken.StartRequest) (*hearken.Session, error) {
	info, err := h.newSessionInfo(req)
	if err != nil {
		return nil, err
	}
	s := newSession(h, *info, rand.Text())
	s.apiKey = req.APIKey
	refused, err := s.chooseEngine(ctx)
	if err != nil {
		return nil, s.explainRefusal(err)
	}
	if err := h.admit(s); err != nil {
		return nil, err
	}
	if !req.Recorded {
		h.noteAudio(h.cfg.Now()) // people may be speaking before their audio arrives
	}
	if refused != nil {
		s.addEvent(hearken.EventFailover, 0, 0, "[%s cannot serve this session: %s Continuing with %s.]", info.Provider, reason(refused), s.currentEngine())
	}
	return info, nil
}

// admit registers a new session.
func (h *Hub) admit(s *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return hearken.Errorf(hearken.Busy, "the hub is shutting down.")
	}
	if n := h.activeLocked(); n >= h.cfg.MaxSessions {
		return hearken.Errorf(hearken.Busy, "%d sessions are active, the most that this hub allows.", n).
			WithTry("stop_transcription for one that is no longer needed, or set MAX_SESSIONS")
	}
	h.sessions[s.id] = s
	s.journal.enqueue(s.headLocked()) // s is not shared yet
	s.markUnsavedLocked()
	return nil
}

// newSessionInfo makes a session from a request.
func (h *Hub) newSessionInfo(req hearken.StartRequest) (*hearken.Session, error) {
	names, err := h.chainOf(req)
	if err != nil {
		return nil, err
	}
	name := names[0]
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make session id: %w", err)
	}
	return &hearken.Session{
		ID:        id.String(),
		Title:     req.Title,
		Status:    hearken.Active,
		Language:  cmp.Or(req.Language, h.cfg.Languages[name], h.cfg.DefaultLanguage),
		Provider:  name,
		StartedAt: h.cfg.Now().UTC().Truncate(time.Millisecond), // stores keep no more
		Principal: req.Principal,
		Config: hearken.SessionConfig{
			Model:      req.Model,
			Vocabulary: req.Vocabulary,
			KeepAudio:  req.KeepAudio || h.cfg.KeepAudio,
			Translate:  req.Translate,
			Recorded:   req.Recorded,
			Capture:    req.Capture,
			Chain:      names[1:],

			Endpointing: int(req.Endpointing.Milliseconds()),
		},
	}, nil
}

// provider finds a provider by name, or returns nil.
func (h *Hub) provider(name string) hearken.Provider {
	for _, p := range h.cfg.Providers {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

func (h *Hub) noProvider(name string) error {
	var names []string
	for _, p := range h.cfg.Providers {
		names = append(names, p.Name())
	}
	return hearken.Errorf(hearken.ProviderNotConfigured, "there is no provider %q; available: %s.", name, strings.Join(names, ", "))
}

// find returns a session that the hub holds in memory, or nil.
func (h *Hub) find(id string) *session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[id]
}

// active returns a session that the hub holds, or the reason why it does not.
func (h *Hub) active(ctx context.Context, id string) (*session, error) {
	if s := h.find(id); s != nil {
		return s, nil
	}
	if _, err := h.stored(ctx, id); err != nil {
		return nil, err
	}
	return nil, alreadyStopped(id)
}

// stored finds a session in the store.
func (h *Hub) stored(ctx context.Context, id string) (*hearken.Session, error) {
	if !hearken.ValidID(id) {
		return nil, notFound(id)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	info, err := h.cfg.Store.Session(ctx, id)
	return info, storeFailed(err)
}

const (
	// readTimeout is how long a reader waits for the store.
	readTimeout = 5 * time.Second
	// eraseTimeout is how long a deletion may take: the store may have to
	// rewrite a large database.
	eraseTimeout = 2 * time.Minute
)

func notFound(id string) error {
	return hearken.Errorf(hearken.SessionNotFound, "there is no session %.60q.", id).WithTry("list_sessions")
}

// storeFailed gives an error of the store a code. It leaves nil alone.
func storeFailed(err error) error {
	if err == nil || hearken.CodeOf(err) != "" || errors.Is(err, context.Canceled) {
		return err
	}
	return hearken.Errorf(hearken.RepositoryError, "the store does not answer: %w.", err)
}

// dropCaches forgets cached answers of the store after a write.
func (h *Hub) dropCaches() {
	h.lists.drop()
	h.pages.drop()
}

// list returns the sessions that the hub holds.
func (h *Hub) list() []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.listLocked()
}

func (h *Hub) listLocked() []*session {
	return slices.Collect(maps.Values(h.sessions))
}

// Active is the number of sessions that have not stopped.
func (h *Hub) Active() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.activeLocked()
}

func (h *Hub) activeLocked() int {
	n := 0
	for _, s := range h.sessions {
		s.mu.Lock()
		if s.phase == running || s.phase == finishing {
			n++
		}
		s.mu.Unlock()
	}
	return n
}

// Ticket is the secret that lets its bearer send audio to one active session.
func (h *Hub) Ticket(id string) (string, error) {
	if s := h.find(id); s != nil {
		return s.ticket, nil
	}
	return "", alreadyStopped(id)
}

// CheckTicket reports whether ticket is that of session id and returns the
// principal that started it. The session may have stopped recently.
func (h *Hub) CheckTicket(id, ticket string) (principal string, ok bool) {
	same := func(own string) bool { return subtle.ConstantTimeCompare([]byte(own), []byte(ticket)) == 1 }
	h.mu.RLock()
	s, old := h.sessions[id], h.tickets[id]
	h.mu.RUnlock()
	if s == nil {
		return "", old != "" && same(old)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.Principal, same(s.ticket)
}
