package live

import (
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// TestHub_ReadersSeeEachEntryOnce checks what polling relies on: a reader that
// continues at Next sees each confirmed entry exactly once and in order, with
// pages of any size at any time.
func TestHub_ReadersSeeEachEntryOnce(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		limits := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 5).Draw(r, "limits")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 9000), 1, 5).Draw(r, "pauses")
		longPoll := rapid.Bool().Draw(r, "wait")
		synctest.Test(t, func(t *testing.T) {
			h := &testHub{T: t, dir: filepath.Join(dir, strconv.Itoa(run)), engine: stttest.Every("scripted", 2)}
			h.open()
			defer h.close()
			id := h.start()
			in := h.attach(id)
			done := make(chan struct{})
			go func() {
				defer close(done)
				frame := make([]int16, hearken.SampleRate/10)
				for range 300 {
					wait(100 * time.Millisecond)
					in.Write(frame)
				}
				in.Finish()
			}()
			seen := 0
			for i := 0; ; i++ {
				req := ReadRequest{Session: id, From: seen, Limit: limits[i%len(limits)]}
				if longPoll {
					req.Wait = time.Duration(pauses[i%len(pauses)]) * time.Millisecond
				} else {
					wait(time.Duration(pauses[i%len(pauses)]) * time.Millisecond)
				}
				page, err := h.hub.Read(h.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if len(page.Segments) > req.Limit {
					t.Fatalf("%d entries where %d were asked for", len(page.Segments), req.Limit)
				}
				for _, seg := range page.Segments {
					if seg.Line != seen+1 {
						t.Fatalf("line %d after line %d", seg.Line, seen)
					}
					seen = seg.Line
				}
				if page.Session.Status == hearken.Stopped && !page.More && len(page.Segments) == 0 {
					break
				}
				if i > 2000 {
					wait(100 * time.Millisecond) // a reader that never pauses
				}
			}
			<-done
			if seen != 15 {
				t.Fatalf("saw %d entries, want 15", seen)
			}
		})
	})
}
