package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A testHub is a hub with its store and engine, on synctest's clock.
type testHub struct {
	*testing.T
	hub    *Hub
	dir    string
	store  *storetest.Faulty
	engine *stttest.Scripted
}

// withHub runs a test on synctest's clock with a hub whose engine hears "word N
// at T" every two seconds.
func withHub(t *testing.T, test func(h *testHub), change ...func(*Config)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &testHub{T: t, dir: dir, engine: stttest.Every("scripted", 2)}
		h.open(change...)
		defer h.close()
		test(h)
	})
}

func (h *testHub) open(change ...func(*Config)) {
	h.Helper()
	db, err := sqlite.Open(h.Context(), filepath.Join(h.dir, "hearken.db"))
	if err != nil {
		h.Fatal(err)
	}
	h.store = storetest.NewFaulty(db)
	cfg := Config{Dir: h.dir, Store: h.store, Providers: []hearken.Provider{h.engine}, DefaultLanguage: "en"}
	for _, c := range change {
		c(&cfg)
	}
	if h.hub, err = Open(h.Context(), cfg); err != nil {
		h.Fatal(err)
	}
}

func (h *testHub) close() {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.hub.Close(ctx); err != nil {
		h.Errorf("close: %v", err)
	}
	h.store.Close()
}

func (h *testHub) start() string {
	h.Helper()
	s, err := h.hub.Start(h.Context(), hearken.StartRequest{Principal: "local"})
	if err != nil {
		h.Fatal(err)
	}
	return s.ID
}

func (h *testHub) attach(id string) hearken.Input {
	h.Helper()
	in, err := h.hub.Attach(h.Context(), id, "local")
	if err != nil {
		h.Fatal(err)
	}
	return in
}

// wait waits on the test's clock.
func wait(d time.Duration) { <-time.After(d) }

// send plays so many seconds of audio in real time, as frames of 100 ms.
func (h *testHub) send(in hearken.Input, seconds float64) {
	h.Helper()
	frame := make([]int16, hearken.SampleRate/10)
	for range int(seconds*10 + 0.5) {
		wait(100 * time.Millisecond)
		if err := in.Write(frame); err != nil {
			h.Fatalf("write: %v", err)
		}
	}
	synctest.Wait()
}

// texts returns the texts of a session's entries.
func (h *testHub) texts(id string) []string {
	h.Helper()
	var texts []string
	err := h.hub.Segments(h.Context(), id, false, func(batch []hearken.Segment) error {
		for _, seg := range batch {
			texts = append(texts, seg.Text)
		}
		return nil
	})
	if err != nil {
		h.Fatal(err)
	}
	return texts
}

// words is what the engine says in lines from to to.
func words(from, to int) []string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("word %d at %.1f", i, float64(2*i)))
	}
	return list
}

func (h *testHub) want(id string, want []string) {
	h.Helper()
	if got := h.texts(id); !slices.Equal(got, want) {
		h.Errorf("the session says\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func (h *testHub) status(id string) *Status {
	h.Helper()
	st, err := h.hub.Status(h.Context(), id)
	if err != nil {
		h.Fatal(err)
	}
	return st
}

func TestHub_TranscribesAndStores(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		if got := h.status(id).Health; got != "waiting_for_audio" {
			h.Errorf("a session without audio is %q", got)
		}
		in := h.attach(id)
		h.send(in, 20)
		h.want(id, words(0, 10))
		st := h.status(id)
		if st.Health != "ok" || st.Session.Duration != 20 || st.LastAudio == nil || st.LastWord == nil {
			h.Errorf("while audio comes the status is %+v", st)
		}
		s, err := h.hub.Stop(h.Context(), id)
		if err != nil {
			h.Fatal(err)
		}
		if s.Status != hearken.Stopped || s.StopReason != hearken.StopRequested || s.Duration != 20 || s.SegmentCount != 10 {
			h.Errorf("stopped as %+v", s)
		}
		wait(2 * time.Second)
		if h.hub.find(id) != nil {
			h.Error("a stopped and saved session is still in memory")
		}
		h.want(id, words(0, 10))
		for _, dir := range []string{h.hub.journalDir(), h.hub.spoolDir()} {
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				h.Errorf("%s still holds %v", filepath.Base(dir), left)
			}
		}
		if _, err := h.hub.Stop(h.Context(), id); hearken.CodeOf(err) != hearken.SessionAlreadyStopped {
			h.Errorf("second stop: %v", err)
		}
	})
}

func TestHub_StopDrains(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.engine.Stall()
		in := h.attach(id)
		h.send(in, 21)
		h.want(id, nil)
		time.AfterFunc(5*time.Second, h.engine.Resume)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		h.want(id, words(0, 11))
		if err := in.Write(make([]int16, 10)); hearken.CodeOf(err) != hearken.SessionAlreadyStopped {
			h.Errorf("audio after the stop: %v", err)
		}
	})
}

func TestHub_StopDoesNotWaitForever(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		h.send(in, 4)
		h.engine.Stall()
		h.send(in, 6)
		if _, err := h.hub.Stop(h.Context(), id); err != nil {
			h.Fatal(err)
		}
		got := h.texts(id)
		if last := got[len(got)-1]; !strings.Contains(last, "gap") {
			h.Errorf("the last entry is %q, want the gap to be shown", last)
		}
	})
}

func TestHub_WaitingReaderIsWoken(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		go func() {
			frame := make([]int16, hearken.SampleRate/10)
			for range 25 {
				wait(100 * time.Millisecond)
				in.Write(frame)
			}
		}()
		page, err := h.hub.Read(h.Context(), ReadRequest{Session: id, Wait: 20 * time.Second})
		if err != nil || len(page.Segments) != 1 || page.Next != 1 {
			h.Fatalf("read %+v, %v", page, err)
		}
		begun := time.Now()
		page, err = h.hub.Read(h.Context(), ReadRequest{Session: id, From: page.Next, Wait: 3 * time.Second})
		if err != nil || len(page.Segments) != 1 {
			// The sender stops in the middle of a line, which is flushed.
			h.Errorf("read %+v, %v after %s", page, err, time.Since(begun))
		}
	})
}

func TestHub_ReadBounds(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		h.send(h.attach(id), 20)
		for _, tt := range []struct {
			req  ReadRequest
			want []string
			next int
			more bool
		}{
			{ReadRequest{}, words(0, 10), 10, false},
			{ReadRequest{Limit: 3}, words(0, 3), 3, true},
			{ReadRequest{From: 8}, words(8, 10), 10, false},
			{ReadRequest{From: -3}, words(7, 10), 10, false},
			{ReadRequest{From: -300}, words(0, 10), 10, false},
			{ReadRequest{From: 300}, nil, 10, false},
		} {
			tt.req.Session = id
			page, err := h.hub.Read(h.Context(), tt.req)
			if err != nil {
				h.Fatal(err)
			}
			var got []string
			for _, seg := range page.Segments {
				got = append(got, seg.Text)
			}
			if !slices.Equal(got, tt.want) || page.Next != tt.next || page.More != tt.more || page.Total != 10 {
				h.Errorf("%+v: %v, next %d, more %v, total %d", tt.req, got, page.Next, page.More, page.Total)
			}
		}
	})
}

func TestHub_TwoChannels(t *testing.T) {
	withHub(t, func(h *testHub) {
		id := h.start()
		in := h.attach(id)
		frame := make([]int16, hearken.SampleRate/10)
		for range 60 {
			wait(100 * time.Millisecond)
			if err := in.Write(frame, frame); err != nil {
				h.Fatal(err)
			}
		}
		synctest.Wait()
		page, err := h.hub.Read(h.Context(), ReadRequest{Session: id})
		if err != nil {
			h.Fatal(err)
		}
		count := map[hearken.Origin]int{}
		for i, seg := range page.Segments {
			count[seg.Origin]++
			if seg.Line != i+1 {
				h.Errorf("entry %d has line %d", i, seg.Line)
			}
		}
		if count[hearken.Microphone] != 3 || count[hearken.System] != 3 {
			h.Errorf("heard %v, want 3 of each", count)
		}
		if err := in.Write(frame); hearken.CodeOf(err) != hearken.Invalid {
			h.Errorf("one channel after two: %v", err)
		}
	})
}

func TestHub_ProviderFails(t *testing.T) {
	broken := errors.New("connection reset")
	t.Run("ReplaysWhatWasNotFinal", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.engine.FailAt(5, 2, broken)
			h.send(h.attach(id), 30)
			wait(5 * time.Second)
			h.want(id, words(0, 15))
		})
	})
	t.Run("GivenUp", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			in := h.attach(id)
			h.send(in, 4)
			h.engine.FailAt(5, 100, broken)
			h.send(in, 3)
			wait(90 * time.Second)
			s, err := h.hub.Session(h.Context(), id)
			if err != nil || s.StopReason != hearken.StopProviderFailed {
				h.Errorf("session %+v, %v", s, err)
			}
			got := h.texts(id)
			if !slices.Equal(got[:2], words(0, 2)) || !strings.Contains(got[2], "scripted failed: connection reset. 3.4 s of audio is waiting") {
				h.Errorf("kept %q", got)
			}
		})
	})
	t.Run("Panics", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.send(h.attach(id), 10)
			wait(5 * time.Second)
			h.want(id, words(0, 5))
		}, func(c *Config) { c.Providers[0] = &panicking{Provider: c.Providers[0]} })
	})
	t.Run("NoUseTryingAgain", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			h.engine.FailOpen(1, hearken.Errorf(hearken.Unauthorized, "wrong key."))
			h.send(h.attach(id), 0.1)
			wait(100 * time.Millisecond)
			if s, _ := h.hub.Session(h.Context(), id); s.StopReason != hearken.StopProviderFailed {
				h.Errorf("session %+v", s)
			}
		})
	})
	t.Run("Behind", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			in := h.attach(id)
			h.engine.Stall()
			h.send(in, 12)
			if st := h.status(id); st.Health != "lagging" || st.Lag < 11 {
				h.Errorf("status %+v", st)
			}
			h.engine.Resume()
			h.send(in, 0.1)
			if st := h.status(id); st.Health != "ok" || st.Lag > 1 {
				h.Errorf("after catching up: %+v", st)
			}
		})
	})
	t.Run("SoFarBehindThatAudioIsLost", func(t *testing.T) {
		withHub(t, func(h *testHub) {
			id := h.start()
			in := h.attach(id)
			h.engine.Stall()
			h.send(in, 40)
			h.engine.Resume()
			h.send(in, 10)
			got := h.texts(id)
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "[gap:") }) {
				h.Errorf("no gap is shown in %q", got)
			}
			if st := h.status(id); st.Dropped < 10 || st.Dropped > 12 {
				h.Errorf("%.1f s dropped, want about 11", st.Dropped)
			}
			if last := got[len(got)-1]; last != "word 24 at 48.0" {
				h.Errorf("went on until %q", last)
			}
		}, func(c *Config) { c.SpoolSeconds = 30 })
	})
}

func TestHub_StartRefusesWhatCannotWork(t *testing.T) {
	withHub(t, func(h *testHub) {
		_, err := h.hub.Start(h.Context(), hearken.StartRequest{Provider: "nobody"})
		if hearken.CodeOf(err) != hearken.ProviderNotConfigured || !strings.Contains(err.Error(), "scripted") {
			h.Errorf("unknown provider: %v", err)
		}
		h.engine.Refuse(hearken.Errorf(hearken.APIKeyMissing, "no key."))
		if _, err := h.hub.Start(h.Context(), hearken.StartRequest{}); hearken.CodeOf(err) != hearken.APIKeyMissing {
			h.Errorf("no key: %v", err)
		}
		h.engine.Refuse(nil)
		h.start()
		h.start()
		if _, err := h.hub.Start(h.Context(), hearken.StartRequest{}); hearken.CodeOf(err) != hearken.Busy {
			h.Errorf("a third session where two fit: %v", err)
		}
	}, func(c *Config) { c.MaxSessions = 2 })
}

// A panicking engine panics in its first stream.
type panicking struct {
	hearken.Provider
	done bool
}

func (p *panicking) Open(ctx context.Context, cfg hearken.StreamConfig) (hearken.Stream, error) {
	s, err := p.Provider.Open(ctx, cfg)
	if err != nil || p.done {
		return s, err
	}
	p.done = true
	return &panickingStream{Stream: s}, nil
}

type panickingStream struct {
	hearken.Stream
	writes int
}

func (s *panickingStream) Write(f hearken.Frame) error {
	if s.writes++; s.writes > 30 {
		panic("word 1")
	}
	return s.Stream.Write(f)
}
