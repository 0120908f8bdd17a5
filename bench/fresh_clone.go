package main

import (
	"bufio"
	"bytes"
	"context"
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

// measureFreshClone runs `make test` as a newcomer does: in a clone of the last
// commit with nothing beside it, an empty home, and so nothing downloaded or
// compiled before. Only what the system's package manager has installed stays.
func measureFreshClone(ctx context.Context, b *bench) error {
	home, clone := filepath.Join(b.dir, "home"), filepath.Join(b.dir, "clone", "hearken")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", ".", clone).CombinedOutput(); err != nil {
		return fmt.Errorf("clone: %w: %s", err, out)
	}
	defer func() { // Go makes the files of modules read-only
		_ = exec.Command("chmod", "-R", "u+w", home).Run()
	}()
	var out bytes.Buffer
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "make", "test")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = clone, append(pristine(os.Environ()), "HOME="+home), &out, os.Stderr
	err := cmd.Run()
	whole := time.Since(begun)
	r, parseErr := readTestRun(out.String(), whole)
	if parseErr != nil {
		return errors.Join(err, parseErr)
	}
	linter := r.steps["linter, built once for each version"]
	if r.failed > 0 {
		fmt.Fprint(os.Stderr, out.String())
	}
	b.rows.add("`make test` in a fresh clone with an empty home, tests that fail", "max", 0, float64(r.failed), "", fmt.Sprintf("%d passed, %d skipped", r.passed, len(r.skipped)))
	b.rows.add("of these skipped: engine, voice detection, echo, relay, privacy", "max", 0, float64(r.unproven()), "", "skipped are: "+r.reasons())
	b.rows.add("`make test` in a fresh clone, cold, without the linter's first build", "max", 12, (whole - linter).Minutes(), "min", "")
	b.rows.add("the linter's first build", "", 0, linter.Minutes(), "min", "")
	b.rows.add("linting", "", 0, r.steps["lint"].Minutes(), "min", "")
	b.rows.add("the tests themselves, with compiling them", "", 0, r.steps["tests"].Minutes(), "min", "")
	return err
}

// pristine is an environment without what somebody has set for Hearken or Go,
// and without their directories.
func pristine(env []string) (kept []string) {
	theirs := regexp.MustCompile(`^(HEARKEN_\w+|GOPATH|GOCACHE|GOMODCACHE|GOENV|GOFLAGS|XDG_\w+|HOME)=`)
	for _, v := range env {
		if !theirs.MatchString(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// A testRun is what scripts/test printed.
type testRun struct {
	steps          map[string]time.Duration
	skipped        map[string]string // why, by package and test
	passed, failed int
}

// readTestRun reads what a run that took so long printed.
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
	closed := false
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
			closed = true
		}
	}
	next("", whole)
	if !closed {
		return nil, errors.New("make test did not come to its last line")
	}
	return r, nil
}

// unproven counts the skipped tests that hear something.
func (r *testRun) unproven() (n int) {
	hearing := regexp.MustCompile(`^(audio|onnx|vad|stt/\S+|test/thread|test/privacy|test/conformance|live|cmd/hearken) |Speech|Echo`)
	for name := range r.skipped {
		if hearing.MatchString(name) {
			n++
		}
	}
	return n
}

// reasons counts the skipped tests by why they were.
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
