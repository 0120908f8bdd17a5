package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

var sessionTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		full := &hearken.Session{
			ID: id(1), Title: "Plans für 明日", Status: hearken.Stopped, StopReason: hearken.StopRequested,
			Language: "pt-BR", Provider: "deepgram", StartedAt: noon, StoppedAt: new(noon.Add(time.Hour)),
			Duration: 3599.123456789, SegmentCount: 17, Epoch: 3, Principal: "key-1",
			Config: hearken.SessionConfig{
				Encoding: "linear16", SampleRate: 48000, Channels: 2, Model: "nova-3",
				Vocabulary: []string{"Hearken", `"quoted"`, "日本"}, KeepAudio: true,
			},
		}
		for _, want := range []*hearken.Session{full, {ID: id(2), Status: hearken.Active, StartedAt: noon}} {
			save(t, store, want)
			got, err := store.Session(t.Context(), want.ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, want, got)
			if got.StartedAt.Location() != time.UTC {
				t.Errorf("a time in %v", got.StartedAt.Location())
			}
		}
	}},
	{"Changed", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, "one", "two")
		s.Status, s.StopReason, s.StoppedAt = hearken.Stopped, hearken.StopFinished, new(noon.Add(time.Hour))
		s.Title, s.Duration, s.Epoch = "A title", 12.5, 2
		save(t, store, s)
		got, err := store.Session(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, s, got)
		s.Title, s.StoppedAt = "", nil
		save(t, store, s)
		if got, err = store.Session(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
		equal(t, s, got)
		equal(t, "1 2", lines(segments(t, store, s.ID, 1, 10, false)))
	}},
	{"TimesOfOtherZones", func(t *testing.T, store hearken.Store) {
		s := session(1)
		at := time.Date(2026, 3, 14, 21, 0, 0, 123456789, time.FixedZone("", 9*3600))
		s.StartedAt = at
		save(t, store, s)
		got, err := store.Session(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := at.Truncate(time.Microsecond).UTC(); got.StartedAt != want {
			t.Errorf("started at %v, want %v", got.StartedAt, want)
		}
	}},
	{"NotFound", func(t *testing.T, store hearken.Store) {
		saveTranscript(t, store, 1, "something else")
		for _, id := range []string{id(9), "", "x", "../" + id(1), id(1) + "\x00", "%", strings.ToUpper(id(10))} {
			ctx := t.Context()
			_, err := store.Session(ctx, id)
			wantCode(t, err, hearken.SessionNotFound)
			_, err = store.Segments(ctx, id, 1, 10, true)
			wantCode(t, err, hearken.SessionNotFound)
			_, err = store.Note(ctx, id)
			wantCode(t, err, hearken.SessionNotFound)
			wantCode(t, store.Delete(ctx, id), hearken.SessionNotFound)
			wantCode(t, store.Forget(ctx, id, 0, 1), hearken.SessionNotFound)
			wantCode(t, store.SaveNote(ctx, &hearken.Note{Session: id, Text: "x"}), hearken.SessionNotFound)
		}
	}},
	{"BadID", func(t *testing.T, store hearken.Store) {
		for _, bad := range []string{"", "x", "../../etc", strings.ToUpper(id(10))} {
			s := session(1)
			s.ID = bad
			wantCode(t, store.Save(t.Context(), s, nil), hearken.Invalid)
		}
	}},
	{"List", func(t *testing.T, store hearken.Store) {
		got, err := store.Sessions(t.Context(), hearken.SessionFilter{})
		if err != nil || len(got) != 0 {
			t.Errorf("an empty store lists %v, %v", got, err)
		}
		for _, n := range []int{3, 1, 5, 2, 4} { // not in their order
			s := session(n)
			if n%2 == 0 {
				s.Status = hearken.Stopped
			}
			save(t, store, s)
		}
		twin := session(5)
		twin.ID = id(6) // started at the same time; the id decides
		save(t, store, twin)
		at := func(n int) time.Time { return session(n).StartedAt }
		for _, tt := range []struct {
			name   string
			filter hearken.SessionFilter
			want   string
		}{
			{"all", hearken.SessionFilter{}, "6 5 4 3 2 1"},
			{"limit", hearken.SessionFilter{Limit: 2}, "6 5"},
			{"large limit", hearken.SessionFilter{Limit: 1000}, "6 5 4 3 2 1"},
			{"active", hearken.SessionFilter{Status: hearken.Active}, "6 5 3 1"},
			{"stopped", hearken.SessionFilter{Status: hearken.Stopped}, "4 2"},
			{"since", hearken.SessionFilter{Since: at(3)}, "6 5 4 3"},
			{"since, a nanosecond later", hearken.SessionFilter{Since: at(3).Add(1)}, "6 5 4"},
			{"until", hearken.SessionFilter{Until: at(3)}, "2 1"},
			{"until, a nanosecond later", hearken.SessionFilter{Until: at(3).Add(1)}, "3 2 1"},
			{"between", hearken.SessionFilter{Since: at(2), Until: at(5)}, "4 3 2"},
			{"active between", hearken.SessionFilter{Status: hearken.Active, Since: at(2), Until: at(5)}, "3"},
			{"newest stopped", hearken.SessionFilter{Status: hearken.Stopped, Limit: 1}, "4"},
			{"nothing", hearken.SessionFilter{Since: at(100)}, ""},
			{"unknown status", hearken.SessionFilter{Status: "' OR 1=1 --"}, ""},
		} {
			got, err := store.Sessions(t.Context(), tt.filter)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			var ids []string
			for _, s := range got {
				ids = append(ids, strings.TrimLeft(s.ID[:8], "0"))
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
	}},
}

var noteTests = []test{
	{"Saved", func(t *testing.T, store hearken.Store) {
		s := saveTranscript(t, store, 1, "one")
		_, err := store.Note(t.Context(), s.ID)
		wantCode(t, err, hearken.NotFound)
		for _, text := range []string{"# Notes\n\n- \"one\"\n- 二\n", "shorter", ""} {
			want := &hearken.Note{Session: s.ID, Text: text, SavedAt: noon, By: "key-1"}
			if err := store.SaveNote(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			got, err := store.Note(t.Context(), s.ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, want, got)
		}
		save(t, store, s, segment(s, 2, "two")) // does not touch the note
		if _, err := store.Note(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
	}},
}
