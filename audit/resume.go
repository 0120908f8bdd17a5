package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
)

// resume has the writer continue after a verified audit.
func (w *writer) resume(v *verification, seen stamps) error {
	if w.resumed {
		switch {
		case v.state.n < w.state.n:
			return tampered(v.name, v.line, "The audit ends with record %d, but this hub has written %d: the end was cut off.", v.state.n, w.state.n)
		case v.state.n > w.state.n:
			return tampered(v.name, v.line, "The audit has %d records, but this hub has written %d: somebody else added some.", v.state.n, w.state.n)
		case v.state.last != w.state.last:
			return tampered(v.name, v.line, "Record %d is not the one that this hub has written.", v.state.n)
		}
	}
	if err := w.closeFiles(); err != nil { // they may have been replaced by equal ones
		w.log.Warn("audit: file not closed", "error", err)
	}
	w.keys, w.stamps = v.keys, seen
	w.state, w.last = v.state, v.last
	w.month, w.size, w.dirty = v.name, v.end, v.Unfinished > 0
	w.note, w.newest = v.own.lastNote, v.own.last
	w.checkpointsSize, w.checkpointsDirty, w.unsure = v.own.end, v.own.torn, 0
	if !w.resumed {
		w.tornBytes, w.unsigned = v.Unfinished, w.state.n-w.covered()
		w.resumed = true
	}
	w.headSaved, w.copied = 0, 0
	if v.head != nil && v.head.Name == w.name {
		w.headSaved = v.Head
	}
	here := CheckpointCopy(w.keyDir, w.dir)
	if data, err := os.ReadFile(here); err == nil && bytes.Equal(data, w.note) {
		w.copied = w.covered()
	}
	if w.state.n == 0 {
		return nil
	}
	// A crash may have left records without a checkpoint. They are signed now,
	// and the audit says so, since anybody could have written them.
	if w.unsigned > 0 {
		w.write(nil)
	}
	// An earlier version made no head.
	if err := w.checkpointAll(); err != nil {
		w.log.Warn("audit: no checkpoint could be made", "error", err)
		return nil
	}
	for _, path := range slices.DeleteFunc(v.copies, func(path string) bool { return path == here }) {
		if err := os.Remove(path); err != nil { // the audit was moved
			w.log.Warn("audit: old copy of a checkpoint not removed", "error", err)
		}
	}
	return nil
}

// unchanged reports whether the files are as this process left them, as far as
// that can be told without reading them: when they were changed last, how long
// they are, and what the last record is.
func (w *writer) unchanged() bool {
	return takeStamps(w.dir, w.keyDir).equal(w.stamps) && w.isLastIntact()
}

func (w *writer) isLastIntact() bool {
	if w.state.n == 0 {
		return true
	}
	f, err := os.Open(w.path(w.last.file))
	if err != nil {
		return false
	}
	defer f.Close()
	l := make([]byte, w.last.length)
	if _, err := f.ReadAt(l, w.last.end-w.last.length); err != nil {
		return false
	}
	return sha256.Sum256(l[:len(l)-1]) == w.state.last
}

// covered is how many records the newest checkpoint covers.
func (w *writer) covered() int64 {
	if w.newest == nil {
		return 0
	}
	return w.newest.n
}

func (w *writer) closeFiles() (err error) {
	for _, f := range []file{w.file, w.checkpoints} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	w.file, w.checkpoints = nil, nil
	return err
}
