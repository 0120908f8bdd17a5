package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

const (
	// A checkpoint is due at once for what is requested, decided and done. For
	// other records it is due after so many, or so much time.
	checkpointRecords = 100
	checkpointAfter   = time.Minute
	// copyInterval is the shortest time between two copies of checkpoints.
	copyInterval = time.Second
	// headTimeout is how long the store may take.
	headTimeout = 10 * time.Second
)

// A HeadStore remembers where audits end; see [hearken.Store].
type HeadStore interface {
	SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error
	AuditHeads(ctx context.Context) ([]hearken.AuditHead, error)
}

// needsCheckpoint reports whether a record must not be cut off unnoticed, not
// even right after it was written. Refusals need no such care, and strangers
// can cause many of them.
func (e *queuedRecord) needsCheckpoint() bool {
	switch e.record.Type {
	case hearken.AuditRefused, hearken.AuditLimited, hearken.AuditHub:
		return e.restart != nil
	}
	return true
}

// checkpointIfDue makes a checkpoint if enough records have none, and otherwise
// starts the timer for one. The records are safe without it, so a failure is
// only logged and retried later.
func (w *writer) checkpointIfDue() {
	var err error
	if w.state.n-w.covered() >= checkpointRecords {
		if err = w.checkpoint(&w.state, w.last); err == nil {
			err = w.saveHead()
		}
	}
	// A copy costs as much time as several records.
	if err == nil && w.covered() > w.copied && w.now().Sub(w.copiedAt) >= copyInterval {
		err = w.copyCheckpoint()
	}
	if err != nil {
		w.log.Warn("audit: no checkpoint could be made", "error", err)
	}
	if w.timer == nil && w.state.n > w.copied {
		w.timer = time.AfterFunc(checkpointAfter, w.onTimer)
	}
}

// checkpointAll makes sure that a checkpoint covers all records, that the store
// knows it, and that it is copied.
func (w *writer) checkpointAll() error {
	w.stopTimer()
	if w.state.n > w.covered() {
		if err := w.checkpoint(&w.state, w.last); err != nil {
			return err
		}
	}
	if err := w.saveHead(); err != nil {
		return err
	}
	if w.covered() > w.copied {
		return w.copyCheckpoint()
	}
	return nil
}

func (w *writer) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// checkpoint signs the records up to a state, which are on disk, and appends
// the checkpoint.
func (w *writer) checkpoint(s *state, last position) error {
	c := &checkpoint{state: s.clone(), at: w.now(), file: last.file, end: last.end}
	if w.note != nil {
		c.prev = hexHash(w.note)
	}
	signed, err := c.sign(w.keys.signer)
	if err != nil {
		return err
	}
	if err := w.appendCheckpoint(append(bytes.Clone(signed), '\n')); err != nil {
		w.checkpointsDirty, w.unsure = true, max(w.unsure, c.n)
		return err
	}
	w.newest, w.note = c, signed
	w.failpoint("audit-signed")
	return nil
}

// appendCheckpoint appends a checkpoint to their file.
func (w *writer) appendCheckpoint(data []byte) error {
	if err := w.openCheckpoints(); err != nil {
		return err
	}
	if w.checkpointsDirty {
		if err := w.truncateCheckpoints(); err != nil {
			return err
		}
	}
	if _, err := w.checkpoints.WriteAt(data, w.checkpointsSize); err != nil {
		return err
	}
	if err := w.checkpoints.Sync(); err != nil {
		return err
	}
	w.checkpointsSize += int64(len(data))
	w.stamps.takeOwn(w.path(checkpointsFile), w.checkpointsInfo, w.checkpointsSize)
	return nil
}

func (w *writer) openCheckpoints() (err error) {
	if w.checkpoints == nil {
		w.checkpoints, w.checkpointsInfo, err = w.openOwn(checkpointsFile)
	}
	return err
}

// truncateCheckpoints removes what follows after the newest checkpoint.
func (w *writer) truncateCheckpoints() error {
	if err := w.openCheckpoints(); err != nil {
		return err
	}
	if err := w.checkpoints.Truncate(w.checkpointsSize); err != nil {
		return err
	}
	if err := w.checkpoints.Sync(); err != nil {
		return err
	}
	w.checkpointsDirty, w.unsure = false, 0
	w.stamps.takeOwn(w.path(checkpointsFile), w.checkpointsInfo, w.checkpointsSize)
	return nil
}

// saveHead has the store remember the newest checkpoint. The records and the
// checkpoint are on disk by then: after a crash the store may know of fewer
// records than there are, but never of more.
func (w *writer) saveHead() error {
	if w.heads == nil || w.covered() == w.headSaved {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), headTimeout)
	defer cancel()
	head := &hearken.AuditHead{Name: w.name, Key: w.keys.VerifierKey(), Checkpoint: string(w.note), SavedAt: w.now()}
	if err := w.heads.SaveAuditHead(ctx, head); err != nil {
		return hearken.Errorf(hearken.AuditUnavailable, "The store cannot remember where the audit ends, so no action is carried out: %w.", err).
			WithTry("check that the store can be written")
	}
	w.headSaved = w.covered()
	w.failpoint("audit-known")
	return nil
}

// copyCheckpoint copies the newest checkpoint beside the keys.
func (w *writer) copyCheckpoint() error {
	path := CheckpointCopy(w.keyDir, w.dir)
	if err := files.Replace(path, w.note, 0o600); err != nil {
		return err
	}
	w.copied, w.copiedAt = w.covered(), w.now()
	w.stamps.take(path)
	w.failpoint("audit-copied")
	return nil
}
