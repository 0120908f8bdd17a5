// Package audit keeps the record of everything that was decided, done or
// refused, so that a person can prove later that nothing in it was changed,
// cut or reordered.
//
// A [Log] is a folder with one file of lines a month. Each line names the
// hash of the line before it; all lines together are the leaves of a
// transparency log, and a signed checkpoint says every so often how many there
// are and what the root of their tree is. The signing key and a copy of the
// newest checkpoint lie in another folder, and whoever wants to be sure against
// somebody who can write both keeps a checkpoint elsewhere: see [Verify].
//
// A record is on disk when [Log.Append] returns. What cannot be written is an
// error, so that nothing is done that is not in the audit. Free texts stand in
// it as an HMAC.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Audit = (*Log)(nil)

// How much may be in the audit without a signed checkpoint over it.
const (
	checkpointRecords = 100
	checkpointAfter   = time.Minute
	keepAfter         = time.Second // between copies beside the keys
)

// Config is what a [Log] is made of. Dir and KeyDir are required.
type Config struct {
	Dir string // holds the files of the months and their checkpoints
	// KeyDir holds the keys and the newest checkpoint. It lies outside of Dir,
	// so that a copy or a restored backup of Dir has no keys.
	KeyDir string

	Now func() time.Time
	Log *slog.Logger

	open func(path string) (file, error) // in place of the disk, for tests
}

// A Log is an audit that is being written. Only one can be open in a folder.
type Log struct {
	cfg  Config
	keys *Keys
	lock *os.File

	mu     sync.Mutex
	queue  []*entry // waiting to be written, in order
	closed bool

	// turn is held by whoever writes. Everybody else's records gather in the
	// queue meanwhile and share the next sync.
	turn    chan struct{}
	closing chan struct{}
	w       writer // belongs to whoever has the turn
}

// An entry is a record on its way to the disk.
type entry struct {
	record hearken.AuditRecord
	more   detail
	done   chan error // gets the outcome
}

// Open opens the audit in a folder, or begins one. It reads what came after
// the last checkpoint, so that it is fast however long the audit is, and
// refuses one that does not go on from its checkpoints.
func Open(cfg Config) (*Log, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.open == nil {
		cfg.open = openFile
	}
	if inside(cfg.KeyDir, cfg.Dir) {
		return nil, hearken.Errorf(hearken.Invalid, "The keys of the audit may not lie in the folder of the audit, %s.", cfg.Dir).
			WithTry("another folder for the keys")
	}
	l := &Log{cfg: cfg, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	if err := l.begin(); err != nil {
		if l.lock != nil {
			l.lock.Close()
		}
		if err := l.w.close(); err != nil {
			cfg.Log.Warn("audit: file not closed", "error", err)
		}
		if _, told := errors.AsType[*hearken.Error](err); told {
			return nil, err
		}
		if t, ok := errors.AsType[*Tampered](err); ok {
			return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit in %s cannot go on: %w", cfg.Dir, t).
				WithTry("hearken audit verify; to begin a new audit, move that folder away together with %s", CheckpointCopy(cfg.KeyDir, cfg.Dir))
		}
		return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit in %s cannot be opened: %w.", cfg.Dir, err).
			WithTry("check that %s and %s are folders that you may write", cfg.Dir, cfg.KeyDir)
	}
	return l, nil
}

func (l *Log) begin() (err error) {
	for _, dir := range []string{l.cfg.Dir, l.cfg.KeyDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if l.lock, err = os.OpenFile(filepath.Join(l.cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	switch held, err := tryLock(l.lock); {
	case err != nil:
		return err
	case !held:
		return hearken.Errorf(hearken.AuditUnavailable, "Another Hearken writes the audit in %s.", l.cfg.Dir).
			WithTry("end it, or use another data directory")
	}
	if l.keys, err = openKeys(l.cfg.KeyDir, l.cfg.Dir); err != nil {
		return err
	}
	l.w = writer{dir: l.cfg.Dir, keys: l.keys, kept: CheckpointCopy(l.cfg.KeyDir, l.cfg.Dir), now: l.cfg.Now, log: l.cfg.Log, open: l.cfg.open, late: l.tick}
	return l.w.resume()
}

// inside reports whether a path is dir or lies in it.
func inside(path, dir string) bool {
	p, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	d, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(d, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Append writes a record. Calls that come together share one sync. If the
// record could not be written, the error is [hearken.AuditUnavailable] and the
// next call tries anew. A caller whose ctx ends while the disk hangs gets the
// same error, although its record may be there in the end.
func (l *Log) Append(ctx context.Context, r hearken.AuditRecord) error {
	return l.append(ctx, r, detail{})
}

func (l *Log) append(ctx context.Context, r hearken.AuditRecord, more detail) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	e := &entry{record: r, more: more, done: make(chan error, 1)}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return unavailable(os.ErrClosed)
	}
	l.queue = append(l.queue, e)
	l.mu.Unlock()
	select {
	case err := <-e.done:
		return unavailable(err)
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		l.giveUp(e)
		return unavailable(ctx.Err())
	}
	// Either somebody wrote the record just now, or it is in the queue.
	l.flush()
	<-l.turn
	return unavailable(<-e.done)
}

// giveUp takes a record out of the queue if it is still there.
func (l *Log) giveUp(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, e); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// flush writes what is in the queue. Its caller has the turn.
func (l *Log) flush() {
	l.mu.Lock()
	batch, closed := l.queue, l.closed
	l.queue = nil
	l.mu.Unlock()
	switch {
	case len(batch) == 0:
	case closed:
		for _, e := range batch {
			e.done <- os.ErrClosed
		}
	default:
		l.w.write(batch)
	}
}

// tick makes the checkpoint that is due by time.
func (l *Log) tick() {
	select {
	case l.turn <- struct{}{}:
		l.w.timer = nil
		if err := l.w.settle(); err != nil {
			l.cfg.Log.Warn("audit: no checkpoint could be made", "error", err)
			l.w.checkpointIfDue(checkpointRecords)
		}
		<-l.turn
	case <-l.closing:
	}
}

// Checkpoint returns the newest signed checkpoint, which covers everything
// that was appended before the call. Kept somewhere else, it proves later that
// nothing up to it was touched.
func (l *Log) Checkpoint(ctx context.Context) (string, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return "", unavailable(ctx.Err())
	case <-l.closing:
		return "", unavailable(os.ErrClosed)
	}
	defer func() { <-l.turn }()
	if err := l.w.settle(); err != nil {
		return "", unavailable(err)
	}
	return string(l.w.note), nil
}

// Records is how many records there are, those of removed months included.
func (l *Log) Records() int64 {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.w.state.n
}

// Hash is how a free text stands in the audit.
func (l *Log) Hash(text string) string { return l.keys.Hash(text) }

// VerifierKey is the public key that [Verify] needs.
func (l *Log) VerifierKey() string { return l.keys.VerifierKey() }

// Close signs a last checkpoint and lets go of the folder. It waits for what
// is being written; later calls of Append fail.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	close(l.closing)
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.flush()
	return errors.Join(l.w.settle(), l.w.close(), l.lock.Close())
}

// unavailable is err as an agent sees it.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	if _, told := errors.AsType[*hearken.Error](err); told {
		return err
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written, so nothing is done: %w.", err).
		WithTry("hearken audit verify, and look whether the disk is full")
}
