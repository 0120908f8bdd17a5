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
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// journalTimeout is how long a confirmed segment waits for the journal before
// it is shown anyway, marked as not durable.
const journalTimeout = 200 * time.Millisecond

// A record is one line of a journal. The journal is the truth about a session
// until the store has it: the first line describes the session, later lines add
// entries or describe it anew.
type record struct {
	Session *sessionRecord   `json:"session,omitempty"`
	Segment *hearken.Segment `json:"segment,omitempty"`
}

// sessionRecord is a session with the hub's own data about it.
type sessionRecord struct {
	hearken.Session
	Ticket string    `json:"ticket"`
	Clock  time.Time `json:"clock,omitzero"` // wall time of the session's first sample
	// What was said between ForgetFrom and Forgotten is ignored from now on.
	Forgotten  float64 `json:"forgotten,omitempty"`
	ForgetFrom float64 `json:"forgetFrom,omitempty"`
	// The store, or those who quote it, may still have what was said in these.
	ToForget []stretch     `json:"unforgotten,omitempty"`
	Backlog  []backlogSpan `json:"debts,omitempty"`
}

// journalFile is what a journal needs of a file; tests replace it by a faulty
// one.
type journalFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

func openJournalFile(path string) (journalFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// A journal makes a session's entries survive a crash. One goroutine writes
// records in order, so a disk that hangs delays nobody else. What could not be
// written is kept and retried.
type journal struct {
	path string
	open func(path string) (journalFile, error)

	mu      sync.Mutex
	pending []*entry // not yet written, in order
	writing bool     // a goroutine works on pending
	err     error    // why the oldest pending record could not be written
	ended   bool     // no more writes
	idle    *sync.Cond

	// Used only by the writing goroutine.
	file  journalFile
	size  int64 // of the whole records
	torn  bool  // a partial record may follow them
	dirty bool
}

// An entry is a record on its way to the disk.
type entry struct {
	data []byte
	done chan struct{} // closed when written
	late func()        // called then, if nobody waits for done
}

func newJournal(path string, open func(string) (journalFile, error)) *journal {
	j := &journal{path: path, open: open}
	j.idle = sync.NewCond(&j.mu)
	return j
}

// enqueue adds a record to be written and does not wait for it.
func (j *journal) enqueue(r record) *entry {
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

// append writes a record and reports whether it was written in time. If not, it
// stays queued and late is called once it is written.
func (j *journal) append(r record, late func()) (durable bool) {
	e := j.enqueue(r)
	timer := time.NewTimer(journalTimeout)
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

// wakeLocked starts the writing goroutine if there is something to write.
func (j *journal) wakeLocked() {
	if !j.writing && len(j.pending) > 0 {
		j.writing = true
		go j.write()
	}
}

// write writes the pending records. It stops at a failure; the next append or
// syncOrRetry retries.
func (j *journal) write() {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	for err == nil && len(j.pending) > 0 && !j.ended {
		batch := j.pending
		j.mu.Unlock()
		var n int
		n, err = j.writeBatch(batch)
		j.mu.Lock()
		j.doneLocked(n)
	}
	j.writerDoneLocked(err)
}

// doneLocked removes the first n entries from the queue.
func (j *journal) doneLocked(n int) {
	for _, e := range j.pending[:n] {
		close(e.done)
		if e.late != nil {
			go e.late()
		}
	}
	j.pending = j.pending[n:]
}

func (j *journal) writerDoneLocked(err error) {
	j.err, j.writing = err, false
	j.idle.Broadcast()
}

// writeBatch writes entries in order and returns how many were written.
func (j *journal) writeBatch(batch []*entry) (int, error) {
	if j.file == nil {
		if err := j.reopen(); err != nil {
			return 0, fmt.Errorf("open journal: %w", err)
		}
	}
	for i, e := range batch {
		if _, err := j.file.Write(e.data); err != nil {
			j.torn = j.file.Truncate(j.size) != nil
			_ = j.file.Close() // it is reopened
			j.file = nil
			return i, fmt.Errorf("write journal: %w", err)
		}
		j.size += int64(len(e.data))
		j.dirty = true
	}
	return len(batch), nil
}

// reopen opens the file and removes a partial record from its end.
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

// syncOrRetry syncs what was written since the last one, or retries what could not be
// written. It may take as long as the disk does.
func (j *journal) syncOrRetry() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.writing || j.ended:
	case len(j.pending) > 0:
		j.wakeLocked()
	case j.dirty && j.file != nil:
		j.writing = true
		j.mu.Unlock()
		err := j.file.Sync()
		j.dirty = err != nil
		j.mu.Lock()
		j.writerDoneLocked(err)
		j.wakeLocked()
	}
}

// lastError is why entries are waiting, or nil.
func (j *journal) lastError() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// close ends the journal after a last sync and leaves its file.
func (j *journal) close() error {
	j.syncOrRetry()
	return j.end()
}

// end stops writing and waits for a write that is under way.
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

// remove ends the journal and removes its file.
func (j *journal) remove() error {
	err := j.end()
	if rerr := os.Remove(j.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// rewrite replaces the journal's file by one with only these records.
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
		_ = j.file.Close() // everything in it is written anew
		j.file = nil
	}
	if err := files.Replace(j.path, buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("rewrite journal: %w", err)
	}
	j.doneLocked(len(j.pending)) // they are among the records
	j.err, j.torn = nil, false
	return nil
}

const journalSuffix = ".jsonl"

// readJournal reads a journal. It removes a last line that a crash cut off,
// which was never shown to anybody.
func readJournal(path string) (*sessionRecord, []hearken.Segment, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var head *sessionRecord
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
