package live

import (
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
	"github.com/hearken-dev/hearken/audio"
)

// chunkSamples is how much audio one spool file holds. Audio is removed one
// file at a time.
const chunkSamples = 30 * hearken.SampleRate

// noFile means that there is no oldest file.
const noFile = -1

// openSpool opens a spool with the files that an earlier process left in dir.
func openSpool(dir, archiveDir string, tailMax int, limit int64) (*spool, error) {
	s := newSpool(dir, archiveDir, tailMax, limit)
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
			// A hole: audio before it cannot be joined to the rest.
			s.start = at
		}
		s.flushed = at + size
	}
	s.tailAt = s.flushed
	return s, nil
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
	return len(audio.AppendPCM16(buf[:0], raw[:got])), nil
}

// flush writes audio in memory to disk and removes the files that are no longer
// needed.
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

// flushBuffers shares buffers: few of many spools flush at the same time.
var flushBuffers = sync.Pool{New: func() any { return new([]byte) }}

// unflushed copies the audio that is only in memory.
func (s *spool) unflushed(buf *[]byte) (at int64, pcm []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*buf = audio.AppendBytes((*buf)[:0], s.tail[min(s.flushed-s.tailAt, int64(len(s.tail))):])
	return s.flushed, *buf
}

// openChunk makes s.file the file for the sample at pos.
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

// sweep removes or archives the files whose audio is final.
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
		if err == nil && (at+size > start || s.file != nil && at == s.fileAt) {
			s.oldest = at
			break
		}
		if err == nil {
			err = s.archiveOrRemove(at)
		}
		if err != nil {
			return fmt.Errorf("sweep spool: %w", err)
		}
	}
	return nil
}

func (s *spool) archiveOrRemove(at int64) error {
	if s.archiveDir == "" {
		return os.Remove(s.path(at))
	}
	if err := os.MkdirAll(s.archiveDir, 0o700); err != nil {
		return err
	}
	return os.Rename(s.path(at), filepath.Join(s.archiveDir, filepath.Base(s.path(at))))
}

// cut removes the audio from a position on. The spool must have just been
// opened, with nothing in memory.
func (s *spool) cut(pos int64) error {
	chunks, err := s.chunks()
	if err != nil {
		return fmt.Errorf("cut spool: %w", err)
	}
	for _, at := range slices.Backward(chunks) {
		if at >= pos {
			err = os.Remove(s.path(at))
		} else if size, serr := fileSamples(s.path(at)); serr != nil || at+size > pos {
			err = errors.Join(serr, os.Truncate(s.path(at), 2*(pos-at)))
		}
		if err != nil {
			return fmt.Errorf("cut spool: %w", err)
		}
	}
	if s.flushed > pos {
		s.flushed, s.tailAt = pos, pos
	}
	return nil
}

// discard overwrites all audio from a position on with silence, in the archive
// too. Earlier audio stays, since it may not be transcribed yet.
func (s *spool) discard(from int64) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	s.mu.Lock()
	clear(s.tail[min(max(0, from-s.tailAt), int64(len(s.tail))):])
	s.mu.Unlock()
	archived := spool{dir: s.archiveDir}
	return errors.Join(s.silence(from, false), archived.silence(from, true))
}

// silence overwrites the audio from a position on in all files. With remove,
// files that hold nothing else are deleted.
func (s *spool) silence(from int64, remove bool) error {
	chunks, err := s.chunks()
	for _, at := range chunks {
		size, failed := fileSamples(s.path(at))
		switch {
		case failed != nil:
		case remove && at >= from:
			failed = os.Remove(s.path(at))
		case at+size > from:
			failed = overwrite(s.path(at), 2*max(0, from-at), 2*size)
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		return fmt.Errorf("silence spool: %w", err)
	}
	return nil
}

// overwrite writes zeros into a file and syncs it.
func overwrite(path string, from, to int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, to-from), from)
	return errors.Join(err, f.Sync(), f.Close())
}

// close releases the open file after a last flush; the audio stays.
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

// remove ends the spool and removes or archives its files.
func (s *spool) remove() error {
	err := s.close()
	if s.dir == "" {
		return nil
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.archiveDir != "" {
		chunks, cerr := s.chunks()
		err = errors.Join(err, cerr)
		for _, at := range chunks {
			err = errors.Join(err, s.archiveOrRemove(at))
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
