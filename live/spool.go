package live

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
)

// tailCap is the usual size of a spool's memory, in samples.
const tailCap = hearken.SampleRate / 2

// A spool holds one channel's audio from its arrival until its words are final:
// the newest in memory, all of it on disk. So an engine can fall behind, fail
// or be replaced, and the program can be killed.
//
// [start, flushed) is on disk and [tailAt, end) in memory; the two overlap or
// touch. Only flush writes to the disk, so a disk that stalls never delays the
// sender.
type spool struct {
	dir        string // empty to keep everything in memory
	archiveDir string // where finished files go instead of being removed; may be empty
	tailMax    int    // samples that may stay in memory once they are on disk
	limit      int64  // samples held before the oldest are dropped

	mu       sync.Mutex // held for memory only
	start    int64      // oldest sample still held
	fedUntil int64      // the engine got everything before this
	flushed  int64      // everything before this is on disk
	tailAt   int64
	tail     []int16 // part of tailBuf
	tailBuf  []int16
	err      error // the last failure to write

	disk    sync.Mutex // one flush at a time; taken before mu
	file    *os.File
	fileAt  int64 // position of the open file's first sample
	written int64 // position after its last one
	oldest  int64 // position of the oldest file, or noFile
	closed  bool
}

func newSpool(dir, archiveDir string, tailMax int, limit int64) *spool {
	return &spool{dir: dir, archiveDir: archiveDir, tailMax: tailMax, limit: limit, oldest: noFile}
}

// startAt declares everything before pos final, even if the spool never held
// it.
func (s *spool) startAt(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pos >= s.tailAt+int64(len(s.tail)) {
		s.start, s.flushed, s.tailAt, s.tail = pos, pos, pos, s.tailBuf[:0]
		return
	}
	s.trimLocked(pos)
}

// append adds audio, in memory only, and returns how much of the oldest had to
// be dropped because the spool was full.
func (s *spool) append(pcm []int16) (dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushLocked(pcm)
	end := s.tailAt + int64(len(s.tail))
	if over := end - s.start - s.limit; over > 0 {
		// Whole seconds at a time, so that a long outage is not a thousand
		// small gaps.
		over = min(over+hearken.SampleRate, end-s.start)
		dropped = max(0, s.start+over-max(s.start, s.fedUntil)) // what the engine has is not lost
		s.trimLocked(s.start + over)
		s.flushed = max(s.flushed, s.start) // it no longer needs to be written
		s.dropTailLocked(s.start)
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

// durableUntil is the position before which a crash of the program loses
// nothing. Without a usable disk it is the end of what memory holds.
func (s *spool) durableUntil() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" || s.err != nil {
		return s.tailAt + int64(len(s.tail))
	}
	return s.flushed
}

// held returns how many bytes of audio are held, and the last write error.
func (s *spool) held() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 2 * (s.tailAt + int64(len(s.tail)) - s.start), s.err
}

// read copies audio from pos on into buf. If the audio at pos is gone, it
// continues at the oldest that is left, which is at.
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
	next := tailAt // where to continue if the sample at is gone
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

// fed records that the engine has taken everything before pos, so it need not
// stay in memory.
func (s *spool) fed(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fedUntil = max(s.fedUntil, pos)
	if s.dir != "" {
		s.dropTailLocked(min(pos, s.flushed))
	}
}

// dropTailLocked removes what is before pos from memory.
func (s *spool) dropTailLocked(pos int64) {
	n := pos - s.tailAt
	if n <= 0 {
		return
	}
	n = min(n, int64(len(s.tail)))
	s.tail = s.tail[n:]
	s.tailAt += n
	if cap(s.tailBuf) > 4*tailCap && len(s.tail) < tailCap/2 {
		s.resizeTailLocked(tailCap) // it grew while the disk was slow
	}
}

// pushLocked appends to the tail. It makes space by moving the tail to the
// start of its buffer, or else by a larger buffer.
func (s *spool) pushLocked(pcm []int16) {
	need := len(s.tail) + len(pcm)
	if need > cap(s.tail) {
		if need <= cap(s.tailBuf) {
			s.tail = s.tailBuf[:copy(s.tailBuf[:cap(s.tailBuf)], s.tail)]
		} else {
			s.resizeTailLocked(max(tailCap, need+need/4))
		}
	}
	s.tail = append(s.tail, pcm...)
}

// resizeTailLocked moves the tail to a buffer of another size.
func (s *spool) resizeTailLocked(size int) {
	s.tailBuf = make([]int16, 0, size)
	s.tail = append(s.tailBuf, s.tail...)
}

// trim drops everything before pos: its words are final. The next flush removes
// the files.
func (s *spool) trim(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimLocked(pos)
}

func (s *spool) trimLocked(pos int64) {
	s.start = max(s.start, min(pos, s.tailAt+int64(len(s.tail))))
	if s.dir == "" {
		s.dropTailLocked(s.start)
	}
	// With a disk, final audio is still written: after a crash the end of the
	// files tells the sender where to continue.
}
