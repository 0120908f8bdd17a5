package storetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Store = (*Faulty)(nil)

// Faulty forwards calls to another store, but fails, hangs or delays them on
// demand. Faults may be switched on and off at any time. Close always works, so
// that a test can clean up.
type Faulty struct {
	store hearken.Store

	mu     sync.Mutex
	err    error         // with which calls fail
	left   int           // how many calls still fail; negative for all
	late   bool          // fail after the store has done its work
	delay  time.Duration // added to each call
	gate   chan struct{} // calls wait until it is closed; nil for no waiting
	only   []string      // the methods that are faulty; empty for all
	counts map[string]int
	stuck  int
}

// NewFaulty wraps a store that works.
func NewFaulty(s hearken.Store) *Faulty {
	return &Faulty{store: s, counts: map[string]int{}}
}

// Fail makes every call fail with err. A nil error ends this.
func (f *Faulty) Fail(err error) { f.setErr(err, -1, false) }

// FailNext makes the next n calls fail with err.
func (f *Faulty) FailNext(n int, err error) { f.setErr(err, n, false) }

// LoseAnswers makes every call do its work and then return err, like a
// connection that breaks after the commit. A nil error ends this.
func (f *Faulty) LoseAnswers(err error) { f.setErr(err, -1, true) }

func (f *Faulty) setErr(err error, n int, late bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.left, f.late = err, n, late
}

// Slow makes each call take d longer. A context that ends cuts it short.
func (f *Faulty) Slow(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = d
}

// Stall makes calls hang until release is called or their context ends.
func (f *Faulty) Stall() (release func()) {
	gate := make(chan struct{})
	f.mu.Lock()
	f.gate = gate
	f.mu.Unlock()
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.gate == gate {
			f.gate = nil
		}
		close(gate)
	})
}

// Only limits the faults to the methods named, such as "Save". Without names
// all methods are faulty.
func (f *Faulty) Only(methods ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.only = methods
}

// Calls is how often a method was called, failed calls included.
func (f *Faulty) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

// Stuck is how many calls hang now.
func (f *Faulty) Stuck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stuck
}

// do runs one call with the faults that are switched on.
func (f *Faulty) do(ctx context.Context, method string, call func() error) error {
	f.mu.Lock()
	f.counts[method]++
	var err error
	var late bool
	var delay time.Duration
	var gate chan struct{}
	if len(f.only) == 0 || slices.Contains(f.only, method) {
		if f.err != nil && f.left != 0 {
			err, late = f.err, f.late
			f.left--
		}
		delay, gate = f.delay, f.gate
	}
	f.mu.Unlock()

	if gate != nil {
		if err := f.hang(ctx, gate); err != nil {
			return err
		}
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == nil {
		return call()
	}
	if late {
		if err := call(); err != nil {
			return err
		}
	}
	return err
}

func (f *Faulty) hang(ctx context.Context, gate chan struct{}) error {
	count := func(n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.stuck += n
	}
	count(1)
	defer count(-1)
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doValue is do for a call that also returns a value.
func doValue[T any](ctx context.Context, f *Faulty, method string, call func() (T, error)) (T, error) {
	var answer, none T
	err := f.do(ctx, method, func() (err error) {
		answer, err = call()
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

func (f *Faulty) Save(ctx context.Context, s *hearken.Session, segments []hearken.Segment) error {
	return f.do(ctx, "Save", func() error { return f.store.Save(ctx, s, segments) })
}

func (f *Faulty) Session(ctx context.Context, id string) (*hearken.Session, error) {
	return doValue(ctx, f, "Session", func() (*hearken.Session, error) { return f.store.Session(ctx, id) })
}

func (f *Faulty) Sessions(ctx context.Context, sf hearken.SessionFilter) ([]hearken.Session, error) {
	return doValue(ctx, f, "Sessions", func() ([]hearken.Session, error) { return f.store.Sessions(ctx, sf) })
}

func (f *Faulty) Segments(ctx context.Context, id string, line, limit int, words bool) ([]hearken.Segment, error) {
	return doValue(ctx, f, "Segments", func() ([]hearken.Segment, error) {
		return f.store.Segments(ctx, id, line, limit, words)
	})
}

func (f *Faulty) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	return doValue(ctx, f, "Search", func() ([]hearken.Hit, error) { return f.store.Search(ctx, q) })
}

func (f *Faulty) Delete(ctx context.Context, id string) error {
	return f.do(ctx, "Delete", func() error { return f.store.Delete(ctx, id) })
}

func (f *Faulty) Forget(ctx context.Context, id string, from, to float64) error {
	return f.do(ctx, "Forget", func() error { return f.store.Forget(ctx, id, from, to) })
}

func (f *Faulty) SaveNote(ctx context.Context, n *hearken.Note) error {
	return f.do(ctx, "SaveNote", func() error { return f.store.SaveNote(ctx, n) })
}

func (f *Faulty) Note(ctx context.Context, session string) (*hearken.Note, error) {
	return doValue(ctx, f, "Note", func() (*hearken.Note, error) { return f.store.Note(ctx, session) })
}

func (f *Faulty) SaveKey(ctx context.Context, k *hearken.Key) error {
	return f.do(ctx, "SaveKey", func() error { return f.store.SaveKey(ctx, k) })
}

func (f *Faulty) Keys(ctx context.Context) ([]hearken.Key, error) {
	return doValue(ctx, f, "Keys", func() ([]hearken.Key, error) { return f.store.Keys(ctx) })
}

func (f *Faulty) SaveOwner(ctx context.Context, o *hearken.StoreOwner) error {
	return f.do(ctx, "SaveOwner", func() error { return f.store.SaveOwner(ctx, o) })
}

func (f *Faulty) Owner(ctx context.Context) (*hearken.StoreOwner, error) {
	return doValue(ctx, f, "Owner", func() (*hearken.StoreOwner, error) { return f.store.Owner(ctx) })
}

func (f *Faulty) SaveExposure(ctx context.Context, principal string, at time.Time) error {
	return f.do(ctx, "SaveExposure", func() error { return f.store.SaveExposure(ctx, principal, at) })
}

func (f *Faulty) Exposures(ctx context.Context) (map[string]time.Time, error) {
	return doValue(ctx, f, "Exposures", func() (map[string]time.Time, error) { return f.store.Exposures(ctx) })
}

func (f *Faulty) SaveAuditHead(ctx context.Context, h *hearken.AuditHead) error {
	return f.do(ctx, "SaveAuditHead", func() error { return f.store.SaveAuditHead(ctx, h) })
}

func (f *Faulty) AuditHeads(ctx context.Context) ([]hearken.AuditHead, error) {
	return doValue(ctx, f, "AuditHeads", func() ([]hearken.AuditHead, error) { return f.store.AuditHeads(ctx) })
}

// Close closes the other store.
func (f *Faulty) Close() error { return f.store.Close() }
