// Testsum makes the output of go test -json fit for reading: one line for each
// package, the whole output of what failed, and at the end what was skipped
// and why, so that a green run never hides what it left out.
//
//	go test -json ./... | go run ./scripts/testsum [-may-skip REGEXP] ["what was left out" ...]
//
// It ends with failure if a test failed, and also if there was none. With
// -may-skip it fails too if anything was skipped or left out for a reason that
// does not match.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	// It reads to the end: go test, interrupted with it, still has to remove what
	// it made, and would die of a reader that is gone.
	signal.Ignore(os.Interrupt)
	os.Exit(run(os.Stdin, os.Stdout, os.Args[1:]))
}

// An event is one line of go test -json; see go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Output     string
	Elapsed    float64
}

// A test is one test or, with no name, the rest of its package.
type test struct{ pkg, name string }

type summary struct {
	w       io.Writer
	output  map[test][]string
	counts  map[string]*count // by package
	total   count
	skipped []string
	maySkip *regexp.Regexp // nil for any reason
}

type count struct{ passed, failed, skipped int }

func run(r io.Reader, w io.Writer, args []string) int {
	s := &summary{w: w, output: map[test][]string{}, counts: map[string]*count{}}
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.Func("may-skip", "fail if something is skipped for a reason that does not match", func(v string) (err error) {
		s.maySkip, err = regexp.Compile(v)
		return err
	})
	if flags.Parse(args) != nil {
		return 2
	}
	s.skipped = flags.Args()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(w, lines.Text()) // go itself speaks, not a test
			continue
		}
		s.add(e)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(w, "read test output:", err)
		s.total.failed++
	}
	s.close()
	if s.total.failed > 0 || s.total.passed == 0 {
		return 1
	}
	return 0
}

func (s *summary) add(e event) {
	key := test{cmp.Or(e.Package, e.ImportPath), e.Test}
	n := s.counts[key.pkg]
	if n == nil {
		n = &count{}
		s.counts[key.pkg] = n
	}
	switch e.Action {
	case "output":
		s.output[key] = append(s.output[key], e.Output)
	case "build-output":
		fmt.Fprint(s.w, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.closePackage(e, n)
			return
		}
		s.closeTest(e, key, n)
	}
}

func (s *summary) closeTest(e event, key test, n *count) {
	switch e.Action {
	case "pass":
		n.passed++
	case "fail":
		n.failed++
		s.show(key)
	case "skip":
		n.skipped++
		s.skipped = append(s.skipped, fmt.Sprintf("%s %s: %s", short(key.pkg), key.name, reason(s.output[key])))
	}
	delete(s.output, key)
}

func (s *summary) closePackage(e event, n *count) {
	word := "ok  "
	if e.Action == "fail" {
		word = "FAIL"
		if n.failed == 0 { // it did not build, or died outside a test
			n.failed++
		}
		for _, key := range s.unfinished(e.Package) {
			s.show(key)
		}
	}
	if n.passed+n.failed+n.skipped > 0 {
		took := time.Duration(e.Elapsed * float64(time.Second)).Round(10 * time.Millisecond)
		fmt.Fprintf(s.w, "%s %-24s %4d passed", word, short(e.Package), n.passed)
		for _, part := range []struct {
			n    int
			word string
		}{{n.failed, "failed"}, {n.skipped, "skipped"}} {
			if part.n > 0 {
				fmt.Fprintf(s.w, ", %d %s", part.n, part.word)
			}
		}
		fmt.Fprintf(s.w, "  (%s)\n", took)
	}
	s.total.passed += n.passed
	s.total.failed += n.failed
	s.total.skipped += n.skipped
	delete(s.counts, e.Package) // some tests of it may run again, in another way
}

// unfinished are the tests of a package that were cut off, the package's own
// output last.
func (s *summary) unfinished(pkg string) []test {
	var keys []test
	for key := range s.output {
		if key.pkg == pkg {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b test) int { return -strings.Compare(a.name, b.name) })
	return keys
}

func (s *summary) show(key test) {
	for _, line := range s.output[key] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(s.w, line)
		}
	}
	delete(s.output, key)
}

func (s *summary) close() {
	if len(s.skipped) > 0 {
		fmt.Fprintln(s.w, "\nSkipped:")
		slices.Sort(s.skipped)
		for _, line := range s.skipped {
			if s.maySkip != nil && !s.maySkip.MatchString(line) {
				s.total.failed++
				line += " (must not be skipped here)"
			}
			fmt.Fprintln(s.w, " ", line)
		}
	}
	fmt.Fprintf(s.w, "\n%d passed, %d failed, %d skipped\n", s.total.passed, s.total.failed, s.total.skipped)
}

// reason is what t.Skip said: the indented line "    file_test.go:12: why".
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if _, why, ok := strings.Cut(line, ".go:"); ok {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}

func short(pkg string) string {
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(pkg, "github.com/hearken-dev/hearken"), "/"), ".")
}
