package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// A writer appends lines to the month's file and checkpoints to theirs. It
// advances its state only after a sync, so that after any failure it continues
// from the last record that is surely on disk.
type writer struct {
	dir, keyDir string
	keys        *Keys
	heads       HeadStore // nil if no store knows the audit
	name        string    // of the audit in the store
	now         func() time.Time
	log         *slog.Logger
	open        func(path string) (file, error)
	onTimer     func() // makes the checkpoint that is due by time
	failpoint   func(name string)

	resumed bool // the fields below say where the audit ends
	state   state
	last    position // of the last record
	stamps  stamps   // of the files as this process left them

	month string // the current file
	size  int64  // bytes in it up to the last good record
	file  file   // nil until something is written
	info  fs.FileInfo
	dirty bool // the file may be longer than size

	checkpoints      file // nil until one is written
	checkpointsInfo  fs.FileInfo
	checkpointsSize  int64
	checkpointsDirty bool        // their file may be longer than that
	unsure           int64       // the records that a checkpoint covers which may be there
	newest           *checkpoint // nil if there is none
	note             []byte      // the newest checkpoint, signed
	headSaved        int64       // the records that the store knows of
	copied           int64       // the records that the copy covers
	copiedAt         time.Time
	timer            *time.Timer

	tornBytes     int64     // of an unfinished record, found at the start
	unsigned      int64     // records without a checkpoint, found at the start
	failingSince  time.Time // zero if the last write succeeded
	failedRecords int       // since then
	failure       error     // the last cause
}

// write writes a batch with one sync and reports the outcome to each caller.
// When it reports success, a checkpoint and the store cover what was decided
// and done. A record about failures before comes first, and alone if the batch
// is empty.
func (w *writer) write(batch []*queuedRecord) {
	now := w.now().UTC()
	next := w.state.clone()
	var data []byte
	var length int64 // of the last line
	add := func(l line) error {
		text, err := encode(&next, now, l, w.keys.Hash)
		if err == nil {
			next.add(text[:len(text)-1])
			data, length = append(data, text...), int64(len(text))
		}
		return err
	}
	if note := w.recoveryNote(); note != "" {
		if err := add(line{AuditRecord: hearken.AuditRecord{Type: hearken.AuditHub, State: "recovered"}, Note: note}); err != nil {
			w.log.Error("audit: recovery not noted", "error", err)
		}
	}
	var encoded []*queuedRecord
	for _, e := range batch {
		if err := add(line{AuditRecord: e.record, Break: e.restart}); err != nil {
			e.done <- err
			continue
		}
		encoded = append(encoded, e)
	}
	if len(data) == 0 || len(encoded) == 0 && len(batch) > 0 {
		return
	}
	cover := slices.ContainsFunc(encoded, (*queuedRecord).needsCheckpoint)
	err := w.writeLines(data, now)
	end := position{w.month, w.size + int64(len(data)), length}
	if err == nil {
		w.failpoint("audit-written")
	}
	if err == nil && cover {
		err = w.checkpoint(&next, end)
	}
	if err != nil {
		w.failed(err, now, len(encoded))
	} else {
		w.state, w.last, w.size = next, end, end.end
		w.stamps.takeOwn(w.path(w.month), w.info, w.size)
		w.tornBytes, w.unsigned, w.failingSince, w.failedRecords, w.failure = 0, 0, time.Time{}, 0, nil
	}
	if err == nil && cover {
		err = w.saveHead() // the records stay: the store may know of them
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
	if w.unsigned > 0 {
		fmt.Fprintf(&b, "The last records before this one, %d in number, had no checkpoint when the hub started. ", w.unsigned)
	}
	if w.failedRecords > 0 {
		fmt.Fprintf(&b, "From %s on %d records could not be written: %v.", w.failingSince.Format(timeForm), w.failedRecords, w.failure)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// writeLines appends whole lines after the last good one and syncs.
func (w *writer) writeLines(data []byte, now time.Time) error {
	if err := w.repair(); err != nil {
		return err
	}
	// A clock that is set back must not reopen a closed month.
	if month := max(monthName(now), w.month); month != w.month {
		if err := w.checkpointAll(); err != nil { // ends the month
			w.log.Warn("audit: no checkpoint could be made", "error", err)
		}
		if err := w.switchFile(month, 0); err != nil {
			return err
		}
		if err := w.file.Truncate(0); err != nil { // a failed write may have left something
			return err
		}
	} else if w.file == nil {
		if err := w.switchFile(w.month, w.size); err != nil {
			return err
		}
	}
	if _, err := w.file.WriteAt(data, w.size); err != nil {
		return err
	}
	return w.file.Sync()
}

// failed restores the files to the last good record as far as possible.
func (w *writer) failed(err error, now time.Time, records int) {
	if w.failingSince.IsZero() {
		w.failingSince = now
		w.log.Error("audit: cannot be written", "error", err)
	}
	w.failedRecords += records
	w.failure = err
	w.dirty = w.dirty || w.file != nil // until a truncation is synced
	_ = w.repair()                     // the next write does it again
}

// repair makes sure that the files end with the last good record. A checkpoint
// that covers more than that goes first: there must never be one over more
// records than there are.
func (w *writer) repair() error {
	var err error
	if w.checkpointsDirty {
		if err = w.truncateCheckpoints(); err != nil && w.unsure > w.state.n {
			return err
		}
	}
	return errors.Join(err, w.truncateRecords())
}

// truncateRecords removes what follows after the last good record.
func (w *writer) truncateRecords() error {
	if !w.dirty {
		return nil
	}
	if w.file == nil {
		if err := w.switchFile(w.month, w.size); err != nil {
			return err
		}
	}
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	w.dirty = false
	w.stamps.takeOwn(w.path(w.month), w.info, w.size)
	return nil
}

// switchFile opens a month's file. size is the length of its good part.
func (w *writer) switchFile(month string, size int64) error {
	f, info, err := w.openOwn(month)
	if err != nil {
		return err
	}
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			w.log.Warn("audit: file not closed", "error", err)
		}
	}
	w.file, w.info, w.month, w.size = f, info, month, size
	return nil
}

// openOwn opens a file of the audit for writing and makes its name durable.
func (w *writer) openOwn(name string) (file, fs.FileInfo, error) {
	f, err := w.open(w.path(name))
	if err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(w.path(name))
	if err == nil {
		err = files.SyncDir(w.dir)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func (w *writer) path(name string) string { return filepath.Join(w.dir, name) }

// close ends the writer.
func (w *writer) close() error {
	w.stopTimer()
	return errors.Join(w.repair(), w.closeFiles())
}
