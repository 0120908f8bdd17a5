package stttest_test

import (
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/stttest"
)

// The scripted provider passes the suite that it helps to write, except for
// what depends on the sound itself.
func TestRun(t *testing.T) {
	lines := []stttest.Line{{1, 2.5, "the quick brown fox"}, {4, 6, "jumps over the lazy dog"}, {3601, 3602.5, "the quick brown fox"}, {3604, 3606, "jumps over the lazy dog"}}
	stttest.Run(t, func(t *testing.T) hearken.Provider {
		if t.Name() == "TestRun/Garbage" {
			return stttest.Null{}
		}
		return stttest.NewScripted("script", append(lines[:2:2], append([]stttest.Line{{71, 72, "after the gap"}}, lines[2:]...)...))
	}, stttest.Options{Language: "en", Audio: make([]int16, 10*hearken.SampleRate), Words: "the quick brown fox jumps over the lazy dog", Without: []string{"Finalize", "Endpoints"}})
}
