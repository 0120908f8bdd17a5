package live

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// killed restarts the hub as after kill -9: the new one finds only what is in
// the files at this moment.
func (h *testHub) killed(change ...func(*Config)) {
	h.Helper()
	dir := filepath.Join(h.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(h.dir)); err != nil {
		h.Fatal(err)
	}
	h.close()
	h.dir = dir
	h.open(change...)
}

func TestHub_SurvivesBeingKilled(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		ticket, _ := h.hub.Ticket(id)
		in := h.attach(id)
		h.send(in, 25.3)
		shown := h.texts(id)
		h.killed()

		s, err := h.hub.Session(h.Context(), id)
		if err != nil || s.Status != hearken.Active || s.Epoch != 1 {
			h.Fatalf("after the restart: %+v, %v", s, err)
		}
		if _, ok := h.hub.CheckTicket(id, ticket); !ok {
			h.Error("the sender's ticket no longer works")
		}
		if got := h.texts(id); !slices.Equal(got[:len(shown)], shown) {
			h.Errorf("shown before: %q; after: %q", shown, got)
		}
		in = h.attach(id)
		received := in.Received()
		if lost := 25.3 - seconds(received); lost < 0 || lost > 1 {
			h.Errorf("%.2f s of audio are lost", lost)
		}
		h.send(in, 40-seconds(received))
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.want(id, words(0, 20))
	})
}

// Readers decide by the kind of an event, also after a crash.
func TestHub_EventsHaveAKind(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.engine.FailAt(3, 100, wrongKey)
		h.send(in, 10)
		if err := in.Skip(2*time.Second, "the hub was changed"); err != nil {
			h.Fatal(err)
		}
		if _, err := h.hub.Forget(h.Context(), id, time.Second); err != nil {
			h.Fatal(err)
		}
		want := []hearken.EventKind{hearken.EventFailover, hearken.EventGap, hearken.EventForgotten}
		for _, when := range []string{"at once", "after a kill"} {
			page, err := h.hub.Read(h.Context(), ReadRequest{Session: id})
			if err != nil {
				h.Fatal(err)
			}
			var got []hearken.EventKind
			for _, seg := range page.Segments {
				if seg.Origin == hearken.EventOrigin {
					got = append(got, seg.Event)
				}
			}
			if !slices.Equal(got, want) {
				h.Errorf("%s: %q, want %q", when, got, want)
			}
			if when == "at once" {
				wait(time.Second) // the spool is on disk
				h.killed(withSecondEngine(stttest.Every("second", 2)))
			}
		}
	}, withSecondEngine(stttest.Every("second", 2)))
}

// A kill between the flushes of two channels leaves one longer than the other.
func TestHub_KilledBetweenTwoChannels(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		frame := make([]int16, hearken.SampleRate/10)
		for range 43 {
			wait(100 * time.Millisecond)
			in.Write(frame, frame)
		}
		synctest.Wait()
		wait(time.Second)
		shorter := filepath.Join(h.dir, "spool", id, "S", "0.pcm")
		if err := os.Truncate(shorter, 2*4*hearken.SampleRate); err != nil {
			h.Fatal(err)
		}
		h.killed()
		in = h.attach(id)
		if got := in.Received(); got != 4*hearken.SampleRate {
			h.Errorf("is to go on at %.1f s, the shorter channel has 4.0", seconds(got))
		}
	})
}

func TestHub_RecoversWithoutItsStore(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 10)
		h.killed()
		h.store.Fail(errors.New("connection refused"))
		h.send(h.attach(id), 10)
		h.want(id, words(0, 10))
	})
}

func TestHub_SenderDoesNotReturn(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 10.9)
		in.Detach()
		wait(5 * time.Second)
		h.want(id, words(0, 6)) // what the engine held is taken in at once
		wait(30 * time.Second)
		in = h.attach(id)
		h.send(in, 1.1)
		in.Detach()
		wait(59 * time.Second)
		if s, _ := h.hub.Session(h.Context(), id); s.Status != hearken.Active {
			h.Fatalf("stopped too early: %+v", s)
		}
		wait(4 * time.Second)
		if s, _ := h.hub.Session(h.Context(), id); s.StopReason != hearken.StopSenderGone {
			h.Errorf("after a minute alone: %+v", s)
		}
	})
}

func TestHub_SenderNeverCame(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		wait(11 * time.Minute)
		s, err := h.hub.Session(h.Context(), id)
		if err != nil || s.StopReason != hearken.StopNoAudio {
			h.Errorf("after ten minutes without audio: %+v, %v", s, err)
		}
	})
}

func TestHub_Senders(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		first := h.attach(id)
		h.send(first, 1)
		if _, err := h.hub.Attach(h.Context(), id, "somebody else"); hearken.CodeOf(err) != hearken.SessionAlreadyActive {
			h.Errorf("a second principal: %v", err)
		}
		second := h.attach(id)
		if err := first.Write(make([]int16, 1)); hearken.CodeOf(err) != hearken.AudioWebSocketClosed {
			h.Errorf("the replaced sender goes on: %v", err)
		}
		var last hearken.InputEvent
		for ev := range first.Events() {
			last = ev
		}
		if last.Kind != hearken.InputReplaced {
			h.Errorf("the replaced sender is told %q last", last.Kind)
		}
		h.send(second, 9)
		if err := second.Finish(); err != nil {
			h.Fatal(err)
		}
		finals := 0
		for ev := range second.Events() {
			last = ev
			if ev.Kind == hearken.InputFinal {
				finals++
			}
		}
		if last.Kind != hearken.InputClosed || last.Reason != hearken.StopFinished || finals != 5 {
			h.Errorf("after finish: %d finals and then %+v", finals, last)
		}
		for _, bad := range []string{"", "x", "../../etc/passwd", strings.ToUpper(id)} {
			if _, err := h.hub.Attach(h.Context(), bad, "local"); hearken.CodeOf(err) != hearken.SessionNotFound {
				h.Errorf("attach to %q: %v", bad, err)
			}
		}
	})
}

// A sender that returns must neither omit audio nor send any twice.
func TestHub_SenderReturnsAtOnce(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 10.3)
		for range 5 {
			if safe := in.Received(); safe > position(10.3) || safe < position(9.5) {
				h.Errorf("%.1f s are acknowledged of 10.3", seconds(safe))
			}
			in.Detach()
			in = h.attach(id)
			if got := in.Received(); got != position(10.3) {
				h.Errorf("is to go on at %.2f s, had sent 10.30", seconds(got))
			}
		}
	})
}

func TestHub_SearchesWhatIsSavedAndWhatIsNot(t *testing.T) {
	withHub(t, func(h *testHub) {
		for range 2 {
			id := h.start()
			h.send(h.attach(id), 26)
		}
		hits, err := h.hub.Search(h.Context(), hearken.Query{Text: "word at", Limit: 100})
		if err != nil {
			h.Fatal(err)
		}
		if len(hits) != 26 {
			h.Errorf("%d hits, want 26: each entry once", len(hits))
		}
		if !slices.IsSortedFunc(hits, func(a, b hearken.Hit) int { return b.Segment.Timestamp.Compare(a.Segment.Timestamp) }) {
			h.Error("hits are not newest first")
		}
		if hits, _ := h.hub.Search(h.Context(), hearken.Query{Text: `"word 12"`}); len(hits) != 2 {
			h.Errorf("%d hits for what was said last, want 2", len(hits))
		}
	})
}

// After a crash what was saved is in the store and in the journal, and is found
// once.
func TestHub_SearchFindsOnceAfterCrash(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 25.3)
		query := hearken.Query{Text: "word at", Limit: 100} // ten of them are saved
		before, err := h.hub.Search(h.Context(), query)
		if err != nil || len(before) == 0 {
			h.Fatalf("before: %v, %v", before, err)
		}
		h.killed()
		after, err := h.hub.Search(h.Context(), query)
		if err != nil || len(after) != len(before) {
			h.Errorf("%d hits before the crash, %d after it, %v", len(before), len(after), err)
		}
	})
}

// Search finds what was said, not the hub's own events.
func TestHub_SearchFindsNoEvents(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 4)
		if err := in.Skip(2*time.Second, "the hub was changed"); err != nil {
			h.Fatal(err)
		}
		hits, err := h.hub.Search(h.Context(), hearken.Query{Text: "hub"})
		if err != nil || len(hits) != 0 {
			h.Errorf("%d hits, %v; want none", len(hits), err)
		}
	})
}

func TestHub_UnreadableJournalIsNotTouched(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 4)
		h.close()
		path := h.hub.journalPath(id)
		data, err := os.ReadFile(path)
		if err != nil {
			h.Fatal(err)
		}
		os.Remove(path)
		os.Mkdir(path, 0o700) // cannot be opened as a file, and is not damaged
		if _, err := Open(h.Context(), h.hub.cfg); err == nil {
			h.Error("the hub started without a session that it should have")
		}
		os.Remove(path)
		os.WriteFile(path, data, 0o600)
		h.open()
		h.want(id, words(0, 2))
	})
}

func TestHub_DamagedJournalIsSetAside(t *testing.T) {
	withHub(t, func(h *testHub) {
		id, other := h.start(), h.start()
		h.send(h.attach(id), 4)
		h.send(h.attach(other), 4)
		path := h.hub.journalPath(id)
		data, err := os.ReadFile(path)
		if err != nil {
			h.Fatal(err)
		}
		os.WriteFile(path, append([]byte("garbage\n"), data...), 0o600)
		h.killed()
		h.want(other, words(0, 2))
		if _, err := os.Stat(h.hub.journalPath(id) + ".damaged"); err != nil {
			h.Errorf("the damaged journal: %v", err)
		}
	})
}
