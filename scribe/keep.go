package scribe

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
)

// A SessionStore is where the words of a foreign scribe are kept: the hub, so that its
// lists show them at once.
type SessionStore interface {
	Session(ctx context.Context, id string) (*hearken.Session, error)
	Save(ctx context.Context, info *hearken.Session, entries []hearken.Segment) error
}

// RecorderConfig is what [Record] needs. Shelf is required.
type RecorderConfig struct {
	Shelf     SessionStore
	Principal string // who the sessions belong to
	Log       *slog.Logger
}

// keepWait is how long one look for news waits for it, and keepPause how long
// a foreign scribe that fails is left alone.
const (
	keepWait  = 30 * time.Second
	keepPause = 5 * time.Second
)

// A Recorder is a foreign scribe whose words are kept. A foreign scribe such as
// ParrotScribe keeps its transcripts itself and the hub keeps none of them,
// unless its owner asks for a copy that can be searched, exported and cited
// like every other session: this is who makes it. What was deleted of it stays
// deleted.
type Recorder struct {
	hearken.Scribe
	cfg  RecorderConfig
	work sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex
	follow map[string]bool // the sessions that somebody follows
}

// Record makes a foreign scribe one whose words are kept.
func Record(s hearken.Scribe, cfg RecorderConfig) *Recorder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	k := &Recorder{Scribe: s, cfg: cfg, follow: map[string]bool{}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// Close ends the keeping; the foreign scribe goes on by itself.
func (k *Recorder) Close(context.Context) error {
	k.stop()
	k.work.Wait()
	return nil
}

// Start begins or goes on, and keeps what is said from the session's first
// word on.
func (k *Recorder) Start(ctx context.Context) (*hearken.ScribeStatus, error) {
	return k.kept(k.Scribe.Start(ctx))
}

// New goes on in a new session, which is kept as well.
func (k *Recorder) New(ctx context.Context) (*hearken.ScribeStatus, error) {
	return k.kept(k.Scribe.New(ctx))
}

// Status tells what the foreign scribe does. A session that was started
// without us is kept from now on, too.
func (k *Recorder) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return k.kept(k.Scribe.Status(ctx))
}

// kept follows the session of a status that says that one runs.
func (k *Recorder) kept(st *hearken.ScribeStatus, err error) (*hearken.ScribeStatus, error) {
	if err != nil || !st.Running || st.Session == "" {
		return st, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.follow[st.Session] && k.ctx.Err() == nil {
		k.follow[st.Session] = true
		since := st.Since
		k.work.Go(func() { k.copy(st.Session, since) })
	}
	return st, nil
}

// copy writes a session to the shelf until it is over.
func (k *Recorder) copy(foreign string, since time.Time) {
	c := &kept{id: uuid.NewSHA1(uuid.NameSpaceURL, []byte("pscribe:"+foreign)).String(), foreign: foreign, since: since}
	for next, over := 1, false; k.ctx.Err() == nil; {
		page, err := k.Scribe.Tail(k.ctx, hearken.TailRequest{Session: foreign, N: batch, SinceLine: next, Wait: keepWait, Echo: true})
		if err == nil {
			var gone bool
			if gone, err = k.save(c, page.Entries); gone {
				return // it was deleted, and that is to be respected
			}
		}
		switch {
		case err != nil && k.ctx.Err() == nil:
			k.cfg.Log.Warn("words of a foreign scribe not kept", "session", c.id, "error", err)
			rest(k.ctx, keepPause)
			continue
		case err != nil:
			return
		}
		if page.Next > next {
			next = page.Next
			continue
		}
		switch running := k.goesOn(foreign); {
		case running:
			rest(k.ctx, time.Second) // some scribes do not wait
		case over:
			k.letGo(foreign)
			return
		default: // its last words are still to come
			over = true
			rest(k.ctx, lastWords)
		}
	}
}

// goesOn tells whether the foreign scribe is still at work on a session.
func (k *Recorder) goesOn(foreign string) bool {
	st, err := k.Scribe.Status(k.ctx)
	return err == nil && st.Running && st.Session == foreign
}

// letGo has a session followed anew if it is begun again.
func (k *Recorder) letGo(foreign string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.follow, foreign)
}

// kept is the copy of a foreign session.
type kept struct {
	id, foreign string
	since       time.Time
	lines       int
	saved       bool
	end         float64
}

// save appends what is settled, numbered anew: a translation has the number of
// what it translates. It reports whether the copy was deleted meanwhile.
func (k *Recorder) save(c *kept, entries []hearken.Segment) (gone bool, err error) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e hearken.Segment) bool { return e.Status == hearken.Unconfirmed })
	if len(entries) == 0 {
		return false, nil
	}
	if c.saved {
		if _, err := k.cfg.Shelf.Session(k.ctx, c.id); err != nil {
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
	err = k.cfg.Shelf.Save(k.ctx, &hearken.Session{
		ID: c.id, Title: "ParrotScribe " + c.foreign, Status: hearken.Stopped, StopReason: hearken.StopFinished,
		Language: entries[0].Language, Provider: "pscribe", StartedAt: c.since.UTC(), StoppedAt: &last, Duration: end,
		SegmentCount: lines, Config: hearken.SessionConfig{Capture: true}, Principal: k.cfg.Principal,
	}, entries)
	if err == nil {
		c.lines, c.end, c.saved = lines, end, true
	}
	return false, err
}

// rest waits a while, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
