// Package audit keeps a record of everything that was decided, done or
// refused. Anyone can prove later that nothing in it was changed, cut or
// reordered, and a hub whose audit was tampered with acts no more.
//
// A [Log] is a directory with one file of lines a month. Each line holds the
// hash of the line before it. All lines together are the leaves of a
// transparency log, and signed checkpoints state how many there are and what
// the root of their tree is. The newest checkpoint also lies in the store, and
// beside the signing key in another directory. To be safe against somebody who
// can write all of these, keep a checkpoint on another computer: see [Verify].
//
// A record is on disk when [Log.Append] returns, and for all but refusals so is
// a checkpoint that covers it. A failed write is an error, so that nothing is
// done that is not in the audit. Free texts are stored as an HMAC only.
//
// The order of writing makes a crash different from tampering: first the
// record, then its checkpoint, then what the store knows. So each of them may
// lag behind the one before, and none is ever ahead of it.
package audit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

var _ hearken.Audit = (*Log)(nil)

// Config configures a [Log]. Dir and KeyDir are required.
type Config struct {
	Dir string // holds the monthly files and the checkpoints
	// KeyDir holds the keys and a copy of the newest checkpoint. It must lie
	// outside of Dir, so that a copy or a backup of Dir contains no keys.
	KeyDir string

	// Store remembers where the audit ends, under Name, which is the path of
	// Dir if it is empty. Without a store, nobody knows that an audit existed
	// whose files, checkpoints and keys were all removed.
	Store HeadStore
	Name  string
	// Expected reports whether there must be an audit already, because something
	// was requested or granted before. May be nil.
	Expected func(ctx context.Context) (bool, error)

	Now func() time.Time
	Log *slog.Logger
	// Failpoint is called at points where a test may end the process.
	Failpoint func(name string)

	open  func(path string) (file, error) // replaces the disk in tests
	quick int64                           // see quickBytes
}

// A Log is an audit that is open for writing. Only one process can have it
// open.
type Log struct {
	cfg  Config
	lock *os.File

	mu      sync.Mutex
	queue   []*queuedRecord // waiting to be written, in order
	closed  bool
	problem error // why nothing can be appended; nil if the audit is intact
	keys    *Keys // nil until they were read

	// verifying is set while the audit is read for the first time. It holds
	// writeLock meanwhile.
	verifying atomic.Bool
	closing   context.Context // ends when the log is closed
	close     context.CancelFunc
	running   sync.WaitGroup

	// writeLock is held by the goroutine that writes. Records of others gather
	// in the queue meanwhile and share the next sync.
	writeLock chan struct{}
	// Guarded by writeLock:
	w         writer
	checkedAt time.Time // when all of it was last read
	checked   stamps    // of the files at that time
}

// Open opens the audit in a directory, or starts one. It verifies all of it, in
// the background if it is long. A log whose audit is not intact is open too,
// but nothing can be appended to it: see [Log.Problem] and [Log.Restart].
func Open(cfg Config) (*Log, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Name = cmp.Or(cfg.Name, absolute(cfg.Dir))
	if cfg.Failpoint == nil {
		cfg.Failpoint = func(string) {}
	}
	if cfg.open == nil {
		cfg.open = openFile
	}
	cfg.quick = cmp.Or(cfg.quick, quickBytes)
	if _, inside := files.Inside(absolute(cfg.Dir), absolute(cfg.KeyDir)); inside {
		return nil, hearken.Errorf(hearken.Invalid, "The audit's keys must not lie in the audit's own directory, %s.", cfg.Dir).
			WithTry("another directory for the keys")
	}
	l := &Log{cfg: cfg, writeLock: make(chan struct{}, 1)}
	l.closing, l.close = context.WithCancel(context.Background())
	if err := l.prepare(); err != nil {
		if l.lock != nil {
			l.lock.Close()
		}
		l.close()
		if hearken.CodeOf(err) != "" {
			return nil, err
		}
		return nil, hearken.Errorf(hearken.AuditUnavailable, "The audit in %s cannot be opened: %w.", cfg.Dir, err).
			WithTry("check that %s and %s are directories that you may write to", cfg.Dir, cfg.KeyDir)
	}
	l.w = writer{
		dir: cfg.Dir, keyDir: cfg.KeyDir, heads: cfg.Store, name: cfg.Name,
		now: cfg.Now, log: cfg.Log, open: cfg.open, onTimer: l.checkpointOnTimer, failpoint: cfg.Failpoint,
	}
	l.start()
	return l, nil
}

// prepare makes the directories and takes the lock.
func (l *Log) prepare() error {
	for _, dir := range []string{l.cfg.Dir, l.cfg.KeyDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := l.takeLock(); err != nil {
		return err
	}
	return errors.Join(removeTemporary(l.cfg.Dir), removeTemporary(l.cfg.KeyDir))
}

func (l *Log) takeLock() (err error) {
	if l.lock, err = os.OpenFile(filepath.Join(l.cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	held, err := files.TryLock(l.lock)
	if err == nil && !held {
		err = hearken.Errorf(hearken.AuditUnavailable, "Another Hearken is writing the audit in %s.", l.cfg.Dir).
			WithTry("stop it, or use another data directory")
	}
	return err
}

// VerifierKey returns the public key that [Verify] needs. It is empty if the
// keys are missing.
func (l *Log) VerifierKey() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		return ""
	}
	return l.keys.VerifierKey()
}

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
	l.close()
	l.running.Wait()
	l.writeLock <- struct{}{}
	defer func() { <-l.writeLock }()
	l.flush()
	var err error
	if l.Problem() == nil {
		err = l.w.checkpointAll()
	}
	return errors.Join(err, l.w.close(), l.lock.Close())
}
