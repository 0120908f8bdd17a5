package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// resume finds where to continue: after the last checkpoint and the records
// that follow it.
func (w *writer) resume() error {
	last, err := w.lastCheckpoint()
	if err != nil {
		return err
	}
	names, err := months(w.dir)
	if err != nil {
		return err
	}
	var from int64
	if last != nil {
		i := slices.Index(names, last.file)
		if i < 0 {
			return tampered(last.file, 0, "%s is missing, which holds the end of the checkpoint over %d records.", last.file, last.n)
		}
		names, from = names[i:], last.end
		w.state, w.covered, w.lastFile, w.lastEnd = last.state.clone(), last.n, last.file, last.end
		if err := w.checkLast(last); err != nil {
			return err
		}
	}
	for i, name := range names {
		torn, err := w.scanMonth(name, from)
		if err != nil {
			return err
		}
		if torn && i < len(names)-1 {
			return tampered(name, 0, "%s ends in the middle of a record, although %s follows.", name, names[i+1])
		}
		from = 0
	}
	w.checkpointIfDue()
	return nil
}

// lastCheckpoint reads the newest checkpoint and compares it with the copy
// beside the keys. A new audit has none.
func (w *writer) lastCheckpoint() (*checkpoint, error) {
	verifier, err := note.NewVerifier(w.keys.verifier)
	if err != nil {
		return nil, err
	}
	if w.note, w.checkpointsSize, w.checkpointsDirty, err = lastNote(filepath.Join(w.dir, checkpointsFile)); err != nil {
		return nil, err
	}
	var last *checkpoint
	var records int64
	if w.note != nil {
		if last, err = readCheckpoint(w.note, verifier); err != nil {
			return nil, tampered(checkpointsFile, 0, "The last checkpoint in %s %v.", checkpointsFile, err)
		}
		records = last.n
	}
	copied, err := os.ReadFile(w.copyPath)
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := readCheckpoint(copied, verifier)
	switch {
	case err != nil:
		return nil, tampered(w.copyPath, 0, "The checkpoint in %s %v.", w.copyPath, err)
	case kept.n > records:
		return nil, tampered(checkpointsFile, 0, "The last checkpoint in %s covers %d records, but there was one over %d: the end was cut off.", checkpointsFile, records, kept.n)
	case kept.n == records && !bytes.Equal(copied, w.note):
		return nil, tampered(checkpointsFile, 0, "The last checkpoint in %s is not the one that was signed last.", checkpointsFile)
	}
	w.copied = kept.n
	return last, nil
}

// lastNote finds the last complete note of a file, where it ends, and whether
// unfinished bytes follow it.
func lastNote(path string) (n []byte, end int64, more bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, nil
	}
	if err != nil {
		return nil, 0, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, false, err
	}
	size := info.Size()
	for tail := int64(64 << 10); ; tail *= 8 {
		base := max(0, size-tail)
		data := make([]byte, size-base)
		if _, err := f.ReadAt(data, base); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, false, err
		}
		head := []byte(origin + "\n")
		for i := bytes.LastIndex(data, head); i >= 0; i = bytes.LastIndex(data[:i], head) {
			if n, _, ok := cutNote(data[i:]); ok {
				end := base + int64(i) + int64(len(n)) + 1
				return n, end, end < size, nil
			}
		}
		if base == 0 {
			return nil, 0, size > 0, nil
		}
	}
}

// checkLast verifies that the last record of a checkpoint is where it says.
func (w *writer) checkLast(c *checkpoint) error {
	f, err := os.Open(filepath.Join(w.dir, c.file))
	if err != nil {
		return err
	}
	defer f.Close()
	data := make([]byte, min(c.end, longestLine+1))
	if _, err := f.ReadAt(data, c.end-int64(len(data))); err != nil {
		if errors.Is(err, io.EOF) {
			return tampered(c.file, 0, "%s is shorter than its checkpoint over %d records says: the end was cut off.", c.file, c.n)
		}
		return err
	}
	l, ended := bytes.CutSuffix(data, []byte("\n"))
	if l = l[bytes.LastIndexByte(l, '\n')+1:]; !ended || hexHash(l) != c.state.lastHash() {
		return tampered(c.file, 0, "Record %d in %s is not the one that its checkpoint signed.", c.n, c.file)
	}
	return nil
}

// scanMonth reads the records of a file from an offset on. A crash may leave an
// unfinished record at the end, or bytes that never reached the disk. Nobody
// was told that these were written, so they are removed.
func (w *writer) scanMonth(name string, from int64) (torn bool, err error) {
	f, err := os.Open(filepath.Join(w.dir, name))
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return false, err
	}
	w.name, w.size = name, from
	for r := bufio.NewReaderSize(f, longestLine); ; {
		l, err := r.ReadSlice('\n')
		l, whole := bytes.CutSuffix(l, []byte("\n"))
		switch {
		case err == io.EOF && len(l) == 0:
			return false, nil
		case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		case err == io.EOF, bytes.IndexByte(l, 0) >= 0:
			w.tornBytes, w.dirty = info.Size()-w.size, true
			return true, nil
		}
		wrong := w.state.mismatch(l)
		if !whole {
			wrong = "is too long for a record"
		}
		if wrong != "" {
			return false, tampered(name, 0, "The line after record %d in %s %s.", w.state.n, name, wrong)
		}
		w.state.add(l)
		w.size += int64(len(l)) + 1
		w.lastFile, w.lastEnd = name, w.size
	}
}
