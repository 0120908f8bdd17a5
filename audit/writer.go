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
)

// A writer puts lines into the file of the month and checkpoints beside it.
// What it remembers moves on only after a sync, so that after any failure it
// goes on from the last record that is surely on disk.
type writer struct {
	dir, kept string
	keys      *Keys
	now       func() time.Time
	log       *slog.Logger
	open      func(path string) (file, error)
	late      func() // makes the checkpoint that is due by time

	state state
	endIn string // the file that holds the last record
	endAt int64  // where it ends there

	name  string // the file of the month
	size  int64  // what is good in it
	file  file   // nil until something is written
	info  fs.FileInfo
	dirty bool // there may be more in the file than size

	points      file // nil until one is written
	pointsSize  int64
	pointsDirty bool
	note        []byte // the newest checkpoint
	covered     int64  // the records that it covers
	keptN       int64  // the records that the copy beside the keys covers
	keptAt      time.Time
	timer       *time.Timer

	torn    int64 // bytes of an unfinished record that were found at the start
	since   time.Time
	refused int   // records that could not be written since then
	cause   error // and why
}

// write writes a batch with one sync and tells everybody how it went.
func (w *writer) write(batch []*entry) {
	now := w.now().UTC()
	next := w.state.clone()
	var data []byte
	add := func(r hearken.AuditRecord, more detail) error {
		l, err := encode(&next, now, r, more, w.keys.Hash)
		if err == nil {
			next.add(l[:len(l)-1])
			data = append(data, l...)
		}
		return err
	}
	if note := w.trouble(); note != "" {
		if err := add(hearken.AuditRecord{Type: hearken.AuditHub, State: "recovered"}, detail{Note: note}); err != nil {
			w.log.Error("audit: recovery not noted", "error", err)
		}
	}
	var taken []*entry
	for _, e := range batch {
		if err := add(e.record, e.more); err != nil {
			e.done <- err
			continue
		}
		taken = append(taken, e)
	}
	if len(taken) == 0 {
		return
	}
	err := w.put(data, now)
	if err != nil {
		w.failed(err, now, len(taken))
	} else {
		w.state = next
		w.size += int64(len(data))
		w.endIn, w.endAt = w.name, w.size
		w.torn, w.since, w.refused, w.cause = 0, time.Time{}, 0, nil
	}
	for _, e := range taken {
		e.done <- err
	}
	if err == nil {
		w.checkpointIfDue(checkpointRecords)
	}
}

// trouble is what the next record has to say about the time before it.
func (w *writer) trouble() string {
	var b bytes.Buffer
	if w.torn > 0 {
		fmt.Fprintf(&b, "%d bytes of an unfinished record were removed. ", w.torn)
	}
	if w.refused > 0 {
		fmt.Fprintf(&b, "From %s on %d records could not be written: %v.", w.since.Format(timeForm), w.refused, w.cause)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// put writes whole lines behind the last good one and syncs.
func (w *writer) put(data []byte, now time.Time) error {
	// A clock that goes back must not reopen a closed month.
	name := max(monthName(now), w.name)
	if w.name != "" && (w.dirty || w.name == name) {
		if err := w.clean(); err != nil {
			return err
		}
	}
	if name != w.name {
		if err := w.settle(); err != nil { // ends the month
			w.log.Warn("audit: no checkpoint could be made", "error", err)
		}
		if err := w.turnTo(name, 0, true); err != nil {
			return err
		}
		if err := w.clean(); err != nil {
			return err
		}
	}
	if _, err := w.file.WriteAt(data, w.size); err != nil {
		return err
	}
	return w.file.Sync()
}

// failed puts the file back to the last good record as far as it can be.
func (w *writer) failed(err error, now time.Time, records int) {
	if w.since.IsZero() {
		w.since = now
		w.log.Error("audit: cannot be written", "error", err)
	}
	w.refused += records
	w.cause = err
	w.dirty = true // until a truncation is synced
	if w.file != nil {
		_ = w.file.Truncate(w.size) // clean does it again
	}
}

// clean makes sure that the file ends with the last good record and is still
// the one that is written.
func (w *writer) clean() error {
	if w.file == nil {
		if err := w.turnTo(w.name, w.size, w.dirty); err != nil {
			return err
		}
	}
	if err := w.check(); err != nil || !w.dirty {
		return err
	}
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	w.dirty = false
	return w.file.Sync()
}

// turnTo opens the file of a month, of which so much is good.
func (w *writer) turnTo(name string, size int64, dirty bool) error {
	path := filepath.Join(w.dir, name)
	f, err := w.open(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		err = syncDir(w.dir)
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

// check finds out whether the file is still the one that is written: a record
// in a file that somebody has removed would be lost.
func (w *writer) check() error {
	info, err := os.Stat(filepath.Join(w.dir, w.name))
	if err != nil {
		return err
	}
	if !os.SameFile(info, w.info) || info.Size() < w.size || info.Size() > w.size && !w.dirty {
		return fmt.Errorf("%s was changed by somebody else", w.name)
	}
	return nil
}

// checkpointIfDue makes a checkpoint if so many records have none, and sees to
// it that there will be one in time otherwise. The records are safe without,
// so that a failure is not theirs: it is tried again.
func (w *writer) checkpointIfDue(records int64) {
	if w.state.n == w.covered {
		return
	}
	if w.state.n-w.covered >= records {
		err := w.checkpoint()
		// A copy costs as much as several records.
		if err == nil && w.now().Sub(w.keptAt) >= keepAfter {
			err = w.keep()
		}
		if err != nil {
			w.log.Warn("audit: no checkpoint could be made", "error", err)
		}
	}
	if w.timer == nil && w.state.n > w.keptN {
		w.timer = time.AfterFunc(checkpointAfter, w.late)
	}
}

// settle leaves nothing without a checkpoint, and none without a copy.
func (w *writer) settle() error {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.state.n > w.covered {
		if err := w.checkpoint(); err != nil {
			return err
		}
	}
	if w.covered > w.keptN {
		return w.keep()
	}
	return nil
}

// checkpoint signs what is on disk and adds that to the others.
func (w *writer) checkpoint() error {
	c := checkpoint{state: w.state.clone(), at: w.now(), file: w.endIn, end: w.endAt}
	if w.note != nil {
		c.prev = sum(w.note)
	}
	signed, err := c.sign(w.keys.signer)
	if err != nil {
		return err
	}
	if err := w.putPoint(append(bytes.Clone(signed), '\n')); err != nil {
		w.pointsDirty = true
		return err
	}
	w.note, w.covered = signed, c.n
	return nil
}

// keep copies the newest checkpoint to the keys.
func (w *writer) keep() error {
	if err := replace(w.kept, w.note); err != nil {
		return err
	}
	w.keptN, w.keptAt = w.covered, w.now()
	return nil
}

// putPoint adds a checkpoint to their file.
func (w *writer) putPoint(data []byte) error {
	if w.points == nil {
		f, err := w.open(filepath.Join(w.dir, checkpointsFile))
		if err != nil {
			return err
		}
		w.points = f
		if err := syncDir(w.dir); err != nil {
			return err
		}
	}
	if w.pointsDirty {
		if err := w.points.Truncate(w.pointsSize); err != nil {
			return err
		}
		w.pointsDirty = false
	}
	if _, err := w.points.WriteAt(data, w.pointsSize); err != nil {
		return err
	}
	if err := w.points.Sync(); err != nil {
		return err
	}
	w.pointsSize += int64(len(data))
	return nil
}

func (w *writer) close() (err error) {
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.dirty && w.file != nil {
		err = w.file.Truncate(w.size)
	}
	for _, f := range []file{w.file, w.points} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
