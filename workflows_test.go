package hearken_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// workflows are GitHub's workflows by name, without their comments except the
// versions behind a pin.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(names) < 2 {
		t.Fatalf("workflows %q: %v", names, err)
	}
	comment := regexp.MustCompile(`(?m)(^|\s)#( [^v].*| v[^\d].*|)$`)
	found := map[string]string{}
	for _, name := range names {
		found[filepath.Base(name)] = comment.ReplaceAllString(read(t, name), "")
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the workflows run and what their caches hang on exists.
func TestWorkflows_Names(t *testing.T) {
	makefile := read(t, "Makefile")
	target := regexp.MustCompile(`\bmake ([a-z]+)`)
	script := regexp.MustCompile(`\bscripts/[\w.-]+`)
	hashed := regexp.MustCompile(`hashFiles\(([^)]*)\)`)
	quoted := regexp.MustCompile(`'([^']+)'`)
	checked := 0
	for workflow, text := range workflows(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			checked++
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				t.Errorf("%s runs make %s, which is not there", workflow, m[1])
			}
		}
		names := script.FindAllString(text, -1)
		for _, m := range hashed.FindAllStringSubmatch(text, -1) {
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				names = append(names, q[1])
			}
		}
		for _, name := range names {
			checked++
			if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s names %s, which is not there", workflow, name)
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d names were found", checked)
	}
}

// GitHub runs what everybody runs, before a release too.
func TestWorkflows_Test(t *testing.T) {
	all := workflows(t)
	job := regexp.MustCompile(`(?ms)^  test:\n(.*?)(?:^  \S|\z)`).FindStringSubmatch(all["test.yml"])
	if job == nil {
		t.Fatal("test.yml has no job test")
	}
	for _, line := range []string{`    runs-on: ubuntu-24\.04`, `      - run: make test`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(job[1]) {
			t.Errorf("the job test has no line %q", line)
		}
	}
	if !strings.Contains(all["release.yml"], "uses: ./.github/workflows/test.yml\n") {
		t.Error("release.yml does not run test.yml")
	}
}

// Go is the newest of the line that go.mod names, in every job: a release has
// the fixes of the standard library.
func TestWorkflows_Go(t *testing.T) {
	line := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if line == nil {
		t.Fatal("go.mod names no version")
	}
	version := regexp.MustCompile(`(?m)^\s+go-version: (\S+)\s*\n\s+check-latest: true$`)
	for workflow, text := range workflows(t) {
		setups := strings.Count(text, "uses: actions/setup-go@")
		versions := version.FindAllStringSubmatch(text, -1)
		if setups == 0 || setups != len(versions) {
			t.Errorf("%s sets up Go %d times, %d times with the newest of a line", workflow, setups, len(versions))
		}
		for _, v := range versions {
			if v[1] != line[1]+".x" {
				t.Errorf("%s uses Go %s, go.mod says %s", workflow, v[1], line[1])
			}
		}
	}
}

// A tag of somebody else's can move to other code, a commit cannot. All jobs
// use the same one.
func TestWorkflows_Pins(t *testing.T) {
	uses := regexp.MustCompile(`(?m)\buses:\s*(.*)$`)
	pinned := regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	pins := map[string]string{}
	for workflow, text := range workflows(t) {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if local, ok := strings.CutPrefix(m[1], "./"); ok {
				if _, err := os.Stat(local); err != nil {
					t.Errorf("%s uses %s, which is not there", workflow, m[1])
				}
				continue
			}
			pin := pinned.FindStringSubmatch(m[1])
			if pin == nil {
				t.Errorf("%s uses %s: write owner/name@COMMIT # v1.2.3", workflow, m[1])
				continue
			}
			if other, ok := pins[pin[1]]; ok && other != pin[2] {
				t.Errorf("%s is used at %s and at %s", pin[1], pin[2], other)
			}
			pins[pin[1]] = pin[2]
		}
	}
	if len(pins) == 0 {
		t.Error("no action was found")
	}
}

// No job may do more than it says.
func TestWorkflows_Permissions(t *testing.T) {
	for workflow, text := range workflows(t) {
		if !regexp.MustCompile(`(?m)^permissions:(\n  contents: read\n\n| \{\}\s*$)`).MatchString(text) {
			t.Errorf("%s lets its jobs do more than read", workflow)
		}
		jobs := regexp.MustCompile(`(?m)^    runs-on: `).FindAllString(text, -1)
		limits := regexp.MustCompile(`(?m)^    timeout-minutes: \d+$`).FindAllString(text, -1)
		if len(jobs) != len(limits) {
			t.Errorf("%s has %d jobs and %d limits of time", workflow, len(jobs), len(limits))
		}
	}
}

// People with any usual computer get a program.
func TestRelease_Platforms(t *testing.T) {
	list := regexp.MustCompile(`(?m)^platforms=\(([^)]*)\)`).FindStringSubmatch(read(t, "scripts/release"))
	if list == nil {
		t.Fatal("scripts/release has no list of platforms")
	}
	got := strings.Fields(list[1])
	for _, platform := range []string{
		"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
	} {
		if !slices.Contains(got, platform) {
			t.Errorf("scripts/release does not build for %s", platform)
		}
	}
}
