package live

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A session that stopped for want of an engine gets its last words when there
// is one again, also from the next hub.
func TestHub_PaysDebts(t *testing.T) {
	refused := hearken.Errorf(hearken.Unauthorized, "The key is wrong.")
	for _, tt := range []struct {
		name    string
		between func(h *house)
	}{
		{"SameHub", func(*house) {}},
		{"NextHub", func(h *house) { h.close(); h.open() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within(t, func(h *house) {
				id := h.start()
				in := h.attach(id)
				h.send(in, 4)
				h.engine.FailAt(6.9, 1, refused)
				h.send(in, 3)
				h.engine.FailOpen(3, refused)
				after(time.Second)
				if s, err := h.hub.Session(h.Context(), id); err != nil || s.StopReason != hearken.StopProviderFailed {
					h.Fatalf("session %+v, %v", s, err)
				}
				if st := h.status(id); st.Owed < 1 {
					h.Errorf("%.1f s are owed", st.Owed)
				}
				tt.between(h)
				after(3 * time.Minute)
				said, happened := h.spoken(id)
				if want := words(0, 4); !slices.Equal(said[:4], want) {
					h.Errorf("said %q, want %q", said, want)
				}
				if last := happened[len(happened)-1]; !strings.HasSuffix(last, "transcribed later]") {
					h.Errorf("happened %q", happened)
				}
				if st := h.status(id); st.Owed != 0 {
					h.Errorf("%.1f s are still owed", st.Owed)
				}
				if h.hub.find(id) != nil {
					h.Error("the session is still in the hub's hands")
				}
			})
		})
	}
	t.Run("NeverAnEngine", func(t *testing.T) {
		within(t, func(h *house) {
			id := h.start()
			h.engine.FailOpen(1_000_000, refused)
			h.send(h.attach(id), 0.1)
			after(26 * time.Hour)
			_, happened := h.spoken(id)
			if last := happened[len(happened)-1]; !strings.HasSuffix(last, "never transcribed]") {
				h.Errorf("happened %q", happened)
			}
			if left := h.find(".pcm"); len(left) > 0 || h.hub.find(id) != nil {
				h.Errorf("still there: %q", left)
			}
		})
	})
	t.Run("Deleted", func(t *testing.T) {
		within(t, func(h *house) {
			id := h.start()
			h.engine.FailOpen(1_000_000, refused)
			h.send(h.attach(id), 0.1)
			after(time.Minute)
			if err := h.hub.Delete(h.Context(), id); err != nil {
				h.Error(err)
			}
			after(time.Minute)
		})
	})
}

// slow takes old sound hardly faster than new.
type slow struct{ *stttest.Scripted }

func (slow) Pace() float64 { return 1.25 }

// After a long outage a session goes on with what is said now; what was said
// meanwhile follows, and stands where it was said.
func TestHub_FillsGaps(t *testing.T) {
	within(t, func(h *house) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 4)
		h.engine.FailAt(5, 1, errors.New("connection reset"))
		h.engine.FailOpen(2, &busy{20 * time.Second})
		h.send(in, 56)
		after(15 * time.Second)
		said, happened := h.spoken(id)
		// The line that was being said where the session jumped to is cut in
		// two by this engine, which speaks by the clock.
		for _, want := range words(0, 30) {
			if !slices.Contains(said, want) {
				h.Errorf("%q is missing", want)
			}
		}
		if !slices.IsSortedFunc(said[:10], func(a, b string) int { return len(a) - len(b) }) {
			h.Errorf("not in order: %q", said)
		}
		if len(happened) != 2 || !strings.HasPrefix(happened[0], "[gap: ") || !strings.HasSuffix(happened[1], "transcribed later]") {
			h.Errorf("happened %q", happened)
		}
		if st := h.status(id); st.Owed != 0 || st.Dropped != 0 {
			h.Errorf("status %+v", st)
		}
	}, func(c *Config) { c.Providers[0] = slow{c.Providers[0].(*stttest.Scripted)}; c.SpoolSeconds = 600 })
}
