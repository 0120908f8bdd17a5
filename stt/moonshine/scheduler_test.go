package moonshine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// blocked returns a scheduler with one core that is busy until release.
func blocked(t *testing.T) (s *scheduler, release func()) {
	s = newScheduler(1)
	gate, running := make(chan struct{}), make(chan struct{})
	s.add(&task{priority: finalTask, run: func() { close(running); <-gate }})
	<-running
	return s, sync.OnceFunc(func() { close(gate) })
}

func TestScheduler_Order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := blocked(t)
		var order []string
		add := func(name string, c priority) *task {
			k := &task{priority: c, run: func() { order = append(order, name) }}
			s.add(k)
			<-time.After(time.Millisecond) // of the bubble's own time: ages differ
			return k
		}
		add("partial 1", partialTask)
		likely := add("likely, then final", likelyTask)
		gone := add("withdrawn", finalTask)
		add("partial 2", partialTask)
		add("likely", likelyTask)
		add("final", finalTask)
		s.promote(likely, finalTask)
		if !s.withdraw(gone) || s.withdraw(gone) {
			t.Error("a waiting task is withdrawn once")
		}
		release()
		synctest.Wait()
		want := []string{"likely, then final", "final", "likely", "partial 1", "partial 2"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Error(diff)
		}
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestScheduler_OneInferenceForEachCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(3)
		var mu sync.Mutex
		now, most, ran := 0, 0, 0
		for range 50 {
			s.add(&task{priority: partialTask, run: func() {
				mu.Lock()
				now++
				most = max(most, now)
				ran++
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
			}})
		}
		<-time.After(10 * time.Second)
		if load, _ := s.pressure(); load < 0.8 {
			t.Errorf("load %.2f with all cores busy", load)
		}
		<-time.After(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if most != 3 || ran != 50 {
			t.Errorf("%d at once, %d in all", most, ran)
		}
		if load, wait := s.pressure(); load > 0.01 || wait != 0 {
			t.Errorf("load %.2f, wait %s after a minute of nothing", load, wait)
		}
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestScheduler_CloseDropsWhatWaits(t *testing.T) {
	s, release := blocked(t)
	s.add(&task{priority: finalTask, run: func() { t.Error("ran after close") }})
	done := make(chan error)
	go func() { done <- s.close(t.Context()) }()
	for closed := false; !closed; {
		s.mu.Lock()
		closed = s.closed
		s.mu.Unlock()
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
