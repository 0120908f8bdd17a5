package live

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

func TestHub_DeleteLeavesNothing(t *testing.T) {
	for _, stop := range []bool{false, true} {
		name := map[bool]string{false: "Active", true: "Stopped"}[stop]
		t.Run(name, func(t *testing.T) {
			withHub(t, func(h *testHub) {
				other := h.start()
				s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local", Title: "Geheimnis", KeepAudio: true})
				if err != nil {
					h.Fatal(err)
				}
				in := h.attach(s.ID)
				for i := range 450 {
					wait(100 * time.Millisecond)
					frame := make([]int16, hearken.SampleRate/10)
					for j := range frame {
						frame[j] = int16(i + j) // audio that can be found again
					}
					in.Write(frame)
				}
				if err := h.hub.SaveNote(h.Context(), hearken.Note{Session: s.ID, Text: "Zusammenfassung"}); err != nil {
					h.Fatal(err)
				}
				if stop {
					if _, err := h.hub.Stop(h.Context(), s.ID); err != nil {
						h.Fatal(err)
					}
					wait(time.Second)
				}
				sound := []byte{100, 0, 101, 0, 102, 0, 103, 0}
				if !slices.Equal(h.find("Geheimnis", "word 9 at", "Zusammenfassung", string(sound)), []string{"Geheimnis", "Zusammenfassung", string(sound), "word 9 at"}) {
					h.Fatal("the test does not find what is there")
				}
				if err := h.hub.Delete(h.Context(), s.ID); err != nil {
					h.Fatal(err)
				}
				wait(2 * time.Second)
				if left := h.find("Geheimnis", "geheimnis", "word 1", "at 18.0", "Zusammenfassung", string(sound), s.ID); len(left) > 0 {
					h.Errorf("still there: %q", left)
				}
				if _, err := h.hub.Session(h.Context(), s.ID); hearken.CodeOf(err) != hearken.SessionNotFound {
					h.Errorf("the deleted session: %v", err)
				}
				if _, err := h.hub.Session(h.Context(), other); err != nil {
					h.Errorf("the other session: %v", err)
				}
			})
		})
	}
}

// find returns which of the strings occur in any file of the data directory.
func (h *testHub) find(want ...string) []string {
	var found []string
	filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, w := range want {
			if bytes.Contains(data, []byte(w)) || strings.Contains(path, w) {
				found = append(found, w)
			}
		}
		return err
	})
	slices.Sort(found)
	return slices.Compact(found)
}

func TestHub_ForgetTheLastMinutes(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 60)
		n, err := h.hub.Forget(h.Context(), id, 31*time.Second)
		if err != nil || n != 16 {
			h.Fatalf("forgot %d entries, %v", n, err)
		}
		if left := h.find("word 20 at", "word 29 at", "40.0"); len(left) > 0 {
			h.Errorf("still there: %q", left)
		}
		h.send(in, 10)
		got := h.texts(id)
		want := slices.Concat(words(0, 14), []string{"[the last 31s were forgotten on request]"}, words(30, 35))
		if !slices.Equal(got, want) {
			h.Errorf("after forgetting: %q", got)
		}
		h.killed()
		h.want(id, want)
		page, _ := h.hub.Read(h.Context(), ReadRequest{Session: id, From: 14})
		if page.Segments[0].Line != 31 {
			h.Errorf("the entry after what was forgotten has line %d, want 31: cursors must stay valid", page.Segments[0].Line)
		}
	})
}

func TestHub_ForgottenStaysForgottenAfterAKill(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 20)
		if _, err := h.hub.Forget(h.Context(), id, time.Hour); err != nil {
			h.Fatal(err)
		}
		h.killed()
		in := h.attach(id)
		if got := in.Received(); got != 20*hearken.SampleRate {
			h.Errorf("the sender is asked for what was forgotten, from %.1f s on", seconds(got))
		}
		h.send(in, 4)
		h.want(id, append([]string{"[the last 1h0m0s were forgotten on request]"}, words(10, 12)...))
	})
}

func TestHub_ForgetWhatIsKept(t *testing.T) {
	withHub(t, func(h *testHub) {
		s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local", KeepAudio: true})
		if err != nil {
			h.Fatal(err)
		}
		h.send(h.attach(s.ID), 40)
		if _, err := h.hub.Stop(h.Context(), s.ID); err != nil {
			h.Fatal(err)
		}
		wait(time.Second)
		if n, err := h.hub.Forget(h.Context(), s.ID, time.Hour); err != nil || n != 20 {
			h.Fatalf("forgot %d, %v", n, err)
		}
		if _, err := h.hub.Retranscribe(h.Context(), s.ID, hearken.StartRequest{}); hearken.CodeOf(err) != hearken.NotFound {
			h.Errorf("forgotten audio is transcribed again: %v", err)
		}
	})
}

// However forgetting, stopping, deleting and saving overlap, none waits for
// ever and nothing that was deleted returns.
func TestHub_ForgetMeetsTheOthers(t *testing.T) {
	for i := range 20 {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.send(h.attach(id), 30)
			h.store.Slow(time.Duration(i) * 10 * time.Millisecond)
			var work sync.WaitGroup
			for range 3 {
				work.Go(func() { h.hub.Forget(h.Context(), id, 5*time.Second) })
			}
			work.Go(func() { h.hub.Stop(h.Context(), id) })
			work.Go(func() {
				wait(time.Duration(i) * 20 * time.Millisecond)
				h.hub.Delete(h.Context(), id)
			})
			work.Wait()
			h.store.Slow(0)
			wait(2 * time.Second)
			h.hub.Delete(h.Context(), id) // if stopping and saving overtook the first
			if left := h.find("word 1", id); len(left) > 0 {
				h.Errorf("still there: %q", left)
			}
		})
	}
}

// A rename never restores a deleted session.
func TestHub_DeleteMeetsRename(t *testing.T) {
	for i := range 20 {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.send(h.attach(id), 4)
			if _, err := h.hub.Stop(h.Context(), id); err != nil {
				h.Fatal(err)
			}
			wait(time.Duration(i%2) * time.Second)
			h.store.Slow(time.Duration(i) * time.Millisecond)
			var work sync.WaitGroup
			for range 3 {
				work.Go(func() {
					h.hub.Rename(h.Context(), id, "Geheimnis")
					h.hub.SaveNote(h.Context(), hearken.Note{Session: id, Text: "Geheimnis"})
				})
			}
			var err error
			work.Go(func() {
				wait(time.Duration(i) * time.Millisecond)
				err = h.hub.Delete(h.Context(), id)
			})
			work.Wait()
			h.store.Slow(0)
			if err != nil {
				h.Fatal(err)
			}
			wait(2 * time.Second)
			if _, err := h.hub.Session(h.Context(), id); hearken.CodeOf(err) != hearken.SessionNotFound {
				h.Errorf("deleted, and back again: %v", err)
			}
			if left := h.find("Geheimnis", id); len(left) > 0 {
				h.Errorf("still there: %q", left)
			}
		})
	}
}

// What was said is forgotten by its time, not by its line: audio that had to
// wait is transcribed later and has later lines.
func TestHub_ForgetOutOfOrder(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.engine.Stall()
		h.send(in, 20)
		if _, err := h.hub.Forget(h.Context(), id, 6*time.Second); err != nil {
			h.Fatal(err)
		}
		h.engine.Resume()
		h.send(in, 6)
		wait(30 * time.Second) // the first 14 seconds come after the last 6
		if n, err := h.hub.Forget(h.Context(), id, 2500*time.Millisecond); err != nil || n != 2 {
			h.Fatalf("forgot %d entries, %v", n, err)
		}
		said, happened := h.splitEntries(id)
		slices.Sort(said)
		if want := append(words(10, 11), words(0, 7)...); !slices.Equal(said, slices.Sorted(slices.Values(want))) {
			h.Errorf("left: %q", said)
		}
		if !slices.Contains(happened, "[14.0 s of audio was transcribed later]") {
			h.Errorf("an event is gone: %q", happened)
		}
	})
}

// saved stores a session that was transcribed elsewhere, with entries whose
// lines are not in the order of their times.
func (h *testHub) saved() string {
	h.Helper()
	stopped := time.Now().UTC()
	s := &hearken.Session{
		ID: "0198c0de-0000-7000-8000-000000000001", Status: hearken.Stopped, StartedAt: stopped.Add(-time.Minute), StoppedAt: &stopped,
		Duration: 60, Epoch: 1,
	}
	var entries []hearken.Segment
	for i, e := range []struct {
		origin   hearken.Origin
		from, to float64
		text     string
	}{
		{hearken.Microphone, 52, 60, "the last words"},
		{hearken.EventOrigin, 20, 59, "[gap: 39.0 s of audio was lost]"},
		{hearken.System, 5, 9, "the first words"},
		{hearken.System, 40, 51, "words across the border"},
	} {
		entries = append(entries, hearken.Segment{
			ID: string(e.origin) + "1-" + string(rune('1'+i)), Line: i + 1, Origin: e.origin, Status: hearken.Confirmed, Text: e.text, IsFinal: true,
			StartTime: e.from, EndTime: e.to, Timestamp: s.StartedAt.Add(time.Duration(e.from * float64(time.Second))),
		})
	}
	s.SegmentCount = len(entries)
	if err := h.hub.Save(h.Context(), s, entries); err != nil {
		h.Fatal(err)
	}
	return s.ID
}

func TestHub_ForgetInAStoppedSession(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.saved()
		left := []string{"[gap: 39.0 s of audio was lost]", "the first words", "[the last 10s were forgotten on request]"}
		for i, want := range []int{2, 0} {
			if n, err := h.hub.Forget(h.Context(), id, 10*time.Second); err != nil || n != want {
				h.Fatalf("call %d forgot %d entries, %v", i+1, n, err)
			}
			h.want(id, left)
		}
		page, err := h.hub.Read(h.Context(), ReadRequest{Session: id, From: 3})
		if err != nil || len(page.Segments) != 1 {
			h.Fatalf("%+v, %v", page, err)
		}
		event := page.Segments[0]
		if event.Line != 5 || event.Event != hearken.EventForgotten || event.StartTime != 50 || event.EndTime != 60 ||
			!event.Timestamp.Equal(page.Session.StartedAt.Add(50*time.Second)) {
			h.Errorf("the event is %+v", event)
		}
		if found := h.find("the last words", "the border"); len(found) > 0 {
			h.Errorf("still there: %q", found)
		}
		if n, err := h.hub.Forget(h.Context(), id, time.Hour); err != nil || n != 1 {
			h.Errorf("all of it: %d, %v", n, err)
		}
		h.want(id, append(slices.Delete(left, 1, 2), "[the last 1h0m0s were forgotten on request]"))
	})
}

// A session whose backlog is forgotten ends at once.
func TestHub_ForgetDoesNotWaitForItself(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.stopWithBacklog()
		begin := time.Now()
		if _, err := h.hub.Forget(h.Context(), id, time.Hour); err != nil {
			h.Fatal(err)
		}
		if waited := time.Since(begin); waited > time.Second {
			h.Errorf("it waited %v for a lock that it held", waited)
		}
	})
}

// A session with nothing to forget leaves the cached answers of the store alone.
func TestSession_RetryForget_Nothing(t *testing.T) {
	withHub(t, func(h *testHub) {
		s := h.hub.find(h.start())
		wait(time.Second) // it is saved
		before := h.hub.pages.changes
		if err := s.retryForget(h.Context()); err != nil {
			h.Fatal(err)
		}
		if dropped := h.hub.pages.changes - before; dropped != 0 {
			h.Errorf("dropped %d times", dropped)
		}
	})
}
