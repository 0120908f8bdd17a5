package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// benchFreshClone runs `make test` as a newcomer does: in a clone of the last
// commit with an empty home, and so with nothing downloaded or compiled before.
// Only what the system's package manager has installed stays.
func benchFreshClone(b *bench) {
	home, clone := filepath.Join(b.TempDir(), "home"), filepath.Join(b.TempDir(), "hearken")
	b.check(os.MkdirAll(home, 0o755))
	if out, err := exec.CommandContext(b.ctx, "git", "clone", "--quiet", ".", clone).CombinedOutput(); err != nil {
		b.Fatalf("clone: %v: %s", err, out)
	}
	b.Cleanup(func() { // Go makes the files of modules read-only
		_ = exec.Command("chmod", "-R", "u+w", home).Run()
	})
	var out bytes.Buffer
	began := time.Now()
	cmd := exec.CommandContext(b.ctx, "make", "test")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = clone, append(pristine(os.Environ()), "HOME="+home), &out, os.Stderr
	err := cmd.Run()
	whole := time.Since(began)
	r, parseErr := readTestRun(out.String(), whole)
	if parseErr != nil {
		b.Fatal(errors.Join(err, parseErr))
	}
	linter := r.steps["linter, built once for each version"]
	b.report("`make test` in a fresh clone with an empty home, tests that fail", atMost(0), float64(r.failed), "", fmt.Sprintf("%d passed, %d skipped", r.passed, len(r.skipped)))
	b.report("of these skipped: engine, voice detection, echo, relay, privacy", atMost(0), float64(r.unproven()), "", "skipped are: "+r.reasons())
	b.report("`make test` in a fresh clone, cold, without the linter's first build", atMost(12), (whole - linter).Minutes(), "min", "")
	b.report("the linter's first build", noTarget, linter.Minutes(), "min", "")
	b.report("linting", noTarget, r.steps["lint"].Minutes(), "min", "")
	b.report("the tests themselves, with compiling them", noTarget, r.steps["tests"].Minutes(), "min", "")
	if err != nil {
		b.Errorf("make test: %v\n%s", err, out.String())
	}
}

// pristine is an environment without settings for Hearken or Go and without
// directories of the user.
func pristine(env []string) (rest []string) {
	set := regexp.MustCompile(`^(HEARKEN_\w+|GOPATH|GOCACHE|GOMODCACHE|GOENV|GOFLAGS|XDG_\w+|HOME)=`)
	for _, v := range env {
		if !set.MatchString(v) {
			rest = append(rest, v)
		}
	}
	return rest
}

// A testRun is what scripts/test reported.
type testRun struct {
	steps          map[string]time.Duration
	skipped        map[string]string // why, by package and test
	passed, failed int
}

// readTestRun reads the output of a run that took so long.
func readTestRun(out string, whole time.Duration) (*testRun, error) {
	r := &testRun{steps: map[string]time.Duration{}, skipped: map[string]string{}}
	step := regexp.MustCompile(`^== (.+) \((\d+) s\)$`)
	skip := regexp.MustCompile(`^  (\S+ \S+): (.+)$`)
	total := regexp.MustCompile(`^(\d+) passed, (\d+) failed, \d+ skipped$`)
	var last string
	var began time.Duration
	next := func(name string, at time.Duration) {
		if last != "" {
			r.steps[last] = at - began
		}
		last, began = name, at
	}
	complete := false
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if m := step.FindStringSubmatch(line); m != nil {
			at, _ := strconv.Atoi(m[2])
			next(m[1], time.Duration(at)*time.Second)
		} else if m := skip.FindStringSubmatch(line); m != nil {
			r.skipped[m[1]] = m[2]
		} else if m := total.FindStringSubmatch(line); m != nil {
			r.passed, _ = strconv.Atoi(m[1])
			r.failed, _ = strconv.Atoi(m[2])
			complete = true
		}
	}
	next("", whole)
	if !complete {
		return nil, errors.New("make test did not print its last line")
	}
	return r, nil
}

// unproven counts the skipped tests that involve speech.
func (r *testRun) unproven() (n int) {
	speech := regexp.MustCompile(`^(audio|onnx|vad|stt/\S+|test/e2e|test/privacy|test/conformance|live|cmd/hearken) |Speech|Echo`)
	for name := range r.skipped {
		if speech.MatchString(name) {
			n++
		}
	}
	return n
}

// reasons counts the skipped tests by reason.
func (r *testRun) reasons() string {
	counts := map[string]int{}
	for _, why := range r.skipped {
		counts[why]++
	}
	var parts []string
	for why, n := range counts {
		parts = append(parts, fmt.Sprintf("%d, %s", n, why))
	}
	return strings.Join(parts, "; ")
}
