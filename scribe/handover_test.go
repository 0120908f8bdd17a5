package scribe_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/storetest"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// A row of houses is a data directory in which one hub follows another.
type rowOfHouses struct {
	dir   string
	store hearken.Store
}

// next opens the hub that follows, and lets it live for as long as the test of
// it takes.
func (r *rowOfHouses) next(t *testing.T, test func(h *fixture)) {
	t.Helper()
	h := &fixture{T: t, engine: stttest.Every("scripted", 2)}
	var err error
	h.hub, err = live.Open(t.Context(), live.Config{Dir: r.dir, Store: r.store, Providers: []hearken.Provider{h.engine}, DefaultLanguage: "en"})
	if err != nil {
		t.Fatal(err)
	}
	h.scribe = scribe.New(scribe.Config{Hub: h.hub, Principal: "local", Capture: h.open, Handover: r.word()})
	h.scribe.Resume()
	test(h)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(h.scribe.Close(ctx), h.hub.Close(ctx)); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (r *rowOfHouses) word() string { return filepath.Join(r.dir, "capture.json") }

// A capture that is handed over goes on in the next hub, in the same session,
// on the same clock, and what was not heard in between is said.
func TestScribe_HandOver(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rowOfHouses{dir: dir, store: storetest.NewMemory()}
		var id string
		began := time.Now()
		r.next(t, func(h *fixture) {
			id = h.start().Session
			after(5 * time.Second)
			h.scribe.HandOver()
		})
		if info, err := os.Stat(r.word()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the word to the next hub: %v, %v", info, err)
		}
		after(3 * time.Second)
		r.next(t, func(h *fixture) {
			if st := h.status(); !st.Running || st.Session != id {
				t.Errorf("in the next hub: %+v", st)
			}
			if _, err := os.Stat(r.word()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the word is still there: %v", err)
			}
			after(6 * time.Second)
			h.stop()
			page := h.tail(hearken.TailRequest{N: 100, Echo: true})
			gap := slices.IndexFunc(page.Entries, func(e hearken.Segment) bool { return strings.Contains(e.Text, "the hub was changed") })
			if gap < 0 || page.Entries[gap].Origin != hearken.EventOrigin || page.Entries[gap].EndTime-page.Entries[gap].StartTime < 2.5 {
				t.Fatalf("no gap is shown in %q", texts(page.Entries))
			}
			last := page.Entries[len(page.Entries)-1]
			if off := last.Timestamp.Sub(began.Add(time.Duration(last.StartTime * float64(time.Second)))).Abs(); off > 100*time.Millisecond || last.StartTime < 10 {
				t.Errorf("the clock is off by %s at %.1f s", off, last.StartTime)
			}
			for i, e := range page.Entries {
				if e.Line != i+1 {
					t.Errorf("entry %d has line %d", i+1, e.Line)
				}
			}
		})
	})
}

// Whatever is no handover does not switch a microphone on.
func TestScribe_NoHandOver(t *testing.T) {
	stays := func(t *testing.T, r *rowOfHouses, id string, open bool) {
		t.Helper()
		r.next(t, func(h *fixture) {
			st := h.status()
			if st.Running || len(h.captures) != 0 {
				t.Errorf("in the next hub: %+v, %d captures", st, len(h.captures))
			}
			if said := slices.Contains(st.Notes, "The capture ended when an earlier hub stopped."); said != open {
				t.Errorf("what is said of it: %q", st.Notes)
			}
			after(2 * time.Minute)
			if info := must[*hearken.Session](h)(h.hub.Session(t.Context(), id)); info.Status != hearken.Stopped {
				t.Errorf("its session: %+v", info)
			}
		})
	}
	for name, test := range map[string]func(t *testing.T, r *rowOfHouses, h *fixture){
		"Ended":   func(*testing.T, *rowOfHouses, *fixture) {},
		"Stopped": func(t *testing.T, r *rowOfHouses, h *fixture) { h.scribe.HandOver(); h.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				r := &rowOfHouses{dir: dir, store: storetest.NewMemory()}
				var id string
				r.next(t, func(h *fixture) {
					id = h.start().Session
					after(3 * time.Second)
					test(t, r, h)
				})
				stays(t, r, id, false)
			})
		})
	}
	for name, spoil := range map[string]func(r *rowOfHouses){
		"TooLate": func(*rowOfHouses) { after(61 * time.Second) },
		"Damaged": func(r *rowOfHouses) { os.WriteFile(r.word(), []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				r := &rowOfHouses{dir: dir, store: storetest.NewMemory()}
				var id string
				r.next(t, func(h *fixture) {
					id = h.start().Session
					after(3 * time.Second)
					h.scribe.HandOver()
				})
				spoil(r)
				stays(t, r, id, true)
			})
		})
	}
}

// Without a device the next hub says why it does not go on.
func TestScribe_HandOverWithoutDevice(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rowOfHouses{dir: dir, store: storetest.NewMemory()}
		r.next(t, func(h *fixture) {
			h.start()
			after(3 * time.Second)
			h.scribe.HandOver()
		})
		h := &fixture{T: t, broken: errors.New("no such device")}
		hub, err := live.Open(t.Context(), live.Config{Dir: r.dir, Store: r.store, Providers: []hearken.Provider{stttest.Every("scripted", 2)}, DefaultLanguage: "en"})
		if err != nil {
			t.Fatal(err)
		}
		h.hub, h.scribe = hub, scribe.New(scribe.Config{Hub: hub, Principal: "local", Capture: h.open, Handover: r.word()})
		h.scribe.Resume()
		st := h.status()
		if st.Running || !slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "no such device") }) {
			t.Errorf("status: %+v", st)
		}
		if err := errors.Join(h.scribe.Close(t.Context()), hub.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A capture that nobody asks about says so when somebody does.
func TestScribe_Unattended(t *testing.T) {
	withFixture(t, stttest.Every("scripted", 2), func(h *fixture) {
		says := func(st *hearken.ScribeStatus, text string) bool {
			return slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, text) })
		}
		if st := h.start(); !says(st, "runs until somebody stops it") || says(st, "Nobody") {
			h.Errorf("started: %q", st.Notes)
		}
		after(42 * time.Minute)
		if st := h.status(); !says(st, "Nobody has asked about it for 42 minutes") {
			h.Errorf("unattended: %q", st.Notes)
		}
		if st := h.status(); says(st, "Nobody") {
			h.Errorf("attended: %q", st.Notes)
		}
	})
}
