package api

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func replay(e *eventStore, session, stream string, index int) (got []string, err error) {
	for data, err := range e.After(context.Background(), session, stream, index) {
		if err != nil {
			return nil, err
		}
		got = append(got, string(data))
	}
	return got, nil
}

func TestEvents_Replay(t *testing.T) {
	e := newEventStore()
	for i := range 4 {
		e.Append(t.Context(), "s", "a", fmt.Appendf(nil, "%d", i))
	}
	for index, want := range map[int][]string{-1: {"0", "1", "2", "3"}, 1: {"2", "3"}, 3: nil, 9: nil} {
		got, err := replay(e, "s", "a", index)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("after %d: %v %s", index, err, diff)
		}
	}
	if _, err := replay(e, "other", "a", -1); err == nil {
		t.Error("another session's events")
	}
}

func TestEvents_OldAnswersGo(t *testing.T) {
	e := newEventStore()
	e.Open(t.Context(), "s", "")
	e.Append(t.Context(), "s", "", []byte("news"))
	for i := range 10 * eventStreams {
		e.Append(t.Context(), "s", fmt.Sprint(i), []byte("x"))
	}
	if n := len(e.sessions["s"].streams); n != eventStreams+1 || e.oldest.Len() != n {
		t.Errorf("%d streams, %d listed", n, e.oldest.Len())
	}
	if _, err := replay(e, "s", "0", -1); !errors.Is(err, mcp.ErrEventsPurged) {
		t.Errorf("the oldest: %v", err)
	}
	if got, err := replay(e, "s", "", -1); err != nil || len(got) != 1 {
		t.Errorf("standalone: %v, %v", got, err)
	}
}

func TestEvents_BytesAreBounded(t *testing.T) {
	e := newEventStore()
	e.limit = 100
	e.Append(t.Context(), "quiet", "", []byte("0123456789"))
	for i := range 50 {
		e.Append(t.Context(), fmt.Sprint("s", i%5), fmt.Sprint(i), make([]byte, 30))
		if e.bytes > e.limit {
			t.Fatalf("%d bytes held", e.bytes)
		}
	}
	// The standalone stream has dropped its past, so resuming it fails.
	if _, err := replay(e, "quiet", "", -1); err != nil {
		t.Errorf("a new listener: %v", err)
	}
	e.Append(t.Context(), "quiet", "", []byte("new"))
	if got, err := replay(e, "quiet", "", 0); err != nil || cmp.Diff([]string{"new"}, got) != "" {
		t.Errorf("one that had it all: %v, %v", got, err)
	}
	e.Append(t.Context(), "big", "b", make([]byte, 200))
	if e.bytes > e.limit {
		t.Errorf("%d bytes held", e.bytes)
	}
	for _, s := range []string{"quiet", "big", "s0", "s1", "s2", "s3", "s4", "s4"} {
		e.SessionClosed(t.Context(), s)
	}
	if e.bytes != 0 || e.oldest.Len() != 0 || len(e.sessions) != 0 {
		t.Errorf("left over: %d bytes, %d streams, %d sessions", e.bytes, e.oldest.Len(), len(e.sessions))
	}
}
