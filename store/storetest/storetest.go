// Package storetest holds the suite that every store passes, and two stores for
// the tests of other packages: one in memory, and one that fails on demand.
package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hearken-dev/hearken"
)

// Run checks that a store does what [hearken.Store] promises. Each call of open
// returns an empty store, which must close when its test ends.
func Run(t *testing.T, open func(t *testing.T) hearken.Store) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Session", sessionTests},
		{"Segments", segmentTests},
		{"Search", searchTests},
		{"Delete", deleteTests},
		{"Note", noteTests},
		{"Key", keyTests},
		{"Owner", ownerTests},
		{"Exposure", exposureTests},
		{"AuditHead", auditHeadTests},
		{"Action", actionTests},
		{"Alarm", alarmTests},
		{"Grant", grantTests},
		{"Contact", contactTests},
		{"Concurrency", concurrencyTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
			}
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, s hearken.Store)
}

// noon is when everything in these tests happens. Like stored times, it has
// microseconds and no fraction of them.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 123456000, time.UTC)

// id is the n-th session id; higher ones sort after lower ones.
func id(n int) string { return fmt.Sprintf("%08x-1111-4222-8333-%012x", n, n) }

// session is a plain session that started n minutes after noon.
func session(n int) *hearken.Session {
	return &hearken.Session{
		ID: id(n), Status: hearken.Active, Language: "en-US", Provider: "local",
		StartedAt: noon.Add(time.Duration(n) * time.Minute), Epoch: 1, Principal: "local",
	}
}

// segment is an entry of a session, said line seconds after its start.
func segment(s *hearken.Session, line int, text string) hearken.Segment {
	return hearken.Segment{
		ID: fmt.Sprintf("%s-%d", s.ID[:8], line), Line: line, Origin: hearken.Microphone,
		Status: hearken.Confirmed, Text: text, StartTime: float64(line), EndTime: float64(line) + 0.5,
		Language: "en", IsFinal: true, Durable: true,
		Timestamp: s.StartedAt.Add(time.Duration(line) * time.Second),
	}
}

// saveTranscript saves a session with one entry for each text.
func saveTranscript(t *testing.T, store hearken.Store, n int, texts ...string) *hearken.Session {
	t.Helper()
	s := session(n)
	var segments []hearken.Segment
	for i, text := range texts {
		segments = append(segments, segment(s, i+1, text))
	}
	s.SegmentCount = len(segments)
	save(t, store, s, segments...)
	return s
}

func save(t *testing.T, store hearken.Store, s *hearken.Session, segments ...hearken.Segment) {
	t.Helper()
	if err := store.Save(t.Context(), s, segments); err != nil {
		t.Fatalf("save: %v", err)
	}
}

func segments(t *testing.T, store hearken.Store, id string, line, limit int, words bool) []hearken.Segment {
	t.Helper()
	got, err := store.Segments(t.Context(), id, line, limit, words)
	if err != nil {
		t.Fatalf("segments: %v", err)
	}
	return got
}

func lines(segments []hearken.Segment) string {
	var lines []string
	for _, g := range segments {
		lines = append(lines, fmt.Sprint(g.Line))
	}
	return strings.Join(lines, " ")
}

// equal compares what came out of a store with what went in.
func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("not what was saved (-want +got):\n%s", diff)
	}
}

// WantRepositoryError fails unless err has the code [hearken.RepositoryError]
// and contains all texts.
func WantRepositoryError(t *testing.T, err error, texts ...string) {
	t.Helper()
	wantCode(t, err, hearken.RepositoryError)
	for _, text := range texts {
		if err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in the error %q", text, err)
		}
	}
}

func wantCode(t *testing.T, err error, code hearken.Code) {
	t.Helper()
	if err == nil || hearken.CodeOf(err) != code {
		t.Errorf("got error %v with code %q, want %q", err, hearken.CodeOf(err), code)
	}
}
