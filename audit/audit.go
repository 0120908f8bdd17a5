// Package audit keeps a record of everything that was decided, done or
// refused. Anyone can prove later that nothing in it was changed, cut or
// reordered.
//
// A [Log] is a directory with one file of lines a month. Each line holds the
// hash of the line before it. All lines together are the leaves of a
// transparency log, and every so often a signed checkpoint states how many
// there are and what the root of their tree is. The signing key and a copy of
// the newest checkpoint lie in another directory. To be safe against somebody
// who can write both, keep a checkpoint on another computer: see [Verify].
//
// A record is on disk when [Log.Append] returns. A failed write is an error, so
// that nothing is done that is not in the audit. Free texts are stored as an
// HMAC only.
package audit

import (
	"cmp"
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
	"github.com/hearken-dev/hearken/files"
)

var _ hearken.Audit = (*Log)(nil)

const (
	// A checkpoint is due after so many records or so much time.
	checkpointRecords = 100
	checkpointAfter   = time.Minute
	// copyInterval is the shortest time between two copies of checkpoints.
	copyInterval = time.Second
)

// Config configures a [Log]. Dir and KeyDir are required.
type Config struct {
	Dir string // holds the monthly files and the checkpoints
	// KeyDir holds the keys and a copy of the newest checkpoint. It must lie
	// outside of Dir, so that a copy or a backup of Dir contains no keys.
	KeyDir string

	Now func() time.Time
	Log *slog.Logger

	open func(path string) (file, error) // replaces the disk in tests
}

// A Log is an audit that is open for writing. Only one process can have it
// open.
type Log struct {
	cfg  Config
	keys *Keys
	lock *os.File

	mu     sync.Mutex
	queue  []*queuedRecord // waiting to be written, in order
	closed bool

	// writeLock is held by the goroutine that writes. Records of others gather
	// in the queue meanwhile and share the next sync.
	writeLock chan struct{}
	closing   chan struct{}
	w         writer // guarded by writeLock
}

// A queuedRecord is a record on its way to the disk.
type queuedRecord struct {
	record hearken.AuditRecord
	done   chan error // receives the outcome
}

// Open opens the audit in a directory, or starts one. It reads only the
// records after the last checkpoint, so it is fast however long the audit is.
// It refuses an audit that does not continue from its checkpoints.
func Open(cfg Config) (*Log, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.open == nil {
		cfg.open = openFile
	}
	if isPathInside(cfg.KeyDir, cfg.Dir) {
		return nil, hearken.Errorf(hearken.Invalid, "The audit's keys must not lie in the audit's own directory, %s.", cfg.Dir).
			WithTry("another directory for the keys")
	}
	l := &Log{cfg: cfg, writeLock: make(chan struct{}, 1), closing: make(chan struct{})}
	if err := l.start(); err != nil {
		if l.lock != nil {
			l.lock.Close()
		}
		if err := l.w.close(); err != nil {
			cfg.Log.Warn("audit: file not closed", "error", err)
		}
		if hearken.CodeOf(err) != "" {
			return nil, err
		}
		if t, ok := errors.AsType[*Tampered](err); ok {
			return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit in %s cannot be continued: %w", cfg.Dir, t).
				WithTry("hearken audit verify; to start a new audit, move that directory away together with %s", CheckpointCopy(cfg.KeyDir, cfg.Dir))
		}
		return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit in %s cannot be opened: %w.", cfg.Dir, err).
			WithTry("check that %s and %s are directories that you may write to", cfg.Dir, cfg.KeyDir)
	}
	return l, nil
}

func (l *Log) start() (err error) {
	for _, dir := range []string{l.cfg.Dir, l.cfg.KeyDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if l.lock, err = os.OpenFile(filepath.Join(l.cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	switch held, err := files.TryLock(l.lock); {
	case err != nil:
		return err
	case !held:
		return hearken.Errorf(hearken.AuditUnavailable, "Another Hearken is writing the audit in %s.", l.cfg.Dir).
			WithTry("stop it, or use another data directory")
	}
	if l.keys, err = openKeys(l.cfg.KeyDir, l.cfg.Dir); err != nil {
		return err
	}
	l.w = writer{
		dir: l.cfg.Dir, copyPath: CheckpointCopy(l.cfg.KeyDir, l.cfg.Dir), keys: l.keys,
		now: l.cfg.Now, log: l.cfg.Log, open: l.cfg.open, onTimer: l.checkpointOnTimer,
	}
	return l.w.resume()
}

// isPathInside reports whether path is dir or lies in it.
func isPathInside(path, dir string) bool {
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

// Append writes a record. Concurrent calls share one sync. If the record
// cannot be written, the error is [hearken.AuditUnavailable] and the next call
// tries again. If ctx ends while the disk hangs, the caller gets the same
// error, although the record may still be written.
func (l *Log) Append(ctx context.Context, r hearken.AuditRecord) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	e := &queuedRecord{record: r, done: make(chan error, 1)}
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
	case l.writeLock <- struct{}{}:
	case <-ctx.Done():
		l.removeQueued(e)
		return unavailable(ctx.Err())
	}
	// Either another goroutine has just written the record, or it is queued.
	l.flush()
	<-l.writeLock
	return unavailable(<-e.done)
}

// removeQueued takes a record out of the queue if it is still waiting.
func (l *Log) removeQueued(e *queuedRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, e); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// flush writes the queued records. The caller holds writeLock.
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

// checkpointOnTimer makes the checkpoint that is due by time.
func (l *Log) checkpointOnTimer() {
	select {
	case l.writeLock <- struct{}{}:
		l.w.timer = nil
		if err := l.w.checkpointAll(); err != nil {
			l.cfg.Log.Warn("audit: no checkpoint could be made", "error", err)
			l.w.checkpointIfDue()
		}
		<-l.writeLock
	case <-l.closing:
	}
}

// VerifierKey returns the public key that [Verify] needs.
func (l *Log) VerifierKey() string { return l.keys.VerifierKey() }

// Close signs a last checkpoint and releases the directory. It waits for
// running writes; later calls of Append fail.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	close(l.closing)
	l.writeLock <- struct{}{}
	defer func() { <-l.writeLock }()
	l.flush()
	return errors.Join(l.w.checkpointAll(), l.w.close(), l.lock.Close())
}

// unavailable wraps err as agents see it.
func unavailable(err error) error {
	if err == nil || hearken.CodeOf(err) != "" {
		return err
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written, so no action is carried out: %w.", err).
		WithTry("hearken audit verify, and check that the disk is not full")
}
