package scribe

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
)

// A SessionStore stores the words of a foreign scribe. It is the hub, so that
// its lists show them at once.
type SessionStore interface {
	Session(ctx context.Context, id string) (*hearken.Session, error)
	Save(ctx context.Context, info *hearken.Session, entries []hearken.Segment) error
}

// RecorderConfig configures [Record]. Store is required.
type RecorderConfig struct {
	Store     SessionStore
	Principal string // owns the sessions
	Log       *slog.Logger
}

// pollWait is how long one poll waits for new entries, and retryPause how long
// to wait after a foreign scribe failed.
const (
	pollWait   = 30 * time.Second
	retryPause = 5 * time.Second
)

// A Recorder also saves what a foreign scribe such as ParrotScribe transcribes.
// By default the hub stores nothing of it; if the owner asks for it, the
// Recorder copies each session, so that it can be searched, exported and cited
// like any other. A copy that was deleted stays deleted.
type Recorder struct {
	hearken.Scribe
	cfg  RecorderConfig
	work sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc

	mu       sync.Mutex
	followed map[string]bool // sessions that are being copied
}

// Record wraps a foreign scribe and saves its sessions.
func Record(s hearken.Scribe, cfg RecorderConfig) *Recorder {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	r := &Recorder{Scribe: s, cfg: cfg, followed: map[string]bool{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Close stops saving. The foreign scribe keeps running.
func (r *Recorder) Close(context.Context) error {
	r.stop()
	r.work.Wait()
	return nil
}

// Start starts or continues a capture, and saves the session from its first
// word.
func (r *Recorder) Start(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return r.follow(r.Scribe.Start(ctx, req))
}

// New continues in a new session, which is saved as well.
func (r *Recorder) New(ctx context.Context, req hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return r.follow(r.Scribe.New(ctx, req))
}

// Status reports what the foreign scribe is doing. A session that it started by
// itself is saved from now on.
func (r *Recorder) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return r.follow(r.Scribe.Status(ctx))
}

// follow starts copying the session of a status that says one is running.
func (r *Recorder) follow(st *hearken.ScribeStatus, err error) (*hearken.ScribeStatus, error) {
	if err != nil || !st.Running || st.Session == "" {
		return st, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.followed[st.Session] && r.ctx.Err() == nil {
		r.followed[st.Session] = true
		session, since := st.Session, st.Since
		r.work.Go(func() { r.copy(session, since) })
	}
	return st, nil
}

// copy saves a session until it ends.
func (r *Recorder) copy(foreign string, since time.Time) {
	c := &copiedSession{id: uuid.NewSHA1(uuid.NameSpaceURL, []byte("pscribe:"+foreign)).String(), foreign: foreign, since: since}
	for next, over := 1, false; r.ctx.Err() == nil; {
		page, err := r.Scribe.Tail(r.ctx, hearken.TailRequest{Session: foreign, N: batch, SinceLine: next, Wait: pollWait, Echo: true})
		if err == nil {
			var deleted bool
			if deleted, err = r.save(c, page.Entries); deleted {
				return // the user deleted the copy
			}
		}
		if err != nil && r.ctx.Err() == nil {
			r.cfg.Log.Warn("session of a foreign scribe not saved", "session", c.id, "error", err)
			sleep(r.ctx, retryPause)
		}
		if err != nil {
			continue
		}
		if page.Next > next {
			next = page.Next
			continue
		}
		st, err := r.Scribe.Status(r.ctx)
		switch {
		case err == nil && st.Running && st.Session == foreign:
			sleep(r.ctx, time.Second) // some scribes return at once
		case over:
			r.mu.Lock()
			delete(r.followed, foreign) // it is followed again if it restarts
			r.mu.Unlock()
			return
		default: // its last words may still arrive
			over = true
			sleep(r.ctx, finalWordsTimeout)
		}
	}
}

// copiedSession is the copy of a foreign session.
type copiedSession struct {
	id, foreign string
	since       time.Time
	lines       int
	saved       bool
	end         float64
}

// save appends the confirmed entries. It renumbers them, since a foreign
// translation has the line of its original. It reports whether the copy was
// deleted meanwhile.
func (r *Recorder) save(c *copiedSession, entries []hearken.Segment) (deleted bool, err error) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e hearken.Segment) bool { return e.Status == hearken.Unconfirmed })
	if len(entries) == 0 {
		return false, nil
	}
	if c.saved {
		if _, err := r.cfg.Store.Session(r.ctx, c.id); err != nil {
			return hearken.CodeOf(err) == hearken.SessionNotFound, err
		}
	}
	if c.since.IsZero() {
		c.since = entries[0].Timestamp
	}
	lines, end := c.lines, c.end
	for i := range entries {
		e := &entries[i]
		lines++
		length := e.EndTime - e.StartTime
		e.Line, e.ID = lines, fmt.Sprintf("%s0-%d", e.Origin, lines)
		e.StartTime = max(0, e.Timestamp.Sub(c.since).Seconds())
		e.EndTime = e.StartTime + length
		e.IsFinal, e.Durable = true, true
		end = max(end, e.EndTime)
	}
	last := entries[len(entries)-1].Timestamp
	err = r.cfg.Store.Save(r.ctx, &hearken.Session{
		ID: c.id, Title: "ParrotScribe " + c.foreign, Status: hearken.Stopped, StopReason: hearken.StopFinished,
		Language: entries[0].Language, Provider: "pscribe", StartedAt: c.since.UTC(), StoppedAt: &last, Duration: end,
		SegmentCount: lines, Config: hearken.SessionConfig{Capture: true}, Principal: r.cfg.Principal,
	}, entries)
	if err == nil {
		c.lines, c.end, c.saved = lines, end, true
	}
	return false, err
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
