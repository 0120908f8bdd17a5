package wsconn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSet_Close(t *testing.T) {
	s := NewSet()
	for n := 1; n <= 2; n++ {
		if !s.Add() || s.Open() != n {
			t.Fatalf("%d connections, want %d", s.Open(), n)
		}
	}
	s.Done()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("closed with a connection: %v", err)
	}
	<-s.Closing()
	if s.Add() {
		t.Error("a connection was added after Close")
	}
	s.Done()
	if err := s.Close(t.Context()); err != nil || s.Open() != 0 {
		t.Errorf("closed with %d connections: %v", s.Open(), err)
	}
	if err := NewSet().Close(t.Context()); err != nil {
		t.Errorf("closed without a connection: %v", err)
	}
}

func TestCloseReason(t *testing.T) {
	if got := CloseReason("short"); got != "short" {
		t.Errorf("%q", got)
	}
	if got := CloseReason(strings.Repeat("é", 100)); len(got) > 123 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
