package moonshine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A priority is how urgent a task is; lower ones go first.
type priority int

const (
	finalTask   priority = iota // of an utterance that has ended
	likelyTask                  // of one that has probably ended
	partialTask                 // unconfirmed text, or a file that nobody waits for word by word
)

// A task is one inference. Its run is called once, on one of the scheduler's
// workers, unless the task is withdrawn before. If it panics, failed is called
// and the worker continues.
type task struct {
	priority priority
	since    time.Time // when it was queued; the oldest of a priority goes first
	run      func()
	failed   func(panicked any)
}

// A scheduler runs one inference for each core. Among tasks of one priority the
// oldest goes first, whichever stream it is of, so no stream waits forever.
// Partials run only when no final waits, so a busy computer leaves them out
// first.
type scheduler struct {
	now func() time.Time

	mu     sync.Mutex
	wake   sync.Cond
	queue  [partialTask + 1][]*task
	closed bool
	busy   int // workers that run something
	cores  int

	load    float64 // share of the cores in use, averaged over some seconds
	loadAt  time.Time
	workers sync.WaitGroup
}

func newScheduler(cores int) *scheduler {
	s := &scheduler{now: time.Now, cores: cores}
	s.wake.L = &s.mu
	s.loadAt = s.now()
	for range cores {
		s.workers.Go(s.runTasks)
	}
	return s
}

func (s *scheduler) add(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.since.IsZero() {
		t.since = s.now()
	}
	s.insert(t)
}

// insert keeps each queue in the order of age. Only promoted tasks are older
// than the last of the queue.
func (s *scheduler) insert(t *task) {
	q := s.queue[t.priority]
	i := len(q)
	for i > 0 && q[i-1].since.After(t.since) {
		i--
	}
	s.queue[t.priority] = slices.Insert(q, i, t)
	s.wake.Signal()
}

// promote gives a task that still waits another priority. It ignores one that
// runs or has run.
func (s *scheduler) promote(t *task, c priority) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remove(t) {
		t.priority = c
		s.insert(t)
	}
}

// withdraw removes a waiting task and reports whether it was still waiting.
func (s *scheduler) withdraw(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(t)
}

func (s *scheduler) remove(t *task) bool {
	i := slices.Index(s.queue[t.priority], t)
	if i < 0 {
		return false
	}
	s.queue[t.priority] = slices.Delete(s.queue[t.priority], i, i+1)
	return true
}

func (s *scheduler) runTasks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		t := s.nextTask()
		if t == nil {
			if s.closed {
				return
			}
			s.wake.Wait()
			continue
		}
		s.countBusy(+1)
		s.mu.Unlock()
		t.runRecovering()
		s.mu.Lock()
		s.countBusy(-1)
	}
}

func (t *task) runRecovering() {
	defer func() {
		if v := recover(); v != nil {
			t.failed(v)
		}
	}()
	t.run()
}

func (s *scheduler) nextTask() *task {
	for c := range s.queue {
		if q := s.queue[c]; len(q) > 0 && !s.closed {
			t := q[0]
			q[0] = nil
			s.queue[c] = q[1:]
			return t
		}
	}
	return nil
}

// countBusy updates the average of how many cores are in use, over about four
// seconds.
func (s *scheduler) countBusy(change int) {
	now := s.now()
	s.load = s.averageLoad(now)
	s.loadAt = now
	s.busy += change
}

func (s *scheduler) averageLoad(now time.Time) float64 {
	const memory = 4.0
	share := min(now.Sub(s.loadAt).Seconds()/memory, 1)
	return s.load + (float64(s.busy)/float64(s.cores)-s.load)*share
}

// pressure is the share of the cores in use lately, and how long the oldest
// final has been waiting.
func (s *scheduler) pressure() (load float64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if q := s.queue[finalTask]; len(q) > 0 {
		wait = now.Sub(q[0].since)
	}
	return s.averageLoad(now), wait
}

// close drops what waits, and returns when nothing runs any more or ctx ends.
func (s *scheduler) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.wake.Broadcast()
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
