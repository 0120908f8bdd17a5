// Package conformance checks the hub with two tools that others wrote: the
// official MCP conformance suite and the Inspector's command line. Both run on
// Node.js; set-up installs them as scripts/node-tools.txt lists them.
package conformance

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConformance(t *testing.T) {
	node, suite := script(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	h := startHub(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			baseline, err := filepath.Abs("baseline-" + revision + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			results := t.TempDir()
			cmd := command(t, h.Env, node, suite, "server", "--url", h.URL+"/mcp", "--requirements", revision, "--expected-failures", baseline, "-o", results)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			// The suite judges only what the revision requires. We hold the
			// rest of what it runs to the baseline too.
			excused := readBaseline(t, baseline)
			failed, passed := readResults(t, results, excused)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(excused)), failed); diff != "" {
				t.Errorf("the baseline differs from what failed (-baseline +failed):\n%s", diff)
			}
			t.Logf("%d checks passed; %d baseline entries", passed, len(excused))
			if passed < 40 {
				t.Errorf("only %d checks passed: did the suite reach the hub?", passed)
			}
		})
	}
}

// readBaseline returns the entries of a baseline with their reasons.
func readBaseline(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`^  - (\S+) +# ((?:fixture: |the tasks extension).*)$`)
	entries := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || line == "server:" {
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s: %q is not an entry with a reason", path, line)
			continue
		}
		entries[m[1]] = m[2]
	}
	return entries
}

// readResults returns what failed, in the words of the baseline, and how many
// checks passed.
func readResults(t *testing.T, dir string, excused map[string]string) (failed []string, passed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)
	all := map[string]bool{}
	for _, file := range files {
		m := name.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if m == nil {
			t.Errorf("%s has an unexpected name", file)
			continue
		}
		var checks []struct{ ID, Status string }
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &checks)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE", "WARNING":
				if _, whole := excused[m[1]]; whole {
					all[m[1]] = true
				} else {
					all[m[1]+":"+c.ID] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all)), passed
}
