package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadTestRun(t *testing.T) {
	r, err := readTestRun("== build (0 s)\n== lint (70 s)\n0 issues.\n== tests (90 s)\nok   live  3 passed\n\nSkipped:\n"+
		"  source/mic TestFFmpeg_Ends: ffmpeg is not installed\n  vad TestDetector/jfk: no recordings\n\n5 passed, 1 failed, 2 skipped\n", 300*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{"build": 70 * time.Second, "lint": 20 * time.Second, "tests": 210 * time.Second}
	if diff := cmp.Diff(want, r.steps); diff != "" {
		t.Error(diff)
	}
	if r.passed != 5 || r.failed != 1 || len(r.skipped) != 2 || r.unproven() != 1 {
		t.Errorf("%+v, %d unproven", r, r.unproven())
	}
	if _, err := readTestRun("== build (0 s)\nmake: error\n", time.Second); err == nil {
		t.Error("a run without an end is taken for a whole one")
	}
}
