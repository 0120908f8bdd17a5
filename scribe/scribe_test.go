package scribe_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/stt/stttest"
)

func TestScribe_Life(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		if st := h.status(); st.Running || st.Session != "" {
			h.Errorf("before the first capture: %+v", st)
		}
		_, err := h.scribe.Tail(h.Context(), hearken.TailRequest{})
		if hearken.CodeOf(err) != hearken.SessionNotFound {
			h.Errorf("tail of nothing: %v", err)
		}
		_, err = h.scribe.Stop(h.Context())
		if hearken.CodeOf(err) != hearken.SessionAlreadyStopped || !strings.Contains(err.Error(), "not running") {
			h.Errorf("stop of nothing: %v", err)
		}

		first := h.start()
		if !first.Running || !hearken.ValidID(first.Session) || first.Notes[0] != scribe.Consent || !slices.Contains(first.Notes, "Microphone: a fakeCapture of numbers.") {
			h.Errorf("started: %+v", first)
		}
		after(5 * time.Second)
		if again := h.start(); again.Session != first.Session || len(h.captures) != 1 {
			h.Errorf("a second start: %+v, %d captures", again, len(h.captures))
		}
		if st := h.status(); !st.Running || st.Length < 4900*time.Millisecond || st.Length > 5100*time.Millisecond {
			h.Errorf("after five seconds: %+v", st)
		}
		if diff := cmp.Diff([]float64{0.5, 0.25}, h.status().Levels); diff != "" {
			h.Error(diff)
		}

		stopped := h.stop()
		if stopped.Running || stopped.Session != first.Session || len(stopped.Notes) != 0 || stopped.Levels != nil {
			h.Errorf("stopped: %+v", stopped)
		}
		// The words of the last sound are there when Stop returns.
		page := h.tail(hearken.TailRequest{N: 100, Filter: hearken.OnlyConfirmed, Echo: true})
		want := []string{"C word 0 at 0.0", "C word 0 at 0.0", "C word 1 at 2.0", "C word 1 at 2.0", "C word 2 at 4.0", "C word 2 at 4.0"}
		if diff := cmp.Diff(want, texts(page.Entries)); diff != "" || page.Session != first.Session {
			h.Errorf("the transcript: %s", diff)
		}
		if info := must[*hearken.Session](h)(h.hub.Session(h.Context(), first.Session)); !info.Config.Capture || info.Title != "Capture" || info.Principal != "local" || info.Config.Channels != 2 {
			h.Errorf("the session: %+v", info)
		}

		second := h.start()
		if second.Session == first.Session || len(h.captures) != 2 {
			h.Errorf("start after stop: %+v", second)
		}
		after(time.Second)
		list := must[[]hearken.ScribeSession](h)(h.scribe.Sessions(h.Context(), 10))
		if len(list) != 2 || list[0].ID != second.Session || !list[0].Running || list[1].Running || list[1].Entries != 6 || list[1].Length < 4*time.Second {
			h.Errorf("sessions: %+v", list)
		}
	})
}

// Sessions that came in by other doors are not captures of this computer.
func TestScribe_SessionsAreCaptures(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		h.start()
		h.stop()
		for range 100 {
			h.other()
		}
		h.start()
		for range 100 {
			h.other()
		}
		for limit, want := range map[int]int{1: 1, 2: 2, 5: 2} {
			if list := must[[]hearken.ScribeSession](h)(h.scribe.Sessions(h.Context(), limit)); len(list) != want {
				h.Errorf("limit %d: %d captures, want %d", limit, len(list), want)
			}
		}
	})
}

// New cuts between two samples: the sessions together hold all that was heard.
func TestScribe_NewLosesNoSound(t *testing.T) {
	engine := &tape{heard: map[string][]int16{}}
	withFixture(t, engine, func(h *fixture) {
		ids := []string{h.start().Session}
		for i := range 5 {
			after(time.Duration(300*i+137) * time.Millisecond)
			st := must[*hearken.ScribeStatus](h)(h.scribe.New(h.Context(), hearken.CaptureRequest{}))
			if !st.Running || slices.Contains(ids, st.Session) {
				h.Fatalf("new: %+v after %v", st, ids)
			}
			ids = append(ids, st.Session)
		}
		after(time.Second)
		h.stop()
		synctest.Wait()
		if len(h.captures) != 1 {
			h.Errorf("the sound was opened %d times", len(h.captures))
		}
		for _, side := range []string{"M", "S"} {
			var next int16
			var total int64
			for _, id := range ids {
				heard := engine.heard[id+side]
				if len(heard) == 0 {
					h.Errorf("session %s heard nothing on %s", id, side)
				}
				for _, x := range heard {
					if x != next {
						h.Fatalf("%s: %d where %d was to come", side, x, next)
					}
					next++
				}
				total += int64(len(heard))
			}
			if total != h.captures[0].sent {
				h.Errorf("%s: %d of %d samples", side, total, h.captures[0].sent)
			}
		}
	})
}

func TestScribe_NewWithoutACapture(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		if st := must[*hearken.ScribeStatus](h)(h.scribe.New(h.Context(), hearken.CaptureRequest{})); !st.Running {
			h.Errorf("new: %+v", st)
		}
	})
}

func TestScribe_NoDevice(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		h.broken = errors.New("connection refused")
		_, err := h.scribe.Start(h.Context(), hearken.CaptureRequest{})
		if hearken.CodeOf(err) != hearken.NotFound || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "Try: ") {
			h.Errorf("start: %v", err)
		}
		if list := must[[]hearken.ScribeSession](h)(h.scribe.Sessions(h.Context(), 10)); len(list) != 0 {
			h.Errorf("a capture that never was: %+v", list)
		}
		h.broken = hearken.Errorf(hearken.Busy, "The microphone is taken.")
		if _, err := h.scribe.Start(h.Context(), hearken.CaptureRequest{}); hearken.CodeOf(err) != hearken.Busy {
			h.Errorf("start: %v", err)
		}
		h.broken = nil
		if st := h.start(); !st.Running {
			h.Errorf("with a device: %+v", st)
		}
	})
}

func TestScribe_DeviceFails(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		id := h.start().Session
		after(3 * time.Second)
		h.captures[0].failed <- errors.New("no such device")
		synctest.Wait()
		st := h.status()
		if st.Running || st.Session != id || !slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "no such device") }) {
			h.Errorf("status: %+v", st)
		}
		after(time.Second)
		if info := must[*hearken.Session](h)(h.hub.Session(h.Context(), id)); info.Status != hearken.Stopped || info.SegmentCount != 4 {
			h.Errorf("its session: %+v", info)
		}
		if next := h.start(); next.Session == id || len(next.Notes) != 4 {
			h.Errorf("the next capture: %+v", next)
		}
	})
}

func TestScribe_SessionLost(t *testing.T) {
	for name, take := range map[string]func(h *fixture, id string){
		"Stopped": func(h *fixture, id string) { must[*hearken.Session](h)(h.hub.Stop(h.Context(), id)) },
		"Deleted": func(h *fixture, id string) {
			if err := h.hub.Delete(h.Context(), id); err != nil {
				h.Fatal(err)
			}
		},
		"TakenOver": func(h *fixture, id string) {
			in := must[hearken.Input](h)(h.hub.Attach(h.Context(), id, "local"))
			go func() {
				for range in.Events() {
				}
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
				id := h.start().Session
				after(time.Second)
				take(h, id)
				after(100 * time.Millisecond)
				st := h.status()
				if st.Running {
					h.Errorf("status: %+v", st)
				}
				if name != "Deleted" && !slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "The capture ended") }) {
					h.Errorf("why: %q", st.Notes)
				}
				if _, err := h.scribe.Stop(h.Context()); hearken.CodeOf(err) != hearken.SessionAlreadyStopped {
					h.Errorf("stop: %v", err)
				}
				if next := h.start(); !next.Running || next.Session == id {
					h.Errorf("the next capture: %+v", next)
				}
			})
		})
	}
}

// Whoever calls what at once, there is one capture at most, and none is lost.
func TestScribe_Concurrent(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		var calls sync.WaitGroup
		for i := range 40 {
			calls.Go(func() {
				after(time.Duration(i%7) * 100 * time.Millisecond)
				switch i % 4 {
				case 0:
					h.scribe.Start(h.Context(), hearken.CaptureRequest{})
				case 1:
					h.scribe.Stop(h.Context())
				case 2:
					h.scribe.New(h.Context(), hearken.CaptureRequest{})
				case 3:
					h.scribe.Status(h.Context())
					h.scribe.Tail(h.Context(), hearken.TailRequest{})
				}
			})
		}
		calls.Wait()
		if h.status().Running {
			h.stop()
		}
		after(time.Minute)
		if n := h.hub.Active(); n != 0 {
			h.Errorf("%d sessions are active after all captures ended", n)
		}
	})
}

// A new session is transcribed like the one before, unless the caller says
// otherwise. The status says how.
func TestScribe_Engine(t *testing.T) {
	other := stttest.Every("other", 2)
	withFixture(t, stttest.Every("first", 2), func(h *fixture) {
		start := func(req hearken.CaptureRequest) *hearken.ScribeStatus {
			h.Helper()
			return must[*hearken.ScribeStatus](h)(h.scribe.New(h.Context(), req))
		}
		for _, tt := range []struct {
			req              hearken.CaptureRequest
			engine, language string
		}{
			{hearken.CaptureRequest{}, "first", "en"},
			{hearken.CaptureRequest{Language: "sv"}, "first", "sv"},
			{hearken.CaptureRequest{Provider: "other", APIKey: "k"}, "other", "sv"},
			{hearken.CaptureRequest{}, "other", "sv"},
			{hearken.CaptureRequest{Provider: "first", Language: "en"}, "first", "en"},
		} {
			st := start(tt.req)
			if st.Engine != tt.engine || st.Language != tt.language || st.Notes[len(st.Notes)-1] != tt.engine+" hears "+tt.language {
				h.Errorf("%+v: %+v", tt.req, st)
			}
			<-time.After(time.Second)
		}
		for _, cfg := range other.Opened() {
			if cfg.APIKey != "k" {
				h.Errorf("opened with the key %q", cfg.APIKey)
			}
		}
		if st := h.stop(); st.Engine != "" || len(st.Notes) > 0 {
			h.Errorf("stopped: %+v", st)
		}
	}, other)
}
