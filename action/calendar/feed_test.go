package calendar

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearken-dev/hearken"
)

// fakeActions is a store of actions, as far as a feed reads it.
type fakeActions struct {
	actions []hearken.Action
	err     error
}

func (s *fakeActions) Actions(_ context.Context, f hearken.ActionFilter) ([]hearken.Action, error) {
	var list []hearken.Action
	for _, a := range s.actions {
		if slices.Contains(f.States, a.State) && a.Tool == f.Tool {
			list = append(list, a)
		}
	}
	return list, s.err
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newFeed(t *testing.T, s *fakeActions, edit func(*FeedConfig)) *Feed {
	t.Helper()
	cfg := FeedConfig{Dir: t.TempDir(), Actions: s}
	if edit != nil {
		edit(&cfg)
	}
	f, err := NewFeed(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func serve(f *Feed, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestFeed(t *testing.T) {
	undone := appointment(t, "2026-11-21T15:00:00+02:00")
	undone.State = hearken.ActionUndone
	pending := appointment(t, "2026-11-22T15:00:00+02:00")
	pending.State = hearken.ActionPending
	meeting, pills, once := appointment(t, "2026-11-20T15:00:00+02:00"), reminder(t, "2026-10-22T09:00:00+02:00", "FREQ=DAILY"), reminder(t, "2026-10-23T09:00:00+02:00", "")
	tea := reminder(t, "2026-10-24T16:00:00+02:00", "FREQ=WEEKLY")
	broken := reminder(t, "2026-10-24T16:00:00+02:00", "FREQ=DAILY")
	broken.Reminder.Zone = "Nowhere"
	s := &fakeActions{actions: []hearken.Action{*meeting, *undone, *pending, *pills, *once, *tea, *broken}}
	f := newFeed(t, s, nil)

	w := serve(f, http.MethodGet, f.Path())
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "text/calendar; charset=utf-8" {
		t.Errorf("type %q", got)
	}
	file := w.Body.String()
	for _, want := range []string{
		"X-WR-CALNAME:Hearken\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT15M\r\n", "X-PUBLISHED-TTL:PT15M\r\n",
		"DTSTART:20261120T130000Z\r\n", "DTSTART;TZID=Europe/Berlin:20261022T090000\r\n",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in\n%s", want, file)
		}
	}
	var uids []string
	for _, c := range parseComponents(file) {
		uids = append(uids, c.text("UID"))
		if c.kind != event {
			t.Errorf("%s in the feed", c.kind)
		}
	}
	if want := []string{UID(pills.ID), UID(once.ID), UID(tea.ID), UID(meeting.ID)}; !slices.Equal(uids, want) {
		t.Errorf("shows %v, want %v", uids, want)
	}
	if n := strings.Count(file, "BEGIN:VTIMEZONE"); n != 1 {
		t.Errorf("%d zones are described", n)
	}
	if n := strings.Count(file, "BEGIN:VALARM"); n != 3 {
		t.Errorf("%d alarms", n)
	}

	head := serve(f, http.MethodHead, f.Path())
	if head.Code != http.StatusOK || head.Body.Len() != 0 || head.Header().Get("ETag") != w.Header().Get("ETag") || head.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
}

// Conditional requests are right, by ETag and by time, even for two changes
// within one second.
func TestFeed_Conditional(t *testing.T) {
	s := &fakeActions{actions: []hearken.Action{*appointment(t, "2026-11-20T15:00:00+02:00")}}
	c := &clock{now: created.Add(300 * time.Millisecond)}
	f := newFeed(t, s, func(cfg *FeedConfig) { cfg.Now = c.Now })
	first := serve(f, http.MethodGet, f.Path()).Header()
	same := [][]string{
		{"If-None-Match", first.Get("ETag")},
		{"If-None-Match", `"x", W/` + first.Get("ETag")},
		{"If-Modified-Since", first.Get("Last-Modified")},
	}
	c.now = c.now.Add(100 * time.Millisecond)
	for _, h := range same {
		if w := serve(f, http.MethodGet, f.Path(), h...); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("%v: %d", h, w.Code)
		}
	}
	s.actions[0].State = hearken.ActionUndone
	for _, h := range same {
		if w := serve(f, http.MethodGet, f.Path(), h...); w.Code != http.StatusOK || w.Header().Get("ETag") == first.Get("ETag") {
			t.Errorf("after the change, %v: %d", h, w.Code)
		}
	}
	empty := serve(f, http.MethodGet, f.Path()).Body.String()
	if !strings.Contains(empty, "BEGIN:VTIMEZONE") || strings.Contains(empty, "VEVENT") {
		t.Errorf("an empty calendar is\n%s", empty)
	}
}

func TestFeed_Address(t *testing.T) {
	s := &fakeActions{actions: []hearken.Action{*appointment(t, "2026-11-20T15:00:00+02:00")}}
	dir := t.TempDir()
	in := func(c *FeedConfig) { c.Dir = dir }
	f := newFeed(t, s, in)
	for _, path := range []string{"/calendar/", "/calendar/.ics", "/calendar/x.ics", strings.TrimSuffix(f.Path(), ".ics"), f.Path() + "x", strings.ToUpper(f.Path()), "/x" + f.Path()} {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			if w := serve(f, method, path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "VEVENT") {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
	if w := serve(f, http.MethodPost, f.Path()); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d", w.Code)
	}

	file := filepath.Join(dir, tokenName)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if second := newFeed(t, s, in); second.Path() != f.Path() {
		t.Error("the address changed")
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file: %v, %v", info.Mode(), err)
	}
	if other := newFeed(t, s, nil); other.Path() == f.Path() || len(other.token) < 26 {
		t.Error("two hubs have the same address")
	}
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFeed(FeedConfig{Dir: dir, Actions: s}); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("a damaged secret: %v", err)
	}
}

// A failing store must not look like an empty calendar: subscribers would delete
// their entries.
func TestFeed_StoreFails(t *testing.T) {
	f := newFeed(t, &fakeActions{err: errors.New("disk on fire")}, nil)
	w := serve(f, http.MethodGet, f.Path())
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "fire") || w.Header().Get("Retry-After") == "" {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
}

func TestBuiltin(t *testing.T) {
	a := appointment(t, "2026-11-20T15:00:00+02:00")
	for range 2 {
		if o := (Builtin{}).Do(t.Context(), a); o.Result != hearken.ResultOK || o.Receipt != a.ID+"@hearken" {
			t.Errorf("do: %+v", o)
		}
		if o := (Builtin{}).Undo(t.Context(), a); o.Result != hearken.ResultOK {
			t.Errorf("undo: %+v", o)
		}
	}
}

func TestBuiltin_Conflicts(t *testing.T) {
	there, elsewhere, undone := appointment(t, "2026-11-20T15:00:00+02:00"), appointment(t, "2026-11-20T15:00:00+02:00"), appointment(t, "2026-11-20T15:00:00+02:00")
	there.Connector, elsewhere.Connector, undone.Connector = "builtin", "caldav", "builtin"
	elsewhere.Appointment.Title, undone.Appointment.Title = "elsewhere", "undone"
	undone.State = hearken.ActionUndone
	b := Builtin{Actions: &fakeActions{actions: []hearken.Action{*there, *elsewhere, *undone}}}
	begin, end := there.Appointment.Start, there.Appointment.Start.Add(there.Appointment.Duration)
	for _, tt := range []struct {
		name       string
		start, end time.Time
		want       []string
	}{
		{"Same", begin, end, []string{there.Appointment.Title}},
		{"Inside", begin.Add(time.Minute), end.Add(-time.Minute), []string{there.Appointment.Title}},
		{"Before", begin.Add(-time.Hour), begin, nil},
		{"After", end, end.Add(time.Hour), nil},
	} {
		if got, err := b.Conflicts(t.Context(), tt.start, tt.end); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	if got, err := (Builtin{}).Conflicts(t.Context(), begin, end); got != nil || err != nil {
		t.Errorf("without a store: %q, %v", got, err)
	}
}
