package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// scribePackages are the SDK that ParrotScribe's own server was made with, in
// its version, and a tokenizer.
var scribePackages = []string{"@modelcontextprotocol/sdk@1.25.2", "gpt-tokenizer@3.4.0"}

// installScribePeers installs them and writes the scripts that use them.
func installScribePeers(b *bench) (modules, scripts string) {
	modules, err := installPackages(b.ctx, "bench-scribe", scribePackages)
	scripts = b.TempDir()
	b.check(errors.Join(err, writeScripts(scripts)))
	return modules, scripts
}

// slowCLI is how long the stand-in for ParrotScribe's CLI needs for whole
// sessions.
const slowCLI = 3 * time.Second

// benchScribeCLI compares pscribe_tail on a CLI with the calls that
// ParrotScribe's own server made, in turns and with the same stand-in.
func benchScribeCLI(b *bench) {
	rounds, calls := pick(b, 5, 2), pick(b, 30, 10)
	modules, scripts := installScribePeers(b)
	cli := writeCLI(b)
	s, err := hubtest.NewServer(hubtest.Binary(b), b.dataDir(), "PSCRIBE_PATH="+cli, "SCRIBE_BACKEND=pscribe", "IDLE_MINUTES=0.02", "TRANSCRIPTION_PROVIDER=null")
	b.check(err)
	servers := []*hubtest.Stdio{
		hubtest.StartStdio(b, s.Env, "", s.Bin, "--stdio"),
		hubtest.StartStdio(b, append(os.Environ(), "PSCRIBE_PATH="+cli), "", "node", filepath.Join(scripts, "parrotscribe.mjs"), modules),
	}
	for _, s := range servers {
		s.Request("tools/list", map[string]any{}) // until it is up
	}
	var alone, beside [2][]float64 // by server
	for range rounds {
		for i, s := range servers {
			var times durations
			for range calls {
				times = append(times, timeTail(s))
			}
			alone[i] = append(alone[i], times.ms(0.5))
		}
		for i, s := range servers {
			beside[i] = append(beside[i], timeTailsBeside(b, s, calls).ms(0.5))
		}
	}
	servers[0].Close()
	hubtest.WaitEnded(b, s.Dir)
	ratio := func(a, b []float64) (list []float64) {
		for i := range a {
			list = append(list, a[i]/b[i])
		}
		return list
	}
	const other = "how many times as long a re-creation of ParrotScribe's own server needs (its calls, TypeScript SDK, execFileSync)"
	slower, delayed, later := ratio(alone[1], alone[0]), ratio(beside[1], beside[0]), ratio(beside[0], alone[0])
	b.report("`pscribe_tail` on the CLI backend, p50, "+other, atLeast(1), median(slower), "", spread(slower))
	b.report("`pscribe_tail` while another CLI call takes 3 s, p50, "+other, atLeast(1), median(delayed), "", spread(delayed))
	b.report("`pscribe_tail` while another CLI call takes 3 s, p50, against the same with nothing beside it", atMost(1.5), median(later), "", spread(later))
	b.report("`pscribe_tail` on the CLI backend, p50", noTarget, median(alone[0]), "ms", spread(alone[0])+", beside a slow call "+spread(beside[0]))
	b.report("the re-creation, p50", noTarget, median(alone[1]), "ms", spread(alone[1])+", beside a slow call "+spread(beside[1]))
}

// writeCLI writes a stand-in for ParrotScribe's CLI that prints ten rows at
// once, and whole sessions after a while.
func writeCLI(b *bench) string {
	t := newTalker()
	var rows strings.Builder
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&rows, "2026-01-15T14:30:%02d+01:00,%c,C,%d,0.9%d,2.5,en,%s\n", i, "MS"[i%2], i, i%10, t.sentence())
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = cat ] && sleep %.0f\nprintf '%%s' '%s'\n", slowCLI.Seconds(), rows.String())
	path := filepath.Join(b.TempDir(), "pscribe")
	b.check(os.WriteFile(path, []byte(script), 0o700))
	return path
}

// timeTail times one call.
func timeTail(s *hubtest.Stdio) time.Duration {
	began := time.Now()
	s.CallText("pscribe_tail", map[string]any{"n": 10})
	return time.Since(began)
}

// timeTailsBeside times calls while the CLI is busy with another, as many of
// them as there is time for.
func timeTailsBeside(b *bench, s *hubtest.Stdio, calls int) (times durations) {
	began := time.Now()
	slow := s.Send("tools/call", map[string]any{"name": "pscribe_cat", "arguments": map[string]any{"last": 1}})
	b.sleep(100 * time.Millisecond)
	for range calls {
		times = append(times, timeTail(s))
		if time.Since(began) > slowCLI-500*time.Millisecond {
			return times // the slow answer has passed, or will
		}
	}
	s.Await(slow)
	return times
}
