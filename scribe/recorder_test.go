package scribe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/storetest"
)

// A foreign is a scribe that is not ours: it says something every two seconds.
type foreign struct {
	hearken.Scribe
	mu      sync.Mutex
	began   time.Time
	session string
	running bool
	broken  error
}

func (f *foreign) Start(ctx context.Context, _ hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	f.mu.Lock()
	if !f.running {
		f.began, f.running = time.Now(), true
		f.session = "call of " + f.began.Format(time.TimeOnly)
	}
	f.mu.Unlock()
	return f.Status(ctx)
}

func (f *foreign) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	f.mu.Lock()
	f.running = false
	f.mu.Unlock()
	return f.Status(ctx)
}

func (f *foreign) Status(context.Context) (*hearken.ScribeStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &hearken.ScribeStatus{Running: f.running, Session: f.session, Since: f.began}, nil
}

func (f *foreign) Tail(_ context.Context, req hearken.TailRequest) (*hearken.ScribePage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return nil, f.broken
	}
	page := &hearken.ScribePage{Session: f.session, Next: req.SinceLine}
	n := int(time.Since(f.began) / (2 * time.Second))
	for i := req.SinceLine; i <= n; i++ {
		at := f.began.Add(time.Duration(i) * 2 * time.Second)
		page.Entries = append(page.Entries,
			hearken.Segment{Line: i, Origin: "M", Status: "C", Text: fmt.Sprint("ord ", i), Language: "sv", Timestamp: at, EndTime: 1},
			hearken.Segment{Line: i, Origin: "M", Status: "T", Text: fmt.Sprint("word ", i), Language: "en", Timestamp: at, EndTime: 1})
		page.Next = i + 1
	}
	page.Entries = append(page.Entries, hearken.Segment{Line: n + 1, Origin: "M", Status: "U", Text: "o"})
	return page, nil
}

func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, f := storetest.NewMemory(), &foreign{}
		k := scribe.Record(f, scribe.RecorderConfig{Store: store, Principal: "local"})
		kept := func(want int) []hearken.Session {
			t.Helper()
			list, err := store.Sessions(t.Context(), hearken.SessionFilter{})
			if err != nil || len(list) != want {
				t.Fatalf("%d sessions are kept, want %d: %v", len(list), want, err)
			}
			return list
		}
		start := func() {
			t.Helper()
			if _, err := k.Start(t.Context(), hearken.CaptureRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		start()
		start()
		after(7 * time.Second)
		first := kept(1)[0]
		if first.SegmentCount != 6 || first.Status != hearken.Stopped || !first.Config.Capture || first.Principal != "local" || first.Duration != 7 {
			t.Errorf("kept: %+v", first)
		}
		f.mu.Lock()
		f.broken = errors.New("the program hangs")
		f.mu.Unlock()
		after(4 * time.Second)
		f.mu.Lock()
		f.broken = nil
		f.mu.Unlock()
		after(10 * time.Second)
		segments, err := store.Segments(t.Context(), first.ID, 1, 100, false)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for i, s := range segments {
			got = append(got, fmt.Sprint(s.Line, s.Status, s.StartTime, s.Text))
			n := i/2 + 1
			want = append(want, fmt.Sprint(i+1, []string{"C", "T"}[i%2], float64(2*n), []string{"ord ", "word "}[i%2], n))
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 18 {
			t.Errorf("%d entries: %s", len(got), diff)
		}

		// What was deleted stays deleted, and the next session is kept again.
		if err := store.Delete(t.Context(), first.ID); err != nil {
			t.Fatal(err)
		}
		after(10 * time.Second)
		kept(0)
		if _, err := k.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		start()
		after(5 * time.Second)
		if again := kept(1)[0]; again.ID == first.ID || again.SegmentCount != 4 {
			t.Errorf("the second: %+v", again)
		}
		if err := k.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
