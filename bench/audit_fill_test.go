package main

import "testing"

func TestMeasureAuditAppends(t *testing.T) {
	s, err := measureAuditAppends(t.Context(), t.TempDir(), 230)
	if err != nil || s.Append <= 0 || s.Bare <= 0 {
		t.Fatal(s, err)
	}
	t.Logf("append %v, bare %v, ratio %.2f", s.Append, s.Bare, s.Ratio())
}
