package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hearken-dev/hearken"
)

// chunkSamples is how much sound one spool file holds: what is dealt with is
// removed a file at a time.
const chunkSamples = 30 * hearken.SampleRate

// tailCap is how much memory, in samples, a spool keeps that is up to date.
const tailCap = hearken.SampleRate / 2

// noFile is where the oldest file is when there is none.
const noFile = -1

// A spool holds one channel's sound from its arrival until its words are
// final: the newest in memory, all of it on disk, so that an engine can fall
// behind, be lost or be replaced, and the whole program can be killed.
//
// [start, flushed) is on disk and [tailAt, end) in memory; the two overlap or
// touch. Only flush touches the disk for writing, so a disk that stalls never
// holds up the sender.
type spool struct {
	dir     string // empty to keep everything in memory
	keep    string // where finished files go instead of being removed; may be empty
	tailMax int    // samples that may stay in memory once they are on disk
	limit   int64  // samples held before the oldest are dropped

	mu      sync.Mutex // held for memory only
	start   int64      // oldest sample still held
	flushed int64      // everything before is on disk
	tailAt  int64
	tail    []int16
	err     error // the last failure to write

	disk    sync.Mutex // one flush at a time; taken before mu
	file    *os.File
	fileAt  int64 // position of the open file's first sample
	written int64 // position after its last one
	oldest  int64 // position of the oldest file, or noFile
	closed  bool
}

func newSpool(dir, keep string, tailMax int, limit int64) *spool {
	return &spool{dir: dir, keep: keep, tailMax: tailMax, limit: limit, oldest: noFile}
}

// openSpool finds what an earlier process left in dir.
func openSpool(dir, keep string, tailMax int, limit int64) (*spool, error) {
	s := newSpool(dir, keep, tailMax, limit)
	chunks, err := s.chunks()
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	for i, at := range chunks {
		size, err := fileSamples(s.path(at))
		if err != nil {
			return nil, fmt.Errorf("read spool: %w", err)
		}
		if i == 0 {
			s.start, s.oldest = at, at
		} else if at != s.flushed {
			// A hole: what lies before it can no longer be joined to the rest.
			s.start = at
		}
		s.flushed = at + size
	}
	s.tailAt = s.flushed
	return s, nil
}

// startAt says that everything before pos is dealt with, even if the spool
// never held it.
func (s *spool) startAt(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pos >= s.tailAt+int64(len(s.tail)) {
		s.start, s.flushed, s.tailAt, s.tail = pos, pos, pos, nil
		return
	}
	s.trimLocked(pos)
}

func (s *spool) path(at int64) string {
	return filepath.Join(s.dir, strconv.FormatInt(at, 10)+".pcm")
}

// chunks lists the positions of the files, oldest first.
func (s *spool) chunks() ([]int64, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var at []int64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pcm")
		if !ok {
			continue
		}
		if pos, err := strconv.ParseInt(name, 10, 64); err == nil {
			at = append(at, pos)
		}
	}
	slices.Sort(at)
	return at, nil
}

func fileSamples(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size() / 2, nil
}

// append takes sound, into memory only, and tells how much of the oldest had
// to be dropped for want of room.
func (s *spool) append(pcm []int16) (dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = append(s.tail, pcm...)
	end := s.tailAt + int64(len(s.tail))
	if over := end - s.start - s.limit; over > 0 {
		// Whole seconds at a time, so that a long outage is not a thousand
		// small gaps.
		over = min(over+hearken.SampleRate, end-s.start)
		dropped = over
		s.trimLocked(s.start + over)
	}
	return dropped
}

// first is the position of the oldest sample that is still held.
func (s *spool) first() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start
}

// end is the position after the newest sample.
func (s *spool) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tailAt + int64(len(s.tail))
}

// safe is the position before which a crash of the program loses nothing; if
// there is no disk to rely on, it is what memory holds.
func (s *spool) safe() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" || s.err != nil {
		return s.tailAt + int64(len(s.tail))
	}
	return s.flushed
}

// held is the number of bytes of sound that wait, and the last write failure.
func (s *spool) held() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 2 * (s.tailAt + int64(len(s.tail)) - s.start), s.err
}

// read copies sound from pos on into buf. If the sound at pos is gone it goes
// on at the oldest that is left; at tells where that is.
func (s *spool) read(pos int64, buf []int16) (n int, at int64, err error) {
	s.mu.Lock()
	at = max(pos, s.start)
	if at >= s.tailAt {
		if off := at - s.tailAt; off < int64(len(s.tail)) {
			n = copy(buf, s.tail[off:])
		}
		s.mu.Unlock()
		return n, at, nil
	}
	tailAt := s.tailAt
	s.mu.Unlock()

	chunks, err := s.chunks()
	if err != nil {
		return 0, at, fmt.Errorf("read spool: %w", err)
	}
	next := tailAt // where to go on if nothing holds the sample at
	for _, c := range slices.Backward(chunks) {
		if c > at {
			next = min(next, c)
			continue
		}
		n, err = readSamples(s.path(c), at-c, buf[:min(int64(len(buf)), tailAt-at)])
		if n > 0 || err != nil {
			return n, at, err
		}
		break
	}
	return 0, next, nil
}

func readSamples(path string, off int64, buf []int16) (int, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // trimmed in the meantime
	}
	if err != nil {
		return 0, fmt.Errorf("open spool: %w", err)
	}
	defer f.Close()
	raw := make([]byte, 2*len(buf))
	got, err := f.ReadAt(raw, 2*off)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read spool: %w", err)
	}
	for i := range got / 2 {
		buf[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return got / 2, nil
}

// flush writes what has gathered in memory to disk and removes the files that
// are no longer needed.
func (s *spool) flush() error {
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.closed || s.dir == "" {
		return nil
	}
	err := s.flushDisk()
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	return err
}

func (s *spool) flushDisk() error {
	buf := flushBuffers.Get().(*[]byte)
	defer flushBuffers.Put(buf)
	for {
		at, pcm := s.unflushed(buf)
		if len(pcm) == 0 {
			break
		}
		if err := s.openChunk(at); err != nil {
			return err
		}
		pcm = pcm[:min(int64(len(pcm)), 2*(s.fileAt+chunkSamples-at))]
		if _, err := s.file.WriteAt(pcm, 2*(at-s.fileAt)); err != nil {
			return fmt.Errorf("write spool: %w", err)
		}
		s.written = at + int64(len(pcm)/2)
		s.mu.Lock()
		s.flushed = max(s.flushed, s.written)
		s.dropTailLocked(s.flushed - int64(s.tailMax))
		s.mu.Unlock()
	}
	return s.sweep()
}

// flushBuffers lends the bytes of a flush: few spools flush at a time, and a
// thousand of them have better uses for the memory.
var flushBuffers = sync.Pool{New: func() any { return new([]byte) }}

// unflushed copies out what is only in memory.
func (s *spool) unflushed(buf *[]byte) (at int64, pcm []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*buf = (*buf)[:0]
	for _, v := range s.tail[min(s.flushed-s.tailAt, int64(len(s.tail))):] {
		*buf = binary.LittleEndian.AppendUint16(*buf, uint16(v))
	}
	return s.flushed, *buf
}

// openChunk makes s.file the file that takes the sample at pos.
func (s *spool) openChunk(pos int64) error {
	if s.file != nil && pos == s.written && pos < s.fileAt+chunkSamples {
		return nil
	}
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make spool: %w", err)
	}
	f, err := os.OpenFile(s.path(pos), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	s.file, s.fileAt, s.written = f, pos, pos
	if s.oldest == noFile {
		s.oldest = pos
	}
	return nil
}

// sweep removes, or sets aside, the files whose sound is dealt with.
func (s *spool) sweep() error {
	s.mu.Lock()
	start := s.start
	s.mu.Unlock()
	if s.oldest == noFile || s.file != nil && s.oldest == s.fileAt || start < s.oldest+chunkSamples {
		return nil
	}
	chunks, err := s.chunks()
	if err != nil {
		return fmt.Errorf("sweep spool: %w", err)
	}
	s.oldest = noFile
	for _, at := range chunks {
		size, err := fileSamples(s.path(at))
		if err != nil {
			return fmt.Errorf("sweep spool: %w", err)
		}
		if at+size > start || s.file != nil && at == s.fileAt {
			s.oldest = at
			break
		}
		if err := s.retire(at); err != nil {
			return fmt.Errorf("sweep spool: %w", err)
		}
	}
	return nil
}

// fed says that the engine has taken everything before pos, so it need not
// stay in memory as well.
func (s *spool) fed(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		s.dropTailLocked(min(pos, s.flushed))
	}
}

// dropTailLocked lets go of what is in memory before pos.
func (s *spool) dropTailLocked(pos int64) {
	n := pos - s.tailAt
	if n <= 0 {
		return
	}
	n = min(n, int64(len(s.tail)))
	s.tail = s.tail[:copy(s.tail, s.tail[n:])]
	s.tailAt += n
	if cap(s.tail) > tailCap && len(s.tail) < cap(s.tail)/4 {
		s.tail = slices.Clip(append([]int16(nil), s.tail...)) // what a slow disk made grow
	}
}

// trim lets go of everything before pos: its words are final. The files go
// with the next flush.
func (s *spool) trim(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimLocked(pos)
}

func (s *spool) trimLocked(pos int64) {
	pos = min(pos, s.tailAt+int64(len(s.tail)))
	if pos <= s.start {
		return
	}
	s.start = pos
	if s.keep == "" {
		s.flushed = max(s.flushed, pos) // what was never written need not be
		s.dropTailLocked(pos)
	}
}

func (s *spool) retire(at int64) error {
	if s.keep == "" {
		return os.Remove(s.path(at))
	}
	if err := os.MkdirAll(s.keep, 0o700); err != nil {
		return err
	}
	return os.Rename(s.path(at), filepath.Join(s.keep, filepath.Base(s.path(at))))
}

// discard removes all sound, and of what was set aside to be kept the files
// that hold any of the sound from a position on.
func (s *spool) discard(from int64) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	s.mu.Lock()
	end := s.tailAt + int64(len(s.tail))
	clear(s.tail)
	s.start, s.flushed, s.tailAt, s.tail = end, end, end, nil
	s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	s.oldest = noFile
	var errs []error
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	kept := spool{dir: s.keep}
	chunks, err := kept.chunks()
	errs = append(errs, err)
	for _, at := range chunks {
		if size, err := fileSamples(kept.path(at)); err != nil || at+size > from {
			errs = append(errs, err, os.Remove(kept.path(at)))
		}
	}
	return errors.Join(errs...)
}

// close releases the open file after a last flush; the sound stays.
func (s *spool) close() error {
	err := s.flush()
	s.disk.Lock()
	defer s.disk.Unlock()
	s.closed = true
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	return err
}

// remove ends the spool and its files; those to be kept are set aside.
func (s *spool) remove() error {
	err := s.close()
	if s.dir == "" {
		return nil
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.keep != "" {
		chunks, cerr := s.chunks()
		err = errors.Join(err, cerr)
		for _, at := range chunks {
			err = errors.Join(err, s.retire(at))
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
