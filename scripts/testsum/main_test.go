package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	const pkg = `"Package":"github.com/hearken-dev/hearken/live"`
	tests := map[string]struct {
		in   []string
		left []string
		want string
		code int
	}{
		"Passed": {
			in: []string{
				`{"Action":"run",` + pkg + `,"Test":"TestA"}`,
				`{"Action":"output",` + pkg + `,"Test":"TestA","Output":"chatter\n"}`,
				`{"Action":"pass",` + pkg + `,"Test":"TestA","Elapsed":0.1}`,
				`{"Action":"output",` + pkg + `,"Test":"TestB","Output":"    a_test.go:12: no ffmpeg: not found\n"}`,
				`{"Action":"skip",` + pkg + `,"Test":"TestB","Elapsed":0}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":1.5}`,
			},
			left: []string{"the race detector: no C compiler"},
			want: "ok   live                        1 passed, 1 skipped  (1.5s)\n" +
				"\nSkipped:\n  live TestB: no ffmpeg: not found\n  the race detector: no C compiler\n\n1 passed, 0 failed, 1 skipped\n",
		},
		"Twice": {
			in: []string{
				`{"Action":"pass",` + pkg + `,"Test":"TestA"}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":1}`,
				`{"Action":"pass",` + pkg + `,"Test":"TestB"}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":2}`,
			},
			want: "ok   live                        1 passed  (1s)\nok   live                        1 passed  (2s)\n\n2 passed, 0 failed, 0 skipped\n",
		},
		"MustNotSkip": {
			in: []string{
				`{"Action":"pass",` + pkg + `,"Test":"TestA","Elapsed":0.1}`,
				`{"Action":"output",` + pkg + `,"Test":"TestB","Output":"    a_test.go:12: no ffmpeg\n"}`,
				`{"Action":"skip",` + pkg + `,"Test":"TestB","Elapsed":0}`,
				`{"Action":"output",` + pkg + `,"Test":"TestC","Output":"    a_test.go:14: no models\n"}`,
				`{"Action":"skip",` + pkg + `,"Test":"TestC","Elapsed":0}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":1.5}`,
			},
			left: []string{"-may-skip", "ffmpeg"},
			want: "ok   live                        1 passed, 2 skipped  (1.5s)\n" +
				"\nSkipped:\n  live TestB: no ffmpeg\n  live TestC: no models (must not be skipped here)\n\n1 passed, 1 failed, 2 skipped\n",
			code: 1,
		},
		"Failed": {
			in: []string{
				`{"Action":"output",` + pkg + `,"Test":"TestA","Output":"=== RUN TestA\n"}`,
				`{"Action":"output",` + pkg + `,"Test":"TestA","Output":"    a_test.go:3: wrong\n"}`,
				`{"Action":"fail",` + pkg + `,"Test":"TestA"}`,
				`{"Action":"fail",` + pkg + `,"Elapsed":1}`,
			},
			want: "    a_test.go:3: wrong\nFAIL live                        0 passed, 1 failed  (1s)\n" +
				"\n0 passed, 1 failed, 0 skipped\n",
			code: 1,
		},
		"Panicked": {
			in: []string{
				`{"Action":"pass",` + pkg + `,"Test":"TestA"}`,
				`{"Action":"output",` + pkg + `,"Test":"TestB","Output":"panic: oh\n"}`,
				`{"Action":"output",` + pkg + `,"Output":"exit status 2\n"}`,
				`{"Action":"fail",` + pkg + `,"Elapsed":1}`,
			},
			want: "panic: oh\nexit status 2\nFAIL live                        1 passed, 1 failed  (1s)\n" +
				"\n1 passed, 1 failed, 0 skipped\n",
			code: 1,
		},
		"NotBuilt": {
			in: []string{
				`{"ImportPath":"github.com/hearken-dev/hearken/live","Action":"build-output","Output":"live.go:1: oops\n"}`,
				`{"ImportPath":"github.com/hearken-dev/hearken/live","Action":"build-fail"}`,
				`{"Action":"fail",` + pkg + `,"Elapsed":0,"FailedBuild":"x"}`,
			},
			want: "live.go:1: oops\nFAIL live                        0 passed, 1 failed  (0s)\n" +
				"\n0 passed, 1 failed, 0 skipped\n",
			code: 1,
		},
		"Nothing": {
			in:   []string{"go: cannot find main module"},
			want: "go: cannot find main module\n\n0 passed, 0 failed, 0 skipped\n",
			code: 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(strings.NewReader(strings.Join(tt.in, "\n")), &out, tt.left); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}
