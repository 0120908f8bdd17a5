package pscribe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func summary(found []hearken.ScribePage) []string {
	var all []string
	for _, p := range found {
		var entries []string
		for _, e := range p.Entries {
			entries = append(entries, e.Text)
		}
		all = append(all, fmt.Sprintf("%s: %s; %s", p.Session, strings.Join(entries, " "), p.Raw))
	}
	return all
}

func TestScribe_Cat(t *testing.T) {
	early, late := noon.Add(-2*time.Hour), noon.Add(-time.Hour)
	c := newCLI(t, map[string]reply{"cat": says(
		row(late, "M", "C", 1, "c") + row(late, "M", "N", 2, "") + row(early, "M", "C", 1, "a") + row(early.Add(5), "S", "C", 2, "b") + "end\n")})
	found, err := c.scribe().Cat(t.Context(), hearken.CatRequest{Last: 2, Filter: hearken.OnlyConfirmed})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{": a b; end", ": c; "}, summary(found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.set(map[string]reply{"cat": says(row(late, "M", "C", 1, "c"))})
	found, err = c.scribe().Cat(t.Context(), hearken.CatRequest{Sessions: []string{"abc1"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"abc1: c; "}, summary(found)); diff != "" {
		t.Errorf("the one that was asked for (-want +got):\n%s", diff)
	}
}

func TestScribe_Grep(t *testing.T) {
	at := noon.Add(-time.Hour)
	printed := "abc1-" + row(at, "M", "C", 1, "before") + "abc1:" + row(at, "M", "C", 2, "Hit one") + "abc1-" + row(at, "M", "C", 3, "after") + "--\n" +
		"abc1-" + row(at, "M", "C", 7, "before") + "abc1:" + row(at, "M", "C", 8, "hit two") + "abc2:" + row(at.Add(time.Minute), "M", "C", 1, "hit three") + "3 matches\n"
	tests := map[string]struct {
		req  hearken.GrepRequest
		want []string
	}{
		"all":                  {hearken.GrepRequest{Pattern: "hit"}, []string{"abc1: before Hit one after before hit two; ", "abc2: hit three; 3 matches"}},
		"one with context":     {hearken.GrepRequest{Pattern: "hit", IgnoreCase: true, Before: 1, After: 1, Limit: 1}, []string{"abc2: hit three; 3 matches"}},
		"two with context":     {hearken.GrepRequest{Pattern: "hit", IgnoreCase: true, Before: 1, After: 1, Limit: 2}, []string{"abc1: before Hit one after; ", "abc2: hit three; 3 matches"}},
		"more than there are":  {hearken.GrepRequest{Pattern: "hit", IgnoreCase: true, Before: 1, After: 1, Limit: 9}, []string{"abc1: before Hit one after before hit two; ", "abc2: hit three; 3 matches"}},
		"without context":      {hearken.GrepRequest{Pattern: "hit", Limit: 2}, []string{"abc1: before; ", "abc2: hit three; 3 matches"}},
		"a dialect of its own": {hearken.GrepRequest{Pattern: "(?=hit)", After: 1, Limit: 2}, []string{"abc1: before; ", "abc2: hit three; 3 matches"}},
	}
	s := newCLI(t, map[string]reply{"grep": says(printed)}).scribe()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := s.Grep(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, summary(found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no match", func(t *testing.T) {
		found, err := newCLI(t, map[string]reply{"grep": {Exit: 1}}).scribe().Grep(t.Context(), hearken.GrepRequest{Pattern: "x"})
		if err != nil || len(found) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

func TestScribe_Sessions(t *testing.T) {
	const (
		one = "2F1C0B5E-0000-4000-8000-000000000001"
		two = "2F1C0B5E-0000-4000-8000-000000000002"
	)
	tests := map[string]struct {
		stdout string
		want   []string // id, start, length, entries, running
	}{
		"table":      {"ID                                    DATE              DURATION  SEGMENTS\n------\n" + one + "  2024-01-15 14:30  00:12:34  120\n" + two + "  2024-01-16 09:00  1:02:03  7\n", []string{two + " 2024-01-16 09:00 1h2m3s 7 false", one + " 2024-01-15 14:30 12m34s 120 false"}},
		"TOON":       {"sessions[2]{id,started,duration,segments}:\n  " + one + ",\"2024-01-15T14:30:00\",754.5,120\n  " + two + ",\"2024-01-16T09:00:00\",7.0,1\n", []string{two + " 2024-01-16 09:00 7s 1 false", one + " 2024-01-15 14:30 12m34.5s 120 false"}},
		"own ids":    {"* session-0007  2024-01-16T09:00:00  12m 34s  3 segments  active\n  session-0006  2024-01-15T09:00:00  5m  stopped\n", []string{"session-0007 2024-01-16 09:00 12m34s 3 true", "session-0006 2024-01-15 09:00 5m0s -1 false"}},
		"ids only":   {"2024-01-15_143000\n2024-01-14_090000\n", []string{"2024-01-15_143000 0001-01-01 00:00 0s -1 false", "2024-01-14_090000 0001-01-01 00:00 0s -1 false"}},
		"integers":   {"12 2024-01-15T14:30:00 754 120\n", []string{"12 2024-01-15 14:30 12m34s 120 false"}},
		"none":       {"No sessions found.\n", nil},
		"none, TOON": {"sessions: []\n", nil},
		"unreadable": {"10 sessions in all\n" + one + "\nsee ~/Transcripts\n", []string{one + " 0001-01-01 00:00 0s -1 false", "\"10 sessions in all\\nsee ~/Transcripts\""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newCLI(t, map[string]reply{"list": says(tt.stdout)}).scribe()
			sessions, err := s.Sessions(t.Context(), 20)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range sessions {
				if x.Raw == "" || !strings.Contains(tt.stdout, x.ID) {
					t.Errorf("%+v", x)
				}
				if x.ID == "" {
					got = append(got, fmt.Sprintf("%q", x.Raw))
					continue
				}
				got = append(got, fmt.Sprintf("%s %s %s %d %t", x.ID, x.StartedAt.Format("2006-01-02 15:04"), x.Length, x.Entries, x.Running))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("limit", func(t *testing.T) {
		s := newCLI(t, map[string]reply{"list": says(one + "\n" + two + "\n")}).scribe()
		if sessions, err := s.Sessions(t.Context(), 1); err != nil || len(sessions) != 1 {
			t.Errorf("%+v, %v", sessions, err)
		}
	})
}

func TestScribe_Status(t *testing.T) {
	const id = "2F1C0B5E-0000-4000-8000-000000000001"
	tests := map[string]struct {
		words   string
		running bool
		session string
		length  time.Duration
		unclear bool
	}{
		"as ParrotScribe": {"ParrotScribe 0.3.2\nStatus: listening\nSession ID: abc-123\nDuration: 00:12:34\nModel: large-v3\nCapture: microphone (active), system audio (inactive)\n", true, "abc-123", 12*time.Minute + 34*time.Second, false},
		"stopped":         {"Status: stopped\nSession: " + id + "\nDuration: 5m 3s", false, id, 5*time.Minute + 3*time.Second, false},
		"a sentence":      {"Transcription is running (session " + id + ").", true, id, 0, false},
		"not running":     {"Transcription is not running.", false, "", 0, false},
		"JSON":            {`{"status": "listening", "session_id": "` + id + `", "duration": 12.5}`, true, id, 12500 * time.Millisecond, false},
		"no session":      {"No active session.", false, "", 0, false},
		"paused":          {"Session started, now paused", false, "", 0, false},
		"other words":     {"Lorem ipsum", false, "", 0, true},
		"nothing":         {"", false, "", 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newCLI(t, map[string]reply{"status": says(tt.words)}).scribe()
			got, err := s.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := &hearken.ScribeStatus{Running: tt.running, Session: tt.session, Length: tt.length, Raw: strings.TrimSpace(tt.words), Unclear: tt.unclear}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScribe_StartStopNew(t *testing.T) {
	s := newCLI(t, map[string]reply{
		"start": {Stderr: []byte("Transcription already active\n")},
		"stop":  says("Stopped transcription. Session abc-1 is active until the last words are there."),
		"new":   says("Stopped session abc-1. Started session abc-2 at 2024-01-15T14:30:00Z."),
	}).scribe()
	if got, err := s.Start(t.Context(), hearken.CaptureRequest{}); err != nil || !got.Running || got.Raw != "Transcription already active" {
		t.Errorf("start: %+v, %v", got, err)
	}
	if got, err := s.Stop(t.Context()); err != nil || got.Running || got.Session != "abc-1" {
		t.Errorf("stop: %+v, %v", got, err)
	}
	if got, err := s.New(t.Context(), hearken.CaptureRequest{}); err != nil || !got.Running || got.Session != "abc-2" || got.Since.Unix() != 1705329000 {
		t.Errorf("new: %+v, %v", got, err)
	}
}
