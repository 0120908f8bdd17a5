package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

var deleteTests = []test{
	{"Delete", func(t *testing.T, store hearken.Store) {
		gone := saveTranscript(t, store, 1, "secret plans", "東京 secrets")
		stays := saveTranscript(t, store, 2, "secret plans of others")
		for _, s := range []*hearken.Session{gone, stays} {
			if err := store.SaveNote(t.Context(), &hearken.Note{Session: s.ID, Text: "note", SavedAt: noon}); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Delete(t.Context(), gone.ID); err != nil {
			t.Fatal(err)
		}
		_, err := store.Session(t.Context(), gone.ID)
		wantCode(t, err, hearken.SessionNotFound)
		_, err = store.Segments(t.Context(), gone.ID, 1, 10, false)
		wantCode(t, err, hearken.SessionNotFound)
		_, err = store.Note(t.Context(), gone.ID)
		wantCode(t, err, hearken.SessionNotFound)
		wantCode(t, store.Delete(t.Context(), gone.ID), hearken.SessionNotFound)
		list, err := store.Sessions(t.Context(), hearken.SessionFilter{})
		if err != nil || len(list) != 1 {
			t.Errorf("sessions %v, %v", list, err)
		}
		hits := search(t, store, hearken.Query{Text: "secret*"})
		if len(hits) != 1 || hits[0].Session != stays.ID {
			t.Errorf("found %v", hits)
		}
		equal(t, 0, len(search(t, store, hearken.Query{Text: "東京"})))
		if _, err := store.Note(t.Context(), stays.ID); err != nil {
			t.Error(err)
		}
		// A new session with the same id has nothing of the old one.
		save(t, store, gone, segment(gone, 3, "new plans"))
		equal(t, "3", lines(segments(t, store, gone.ID, 1, 10, false)))
		_, err = store.Note(t.Context(), gone.ID)
		wantCode(t, err, hearken.NotFound)
	}},
	{"Forget", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, strings.Fields("apple berry cherry date elder")...)
		other := saveTranscript(t, store, 2, "apple", "berry", "cherry", "date")
		forget := func(from, to float64) {
			t.Helper()
			if err := store.Forget(t.Context(), s.ID, from, to); err != nil {
				t.Fatal(err)
			}
		}
		forget(5.5, 100) // the last entry ends there
		forget(-10, 1)   // the first one begins there
		equal(t, "1 2 3 4 5", lines(segments(t, store, s.ID, 1, 10, false)))
		forget(4.4, math.Inf(1))
		equal(t, "1 2 3", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, "1 2 3 4", lines(segments(t, store, other.ID, 1, 10, false)))
		equal(t, 0, len(search(t, store, hearken.Query{Text: "elder"})))
		equal(t, 1, len(search(t, store, hearken.Query{Text: "date"})))
		equal(t, 2, len(search(t, store, hearken.Query{Text: "cherry"})))
		got, err := store.Session(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, s, got) // lines are not used again, so the count stays
		save(t, store, s, segment(s, 6, "fig"))
		equal(t, "1 2 3 6", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, 1, len(search(t, store, hearken.Query{Text: "fig", Session: s.ID})))
		forget(math.Inf(-1), math.Inf(1))
		equal(t, "", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, 0, len(search(t, store, hearken.Query{Text: "apple", Session: s.ID})))
	}},
	// Lines are in the order in which entries were confirmed, which is not the
	// order in which they were said. What the hub wrote stays.
	{"ForgetOutOfOrder", func(t *testing.T, store hearken.Store) {
		s := session(1)
		said := func(line int, from, to float64, origin hearken.Origin) hearken.Segment {
			g := segment(s, line, fmt.Sprint("word", line))
			g.StartTime, g.EndTime, g.Origin = from, to, origin
			return g
		}
		s.SegmentCount = 6
		save(t, store, s, said(1, 50, 60, hearken.Microphone), said(2, 40, 42, hearken.System), said(3, 45, 65, hearken.EventOrigin),
			said(4, 10, 20, hearken.Microphone), said(5, 38, 52, hearken.System), said(6, 55, 58, hearken.Microphone))
		if err := store.Forget(t.Context(), s.ID, 51, 55.5); err != nil {
			t.Fatal(err)
		}
		equal(t, "2 3 4", lines(segments(t, store, s.ID, 1, 10, false)))
		equal(t, 1, len(search(t, store, hearken.Query{Text: "word4"})))
		equal(t, 0, len(search(t, store, hearken.Query{Text: "word5"})))
	}},
}
