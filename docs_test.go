package hearken_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// files are the repository's files with this ending.
func files(t *testing.T, ext string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && (hidden || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ext) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// imported are the modules that our code imports, by what go.mod requires.
func imported(t *testing.T) []string {
	t.Helper()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+([^\s(]+\.[^\s(]+) v\S+`).FindAllSubmatch(mod, -1) {
		modules = append(modules, string(m[1]))
	}
	found := map[string]bool{}
	for _, name := range files(t, ".go") {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			for _, m := range modules {
				if path == m || strings.HasPrefix(path, m+"/") {
					found[m] = true
				}
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("no import of any module was found")
	}
	return slices.Sorted(maps.Keys(found))
}

// Every module that is imported has its line, and no line outlives its module.
func TestDocs_Dependencies(t *testing.T) {
	doc, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.\S+/?\S*) \| .+ \| .+ \| .+ \|$`).FindAllSubmatch(doc, -1) {
		listed = append(listed, string(m[1]))
	}
	want := imported(t)
	for _, module := range want {
		if !slices.Contains(listed, module) {
			t.Errorf("docs/dependencies.md has no full line for %s", module)
		}
	}
	for _, module := range listed {
		if !slices.Contains(want, module) {
			t.Errorf("docs/dependencies.md lists %s, which nothing imports", module)
		}
	}
}

// Links between our own documents lead somewhere.
func TestDocs_Links(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	checked := 0
	for _, name := range files(t, ".md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
	if checked == 0 {
		t.Error("no link was found")
	}
}

// The targets of make that the documents name exist.
func TestDocs_Make(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("(?m)(?:`|^)make ([a-z]+)")
	checked := 0
	for _, name := range files(t, ".md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			checked++
			if !regexp.MustCompile(`(?m)^` + string(m[1]) + `:`).Match(makefile) {
				t.Errorf("%s names make %s, which is not there", name, m[1])
			}
		}
	}
	if checked == 0 {
		t.Error("no target was found")
	}
}

// A promise that names its test keeps it: the test exists.
func TestDocs_PromisesHaveTests(t *testing.T) {
	declared := map[string]bool{}
	for _, name := range files(t, "_test.go") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
	}
	doc, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`[A-Z]+_TESTS?\b`).Find(doc); m != nil {
		t.Errorf("docs/security.md has a place to fill in: %s", m)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(doc, -1)
	if len(named) == 0 {
		t.Fatal("docs/security.md names no test")
	}
	for _, m := range named {
		if !declared[string(m[1])] {
			t.Errorf("docs/security.md names %s, which does not exist", m[1])
		}
	}
}
