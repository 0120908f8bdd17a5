package audit

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// patience is how long Append waits for the verification of a long audit.
const patience = 5 * time.Second

// A queuedRecord is a record on its way to the disk.
type queuedRecord struct {
	record  hearken.AuditRecord
	restart *Break     // in the first record after a restart
	done    chan error // receives the outcome
}

// Append writes a record. Concurrent calls share one sync. If the record
// cannot be written, or the audit is not intact, the error is
// [hearken.AuditUnavailable] and the next call tries again. If ctx ends while
// the disk hangs, or if the store does not answer, the caller gets the same
// error, although the record may be there.
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
	var tooLong <-chan time.Time
	if l.verifying.Load() {
		tooLong = time.After(patience)
	}
	select {
	case err := <-e.done:
		return unavailable(err)
	case l.writeLock <- struct{}{}:
	case <-ctx.Done():
		l.removeQueued(e)
		return unavailable(ctx.Err())
	case <-tooLong:
		l.removeQueued(e)
		return stillVerifying()
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
	if len(batch) == 0 {
		return
	}
	err := os.ErrClosed
	if !closed {
		err = l.ensureIntact()
	}
	if err != nil {
		for _, e := range batch {
			e.done <- err
		}
		return
	}
	l.w.write(batch)
}

// checkpointOnTimer makes the checkpoint that is due by time. Close makes its
// own, after which another process may write.
func (l *Log) checkpointOnTimer() {
	select {
	case l.writeLock <- struct{}{}:
		defer func() { <-l.writeLock }()
	case <-l.closing.Done():
		return
	}
	if l.closing.Err() != nil { // both were ready
		return
	}
	l.w.timer = nil
	if l.Problem() != nil {
		return
	}
	if err := l.w.checkpointAll(); err != nil {
		l.cfg.Log.Warn("audit: no checkpoint could be made", "error", err)
		l.w.checkpointIfDue()
	}
}

// unavailable wraps err as agents see it.
func unavailable(err error) error {
	if err == nil || hearken.CodeOf(err) != "" {
		return err
	}
	return hearken.Errorf(hearken.AuditUnavailable, "The audit cannot be written, so no action is carried out: %w.", err).
		WithTry("hearken audit verify, and check that the disk is not full")
}
