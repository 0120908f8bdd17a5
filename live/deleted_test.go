package live

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// A quoter has copies of what was said.
type quoter struct {
	look func() // called before a deletion

	mu    sync.Mutex
	calls []deletion
	err   error
	n     int
}

type deletion struct {
	session  string
	from, to float64
}

func (q *quoter) deleted(_ context.Context, session string, from, to float64) (int, error) {
	if q.look != nil {
		q.look()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, deletion{session, from, to})
	return q.n, q.err
}

// answer sets what the next deletions return.
func (q *quoter) answer(n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n, q.err = n, err
}

func (q *quoter) forgetCalls() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = nil
}

func (q *quoter) config(c *Config) { c.OnDeleted = q.deleted }

// all is the deletion of a whole session.
func all(id string) deletion { return deletion{id, math.Inf(-1), math.Inf(1)} }

func (h *testHub) wantCalls(q *quoter, want ...deletion) {
	h.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Equal(q.calls, want) {
		h.Errorf("the copies of %v were deleted, want %v", q.calls, want)
	}
	q.calls = nil
}

// Copies are deleted when the hub's own is gone, so that nobody makes another.
func TestHub_OnDeleted(t *testing.T) {
	q := &quoter{}
	withHub(t, func(h *testHub) {
		q.look = func() {
			if left := h.find("word 14 at"); len(left) > 0 {
				h.Errorf("still there: %q", left)
			}
		}
		id := h.start()
		h.send(h.attach(id), 30)
		if _, err := h.hub.Forget(h.Context(), id, 10*time.Second); err != nil {
			h.Fatal(err)
		}
		h.wantCalls(q, deletion{id, 20, 30})
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		wait(time.Second)
		if _, err := h.hub.Forget(h.Context(), id, 15*time.Second); err != nil {
			h.Fatal(err)
		}
		h.wantCalls(q, deletion{id, 15, math.Inf(1)})
		if err := h.hub.Delete(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.wantCalls(q, all(id))
		active := h.start()
		h.send(h.attach(active), 30)
		if err := h.hub.Delete(h.Context(), active); err != nil {
			h.Fatal(err)
		}
		h.wantCalls(q, all(active))
	}, q.config)
}

func TestHub_OnDeleted_Retention(t *testing.T) {
	q := &quoter{}
	withHub(t, func(h *testHub) {
		id := h.saved()
		wait(25 * time.Hour)
		h.wantCalls(q, all(id))
	}, q.config, func(c *Config) { c.Retention = 24 * time.Hour })
}

var errDisk = errors.New("disk I/O error")

// A deletion that fails in the middle is completed by the same call.
func TestHub_OnDeleted_Fails(t *testing.T) {
	q := &quoter{}
	withHub(t, func(h *testHub) {
		stored, active := h.saved(), h.start()
		h.send(h.attach(active), 4)
		for _, id := range []string{stored, active} {
			q.answer(0, errDisk)
			q.forgetCalls()
			for range 2 {
				if err := h.hub.Delete(h.Context(), id); hearken.CodeOf(err) != hearken.RepositoryError || !strings.Contains(err.Error(), "still quote") {
					h.Errorf("the first calls: %v", err)
				}
			}
			q.answer(1, nil)
			if err := h.hub.Delete(h.Context(), id); err != nil {
				h.Errorf("the third call: %v", err)
			}
			h.wantCalls(q, all(id), all(id), all(id))
			q.answer(0, nil)
			if err := h.hub.Delete(h.Context(), id); hearken.CodeOf(err) != hearken.SessionNotFound {
				h.Errorf("the fourth call: %v", err)
			}
		}
	}, q.config)
}

func TestHub_OnDeleted_FailsToForget(t *testing.T) {
	q := &quoter{}
	withHub(t, func(h *testHub) {
		id := h.saved()
		q.answer(0, errDisk)
		if _, err := h.hub.Forget(h.Context(), id, 10*time.Second); hearken.CodeOf(err) != hearken.RepositoryError {
			h.Errorf("the first call: %v", err)
		}
		q.answer(0, nil)
		if _, err := h.hub.Forget(h.Context(), id, 10*time.Second); err != nil {
			h.Errorf("the second call: %v", err)
		}
		h.wantCalls(q, deletion{id, 50, math.Inf(1)}, deletion{id, 50, math.Inf(1)})
	}, q.config)
}

// In an active session time passes between two calls, so the second one alone
// would not reach as far. What the first could not do is done by the second, by
// the hub on its own, or by the next hub after a crash.
func TestHub_ForgetFailsHalfway(t *testing.T) {
	for _, what := range []string{"store", "quotes"} {
		for _, how := range []string{"again", "later", "killed"} {
			t.Run(what+"/"+how, func(t *testing.T) {
				q := &quoter{}
				withHub(t, func(h *testHub) {
					id := h.start()
					in := h.attach(id)
					h.send(in, 24)
					wait(time.Minute) // it is in the store
					if what == "store" {
						h.store.Only("Forget")
						h.store.Fail(errDisk)
					} else {
						q.answer(0, errDisk)
					}
					if _, err := h.hub.Forget(h.Context(), id, 10*time.Second); hearken.CodeOf(err) != hearken.RepositoryError {
						h.Fatalf("the first call: %v", err)
					}
					h.send(in, 8)
					q.forgetCalls()
					if how == "killed" {
						h.killed(q.config) // with a store that works
						if got := h.texts(id); slices.Contains(got, words(9, 10)[0]) {
							h.Errorf("back from the store: %q", got)
						}
					}
					h.store.Fail(nil)
					q.answer(0, nil)
					want := []deletion{{id, 14, 24}}
					if how == "again" {
						if _, err := h.hub.Forget(h.Context(), id, 10*time.Second); err != nil {
							h.Fatal(err)
						}
						want = append(want, deletion{id, 22, 32})
					} else {
						wait(2 * time.Minute)
					}
					h.wantCalls(q, want...)
					if left := h.find("word 7 at", "word 11 at"); len(left) > 0 {
						h.Errorf("still there: %q", left)
					}
					if got := h.texts(id); slices.Contains(got, words(9, 10)[0]) || !slices.Contains(got, words(5, 6)[0]) {
						h.Errorf("left: %q", got)
					}
				}, q.config)
			})
		}
	}
}

func TestHub_HasLine(t *testing.T) {
	withHub(t, func(h *testHub) {
		active := h.start()
		h.send(h.attach(active), 6)
		stored := h.saved()
		if _, err := h.hub.Forget(h.Context(), stored, time.Second); err != nil {
			h.Fatal(err)
		}
		const missing = "0198c0de-0000-7000-8000-00000000000f"
		for _, tt := range []struct {
			session string
			line    int
			want    bool
		}{
			{active, 1, true}, {active, 900, false}, {stored, 1, false}, {stored, 2, true}, {stored, 900, false}, {missing, 1, false},
		} {
			if got, err := h.hub.HasLine(h.Context(), tt.session, tt.line); err != nil || got != tt.want {
				h.Errorf("line %d of %s: %t, %v", tt.line, tt.session, got, err)
			}
		}
		h.store.Fail(errDisk)
		if _, err := h.hub.HasLine(h.Context(), stored, 2); err == nil {
			h.Error("no error from a store that fails")
		}
		h.store.Fail(nil)
	})
}

// Files that a crash or damage left go as well.
func TestHub_DeleteLeavesNoLeftovers(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.saved()
		h.close()
		for _, name := range []string{".new-123", id + ".jsonl"} {
			if err := os.WriteFile(filepath.Join(h.dir, "journal", name), []byte("half of the last words\n"), 0o600); err != nil {
				h.Fatal(err)
			}
		}
		h.open()
		if err := h.hub.Delete(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		if left := h.find("the last words", id); len(left) > 0 {
			h.Errorf("still there: %q", left)
		}
	})
}
