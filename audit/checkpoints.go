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

// A checkpointReader reads the audit's own checkpoints in order. Each names the
// hash of the one before, so the signature of the last vouches for all. The
// other signatures are checked only to say which checkpoint is wrong.
type checkpointReader struct {
	key   note.Verifier
	file  *os.File // nil if there are none
	in    *bufio.Reader
	end   int64 // of the last complete one; what is appended later is not read
	torn  bool  // an unfinished one follows it
	every bool  // check every signature: that of the last is wrong

	last     *checkpoint // nil if there is none
	lastNote []byte

	at       int64  // how far it has read
	line     int    // at which the next one begins
	note     []byte // the one that was read last
	text     []byte // the text of it
	noteLine int    // at which it begins
	n        int64  // the records that it covers
}

// openCheckpoints opens the checkpoints in an audit's directory.
func openCheckpoints(dir string, key note.Verifier) (*checkpointReader, error) {
	r := &checkpointReader{key: key, line: 1}
	f, err := os.Open(filepath.Join(dir, checkpointsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.file, r.in = f, bufio.NewReader(f)
	var tail []byte
	if r.lastNote, r.end, tail, err = lastNote(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// A crash leaves at most the beginning of one, and bytes that never reached
	// the disk.
	r.torn = len(tail) > 0
	tail, _, _ = bytes.Cut(tail, []byte{0})
	if !bytes.HasPrefix(tail, []byte(origin)[:min(len(origin), len(tail))]) {
		r.close()
		return nil, tampered(checkpointsFile, 0, "The end of %s is not a checkpoint.", checkpointsFile)
	}
	if r.lastNote != nil {
		r.last, err = readCheckpoint(r.lastNote, key)
		r.every = err != nil // so next finds out which one is wrong
	}
	return r, nil
}

func (r *checkpointReader) close() {
	if r.file != nil {
		r.file.Close() // it was only read
	}
}

// next returns the next checkpoint, nil after the last. All but the last lack
// what [skimCheckpoint] leaves out.
func (r *checkpointReader) next() (*checkpoint, error) {
	if r.at >= r.end {
		return nil, nil
	}
	n, text, err := r.readNote()
	if err != nil {
		return nil, err
	}
	before, line := "", r.line
	if r.note != nil {
		before = hexHash(r.note)
	}
	c, err := skimCheckpoint(text)
	switch {
	case err != nil:
		return nil, r.fault(n, err.Error())
	case c.prev != before:
		return nil, r.fault(n, "does not follow from the one before: one was removed, moved or duplicated")
	case c.n <= r.n:
		return nil, r.fault(n, "covers no more than the one before")
	case r.every:
		if _, err := readCheckpoint(n, r.key); err != nil {
			return nil, r.fault(n, err.Error())
		}
	}
	r.note, r.text, r.noteLine, r.n = n, text, line, c.n
	r.at += int64(len(n)) + 1
	r.line += bytes.Count(n, []byte("\n")) + 1
	if r.at == r.end && r.last != nil {
		return r.last, nil
	}
	return c, nil
}

// readNote reads a note, the text in it, and the empty line after it.
func (r *checkpointReader) readNote() (n, text []byte, err error) {
	n = make([]byte, 0, max(1024, len(r.note)))
	for blank := -1; ; {
		l, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		switch {
		case err != nil, blank >= 0 && len(n) > blank && len(l) > 1:
			return nil, nil, tampered(checkpointsFile, r.line, "Line %d of %s is not the beginning of a checkpoint.", r.line, checkpointsFile)
		case len(l) == 1 && blank < 0:
			text, blank = slices.Clip(n), len(n)+1
		case len(l) == 1 && len(n) > blank:
			return n, text, nil
		}
		n = append(n, l...)
	}
}

// checkSignature checks the signature of the checkpoint that was read last.
func (r *checkpointReader) checkSignature() error {
	if r.note == nil {
		return nil
	}
	if _, err := readCheckpoint(r.note, r.key); err != nil {
		return tampered(checkpointsFile, r.noteLine, "The checkpoint at line %d of %s %v.", r.noteLine, checkpointsFile, err)
	}
	return nil
}

// fault says what is wrong with a note, or with the one before: a wrong
// signature explains everything else.
func (r *checkpointReader) fault(n []byte, otherwise string) error {
	if err := r.checkSignature(); err != nil {
		return err
	}
	if _, err := readCheckpoint(n, r.key); err != nil {
		otherwise = err.Error()
	}
	return tampered(checkpointsFile, r.line, "The checkpoint at line %d of %s %s.", r.line, checkpointsFile, otherwise)
}

// lastNote finds the last complete note of a file, where it ends, and the
// unfinished bytes that follow it.
func lastNote(f *os.File) (n []byte, end int64, rest []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, nil, err
	}
	size := info.Size()
	for tail := int64(64 << 10); ; tail *= 8 {
		base := max(0, size-tail)
		data := make([]byte, size-base)
		if _, err := f.ReadAt(data, base); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, nil, err
		}
		head := []byte(origin + "\n")
		for i := bytes.LastIndex(data, head); i >= 0; i = bytes.LastIndex(data[:i], head) {
			if n, rest, ok := cutNote(data[i:]); ok {
				return n, size - int64(len(rest)), rest, nil
			}
		}
		if base == 0 {
			return nil, 0, data, nil
		}
	}
}

// readKept reads the checkpoints in a file that was kept elsewhere: one alone,
// or several with an empty line after each. Errors call the file by name.
func readKept(path, name string, key note.Verifier) ([]*checkpoint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(data, []byte("\n\n")) {
		data = append(data, '\n')
	}
	var points []*checkpoint
	for line := 1; len(data) > 0; {
		n, rest, ok := cutNote(data)
		if !ok {
			return nil, tampered(name, line, "Line %d of %s is not the beginning of a checkpoint.", line, name)
		}
		c, err := readCheckpoint(n, key)
		if err != nil {
			return nil, tampered(name, line, "The checkpoint at line %d of %s %v.", line, name, err)
		}
		points, data = append(points, c), rest
		line += bytes.Count(n, []byte("\n")) + 1
	}
	return points, nil
}
