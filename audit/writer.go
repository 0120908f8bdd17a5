package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// A writer appends lines to the month's file and checkpoints to theirs. It
// advances its state only after a sync, so that after any failure it continues
// from the last record that is surely on disk.
type writer struct {
	dir      string
	copyPath string // of the newest checkpoint's copy
	keys     *Keys
	now      func() time.Time
	log      *slog.Logger
	open     func(path string) (file, error)
	onTimer  func() // makes the checkpoint that is due by time

	state    state
	lastFile string // the file that holds the last record
	lastEnd  int64  // where it ends there

	name  string // the current month's file
	size  int64  // bytes in it up to the last good record
	file  file   // nil until something is written
	info  fs.FileInfo
	dirty bool // the file may be longer than size

	checkpoints      file // nil until one is written
	checkpointsSize  int64
	checkpointsDirty bool
	note             []byte // the newest checkpoint
	covered          int64  // the records that it covers
	copied           int64  // the records that its copy covers
	copiedAt         time.Time
	timer            *time.Timer

	tornBytes     int64     // of an unfinished record, found at the start
	failingSince  time.Time // zero if the last write succeeded
	failedRecords int       // since then
	failure       error     // the last cause
}

// write writes a batch with one sync and reports the outcome to each caller.
func (w *writer) write(batch []*queuedRecord) {
	now := w.now().UTC()
	next := w.state.clone()
	var data []byte
	add := func(r hearken.AuditRecord, note string) error {
		l, err := encode(&next, now, r, note, w.keys.Hash)
		if err == nil {
			next.add(l[:len(l)-1])
			data = append(data, l...)
		}
		return err
	}
	if note := w.recoveryNote(); note != "" {
		if err := add(hearken.AuditRecord{Type: hearken.AuditHub, State: "recovered"}, note); err != nil {
			w.log.Error("audit: recovery not noted", "error", err)
		}
	}
	var encoded []*queuedRecord
	for _, e := range batch {
		if err := add(e.record, ""); err != nil {
			e.done <- err
			continue
		}
		encoded = append(encoded, e)
	}
	if len(encoded) == 0 {
		return
	}
	err := w.writeLines(data, now)
	if err != nil {
		w.failed(err, now, len(encoded))
	} else {
		w.state = next
		w.size += int64(len(data))
		w.lastFile, w.lastEnd = w.name, w.size
		w.tornBytes, w.failingSince, w.failedRecords, w.failure = 0, time.Time{}, 0, nil
	}
	for _, e := range encoded {
		e.done <- err
	}
	if err == nil {
		w.checkpointIfDue()
	}
}

// recoveryNote is what the next record says about failures before it.
func (w *writer) recoveryNote() string {
	var b bytes.Buffer
	if w.tornBytes > 0 {
		fmt.Fprintf(&b, "%d bytes of an unfinished record were removed. ", w.tornBytes)
	}
	if w.failedRecords > 0 {
		fmt.Fprintf(&b, "From %s on %d records could not be written: %v.", w.failingSince.Format(timeForm), w.failedRecords, w.failure)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// writeLines appends whole lines after the last good one and syncs.
func (w *writer) writeLines(data []byte, now time.Time) error {
	// A clock that is set back must not reopen a closed month.
	name := max(monthName(now), w.name)
	if w.name != "" && (w.dirty || w.name == name) {
		if err := w.restoreEnd(); err != nil {
			return err
		}
	}
	if name != w.name {
		if err := w.checkpointAll(); err != nil { // ends the month
			w.log.Warn("audit: no checkpoint could be made", "error", err)
		}
		if err := w.switchFile(name, 0, true); err != nil {
			return err
		}
		if err := w.restoreEnd(); err != nil {
			return err
		}
	}
	if _, err := w.file.WriteAt(data, w.size); err != nil {
		return err
	}
	return w.file.Sync()
}

// failed restores the file to the last good record as far as possible.
func (w *writer) failed(err error, now time.Time, records int) {
	if w.failingSince.IsZero() {
		w.failingSince = now
		w.log.Error("audit: cannot be written", "error", err)
	}
	w.failedRecords += records
	w.failure = err
	w.dirty = true // until a truncation is synced
	if w.file != nil {
		_ = w.file.Truncate(w.size) // restoreEnd does it again
	}
}

// restoreEnd makes sure that the file ends with the last good record and is
// still the one being written.
func (w *writer) restoreEnd() error {
	if w.file == nil {
		if err := w.switchFile(w.name, w.size, w.dirty); err != nil {
			return err
		}
	}
	if err := w.checkFile(); err != nil || !w.dirty {
		return err
	}
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	w.dirty = false
	return w.file.Sync()
}

// switchFile opens a month's file. size is the length of its good part.
func (w *writer) switchFile(name string, size int64, dirty bool) error {
	path := filepath.Join(w.dir, name)
	f, err := w.open(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		err = files.SyncDir(w.dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			w.log.Warn("audit: file not closed", "error", err)
		}
	}
	w.file, w.info, w.name, w.size, w.dirty = f, info, name, size, dirty
	return nil
}

// checkFile verifies that the file was not replaced: a record in a file that
// somebody has removed would be lost.
func (w *writer) checkFile() error {
	info, err := os.Stat(filepath.Join(w.dir, w.name))
	if err != nil {
		return err
	}
	if !os.SameFile(info, w.info) || info.Size() < w.size || info.Size() > w.size && !w.dirty {
		return fmt.Errorf("%s was changed by somebody else", w.name)
	}
	return nil
}

// checkpointIfDue makes a checkpoint if enough records have none, and otherwise
// starts the timer for one. The records are safe without it, so a failure is
// only logged and retried later.
func (w *writer) checkpointIfDue() {
	if w.state.n == w.covered {
		return
	}
	if w.state.n-w.covered >= checkpointRecords {
		err := w.checkpoint()
		// A copy costs as much time as several records.
		if err == nil && w.now().Sub(w.copiedAt) >= copyInterval {
			err = w.copyCheckpoint()
		}
		if err != nil {
			w.log.Warn("audit: no checkpoint could be made", "error", err)
		}
	}
	if w.timer == nil && w.state.n > w.copied {
		w.timer = time.AfterFunc(checkpointAfter, w.onTimer)
	}
}

// checkpointAll makes sure that a checkpoint covers all records and is copied.
func (w *writer) checkpointAll() error {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.state.n > w.covered {
		if err := w.checkpoint(); err != nil {
			return err
		}
	}
	if w.covered > w.copied {
		return w.copyCheckpoint()
	}
	return nil
}

// checkpoint signs the records on disk and appends the checkpoint.
func (w *writer) checkpoint() error {
	c := checkpoint{state: w.state.clone(), at: w.now(), file: w.lastFile, end: w.lastEnd}
	if w.note != nil {
		c.prev = hexHash(w.note)
	}
	signed, err := c.sign(w.keys.signer)
	if err != nil {
		return err
	}
	if err := w.appendCheckpoint(append(bytes.Clone(signed), '\n')); err != nil {
		w.checkpointsDirty = true
		return err
	}
	w.note, w.covered = signed, c.n
	return nil
}

// copyCheckpoint copies the newest checkpoint beside the keys.
func (w *writer) copyCheckpoint() error {
	if err := files.Replace(w.copyPath, w.note, 0o600); err != nil {
		return err
	}
	w.copied, w.copiedAt = w.covered, w.now()
	return nil
}

// appendCheckpoint appends a checkpoint to their file.
func (w *writer) appendCheckpoint(data []byte) error {
	if w.checkpoints == nil {
		f, err := w.open(filepath.Join(w.dir, checkpointsFile))
		if err != nil {
			return err
		}
		w.checkpoints = f
		if err := files.SyncDir(w.dir); err != nil {
			return err
		}
	}
	if w.checkpointsDirty {
		if err := w.checkpoints.Truncate(w.checkpointsSize); err != nil {
			return err
		}
		w.checkpointsDirty = false
	}
	if _, err := w.checkpoints.WriteAt(data, w.checkpointsSize); err != nil {
		return err
	}
	if err := w.checkpoints.Sync(); err != nil {
		return err
	}
	w.checkpointsSize += int64(len(data))
	return nil
}

func (w *writer) close() (err error) {
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.dirty && w.file != nil {
		err = w.file.Truncate(w.size)
	}
	for _, f := range []file{w.file, w.checkpoints} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
