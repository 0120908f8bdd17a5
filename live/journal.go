package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// journalPatience is how long a confirmed segment waits for the journal
// before it is shown all the same, marked as not durable.
const journalPatience = 200 * time.Millisecond

// A record is one line of a journal. A journal is the whole truth about a
// session until the store has it: the first line says what the session is,
// later lines add entries or say it anew.
type record struct {
	Session *journaled       `json:"session,omitempty"`
	Segment *hearken.Segment `json:"segment,omitempty"`
}

// journaled is a session with what only the hub needs to know of it.
type journaled struct {
	hearken.Session
	Ticket string    `json:"ticket"`
	Clock  time.Time `json:"clock,omitzero"` // wall time of the session's first sample
	// Nothing that was said between ForgetFrom and Forgotten is taken any more.
	Forgotten  float64 `json:"forgotten,omitempty"`
	ForgetFrom float64 `json:"forgetFrom,omitempty"`
	Debts      []debt  `json:"debts,omitempty"`
}

// journalFile is what a journal needs of a file; tests put faulty ones in.
type journalFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

func openJournalFile(path string) (journalFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// A journal makes a session's entries survive the program. Records are
// written in order by one goroutine, so that a disk that hangs holds up
// nobody; what could not be written is kept and tried again.
type journal struct {
	path string
	open func(path string) (journalFile, error)

	mu      sync.Mutex
	pending []*entry // not yet written, in order
	writing bool     // a goroutine is at work on pending
	err     error    // why the oldest pending record could not be written
	ended   bool     // no more writes
	idle    *sync.Cond

	// Only the writing goroutine touches these.
	file  journalFile
	size  int64 // of the whole records
	torn  bool  // half a record may stand behind them
	dirty bool
}

// An entry is a record on its way to the disk.
type entry struct {
	data []byte
	done chan struct{} // closed when written
	late func()        // called then, if nobody waits any more
}

func newJournal(path string, open func(string) (journalFile, error)) *journal {
	j := &journal{path: path, open: open}
	j.idle = sync.NewCond(&j.mu)
	return j
}

// post puts a record in line to be written and does not wait for it.
func (j *journal) post(r record) *entry {
	data, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("journal record: %v", err)) // our own types always marshal
	}
	e := &entry{data: append(data, '\n'), done: make(chan struct{})}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended {
		j.pending = append(j.pending, e)
		j.wakeLocked()
	}
	return e
}

// append writes a record and tells whether it was written in time. One that
// was not stays in line, and late is called when it is there after all.
func (j *journal) append(r record, late func()) (durable bool) {
	e := j.post(r)
	timer := time.NewTimer(journalPatience)
	defer timer.Stop()
	select {
	case <-e.done:
		return true
	case <-timer.C:
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case <-e.done:
		return true
	default:
		e.late = late
		return false
	}
}

// wakeLocked sees to it that somebody writes what is pending.
func (j *journal) wakeLocked() {
	if !j.writing && len(j.pending) > 0 {
		j.writing = true
		go j.write()
	}
}

// write empties the line. It gives up on a failure; the next append or tick
// tries again.
func (j *journal) write() {
	for {
		j.mu.Lock()
		if len(j.pending) == 0 || j.ended {
			j.restLocked(nil)
			j.mu.Unlock()
			return
		}
		batch := j.pending
		j.mu.Unlock()

		n, err := j.writeBatch(batch)
		j.mu.Lock()
		j.doneLocked(n)
		if err != nil {
			j.restLocked(err)
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()
	}
}

// doneLocked takes the first n entries out of the line.
func (j *journal) doneLocked(n int) {
	for _, e := range j.pending[:n] {
		close(e.done)
		if e.late != nil {
			go e.late()
		}
	}
	j.pending = j.pending[n:]
}

func (j *journal) restLocked(err error) {
	j.err, j.writing = err, false
	j.idle.Broadcast()
}

// writeBatch writes entries one after the other and tells how many are there.
func (j *journal) writeBatch(batch []*entry) (int, error) {
	if j.file == nil {
		if err := j.reopen(); err != nil {
			return 0, fmt.Errorf("open journal: %w", err)
		}
	}
	for i, e := range batch {
		if _, err := j.file.Write(e.data); err != nil {
			j.torn = j.file.Truncate(j.size) != nil
			_ = j.file.Close() // it is opened anew
			j.file = nil
			return i, fmt.Errorf("write journal: %w", err)
		}
		j.size += int64(len(e.data))
		j.dirty = true
	}
	return len(batch), nil
}

// reopen opens the file where its whole records end: half a record must not
// stand before the next one.
func (j *journal) reopen() error {
	f, err := j.open(j.path)
	if err != nil {
		return err
	}
	info, err := os.Stat(j.path)
	switch {
	case err != nil:
	case j.torn && info.Size() > j.size:
		err = f.Truncate(j.size)
	default:
		j.size = info.Size()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	j.file, j.torn = f, false
	return nil
}

// tick syncs what was written since the last one and tries again what could
// not be written. It may take as long as the disk does.
func (j *journal) tick() {
	j.mu.Lock()
	if j.writing || j.ended {
		j.mu.Unlock()
		return
	}
	if len(j.pending) > 0 {
		j.wakeLocked()
		j.mu.Unlock()
		return
	}
	if !j.dirty || j.file == nil {
		j.mu.Unlock()
		return
	}
	j.writing = true
	j.mu.Unlock()

	err := j.file.Sync()
	j.dirty = err != nil
	j.mu.Lock()
	j.restLocked(err)
	j.wakeLocked()
	j.mu.Unlock()
}

// trouble is why entries wait, or nil if none do.
func (j *journal) trouble() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// close ends the journal after a last sync; its file stays.
func (j *journal) close() error {
	j.tick()
	return j.end()
}

// end stops all writing and waits for the one under way.
func (j *journal) end() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	for j.writing {
		j.idle.Wait()
	}
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.Close()
}

// remove ends the journal and its file.
func (j *journal) remove() error {
	err := j.end()
	if rerr := os.Remove(j.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// rewrite replaces the journal's file by one that holds only these records,
// so that what was there before is gone.
func (j *journal) rewrite(records []record) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("journal record: %w", err)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.idle.Wait()
	}
	if j.ended {
		return errors.New("rewrite journal: it has ended")
	}
	if j.file != nil {
		_ = j.file.Close() // all that is in it is written anew
		j.file = nil
	}
	if err := writeFile(j.path, buf.Bytes()); err != nil {
		return fmt.Errorf("rewrite journal: %w", err)
	}
	j.doneLocked(len(j.pending)) // they are among the records
	j.err, j.torn = nil, false
	return nil
}

// writeFile replaces a file so that it is either the old one or the new one.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

const journalSuffix = ".jsonl"

// readJournal returns what a journal says. A last line that was cut off by a
// crash is taken out of the file; it was never shown to anybody.
func readJournal(path string) (*journaled, []hearken.Segment, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var head *journaled
	var segments []hearken.Segment
	var size int64
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			if err := f.Truncate(size); err != nil {
				return nil, nil, fmt.Errorf("drop half a line: %w", err)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		size += int64(len(line))
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, nil, fmt.Errorf("%w: line %d: %w", errDamaged, n, err)
		}
		if rec.Session != nil {
			head = rec.Session
		}
		if rec.Segment != nil {
			segments = append(segments, *rec.Segment)
		}
	}
	if head == nil {
		return nil, nil, fmt.Errorf("%w: no session in it", errDamaged)
	}
	return head, segments, nil
}

// listJournals returns the ids of the sessions that have a journal in dir.
func listJournals(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), journalSuffix); ok && hearken.ValidID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
