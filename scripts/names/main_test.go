package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNamesIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	source := "package a\n\n// A Thing is one.\ntype Thing[T any] struct{}\n\nfunc (t *Thing[T]) Do() {}\n\nfunc helper() {}\n\nfunc init() {}\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := namesIn(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range found {
		got = append(got, n.kind+" "+n.text)
	}
	if want := []string{"type Thing", "method Thing.Do", "function helper"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDraw(t *testing.T) {
	all := make([]name, 100)
	for i := range all {
		all[i].text = string(rune('a' + i))
	}
	first, again, other := draw(all, "one", 30), draw(all, "one", 30), draw(all, "two", 30)
	if !slices.Equal(first, again) || slices.Equal(first, other) || len(first) != 30 {
		t.Error("the seed alone must decide the draw")
	}
	if got := len(draw(all, "one", 500)); got != 100 {
		t.Errorf("%d names drawn from 100", got)
	}
}

func TestProduct(t *testing.T) {
	for file, want := range map[string]bool{
		"segment.go": true, "live/hub.go": true, "live/hub_test.go": false, "stt/stttest/suite.go": false,
		"bench/main.go": false, "test/hubtest/hubtest.go": false, "scripts/names/main.go": false,
	} {
		if product(file) != want {
			t.Errorf("%s: %t", file, !want)
		}
	}
}
