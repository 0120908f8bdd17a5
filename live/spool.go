package live

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/hearken-dev/hearken"
)

// tailCap is how much memory, in samples, a spool keeps that is up to date.
const tailCap = hearken.SampleRate / 2

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
	taken   int64      // the engine has had everything before
	flushed int64      // everything before is on disk
	tailAt  int64
	tail    []int16 // within room
	room    []int16
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

// startAt says that everything before pos is dealt with, even if the spool
// never held it.
func (s *spool) startAt(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pos >= s.tailAt+int64(len(s.tail)) {
		s.start, s.flushed, s.tailAt, s.tail = pos, pos, pos, s.room[:0]
		return
	}
	s.trimLocked(pos)
}

// append takes sound, into memory only, and tells how much of the oldest had
// to be dropped for want of room.
func (s *spool) append(pcm []int16) (dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushLocked(pcm)
	end := s.tailAt + int64(len(s.tail))
	if over := end - s.start - s.limit; over > 0 {
		// Whole seconds at a time, so that a long outage is not a thousand
		// small gaps.
		over = min(over+hearken.SampleRate, end-s.start)
		dropped = max(0, s.start+over-max(s.start, s.taken)) // what the engine has is not lost yet
		s.trimLocked(s.start + over)
		s.flushed = max(s.flushed, s.start) // the disk did not want it
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

// fed says that the engine has taken everything before pos, so it need not
// stay in memory as well.
func (s *spool) fed(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = max(s.taken, pos)
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
	s.tail = s.tail[n:]
	s.tailAt += n
	if cap(s.room) > 4*tailCap && len(s.tail) < tailCap/2 {
		s.makeRoomLocked(tailCap) // what a slow disk made grow
	}
}

// pushLocked appends to the tail. Room is made by moving it down again, and
// only if that is not enough by asking for more memory.
func (s *spool) pushLocked(pcm []int16) {
	need := len(s.tail) + len(pcm)
	if need > cap(s.tail) {
		if need <= cap(s.room) {
			s.tail = s.room[:copy(s.room[:cap(s.room)], s.tail)]
		} else {
			s.makeRoomLocked(max(tailCap, need+need/4))
		}
	}
	s.tail = append(s.tail, pcm...)
}

// makeRoomLocked moves the tail to memory of another size.
func (s *spool) makeRoomLocked(size int) {
	s.room = make([]int16, 0, size)
	s.tail = append(s.room, s.tail...)
}

// trim lets go of everything before pos: its words are final. The files go
// with the next flush.
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
	// With a disk, what is dealt with is written all the same: the end of the
	// files is what the sender is told after a crash.
}
