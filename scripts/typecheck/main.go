// Typecheck says whether the program compiles for platforms other than this
// one, in seconds: it checks the types of our own packages and reads only the
// declarations of the packages they use, where a build would compile all of
// them anew for each platform. make cross builds and vets them in earnest.
//
//	go run ./scripts/typecheck darwin/arm64 windows/amd64
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

func main() { os.Exit(run(os.Stdout, ".", os.Args[1:])) }

func run(w io.Writer, dir string, platforms []string) int {
	reports := make([]string, len(platforms))
	var failed atomic.Bool
	var wg sync.WaitGroup
	for i, platform := range platforms {
		wg.Go(func() {
			n, err := check(dir, platform)
			if err != nil {
				failed.Store(true)
				reports[i] = err.Error()
				return
			}
			reports[i] = fmt.Sprintf("typecheck: %s, %d packages", platform, n)
		})
	}
	wg.Wait()
	fmt.Fprintln(w, strings.Join(reports, "\n"))
	if failed.Load() {
		return 1
	}
	return 0
}

// A listed package is what go list says of it.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Module     *struct{ Main bool }
}

// check returns how many packages of the module in dir it has checked.
func check(dir, platform string) (int, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("typecheck: %q is not a platform such as windows/amd64", platform)
	}
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("typecheck %s: go list: %w", platform, err)
	}
	c := &checker{sizes: types.SizesFor("gc", goarch), fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, fmt.Errorf("typecheck %s: %w", platform, err)
		}
		c.check(&p) // -deps lists a package after those that it imports
	}
	if len(c.errs) > 0 {
		return 0, fmt.Errorf("typecheck %s:\n%w", platform, errors.Join(c.errs...))
	}
	return c.own, nil
}

type checker struct {
	sizes types.Sizes
	fset  *token.FileSet
	done  map[string]*types.Package
	own   int
	errs  []error
}

func (c *checker) check(p *listed) {
	if p.ImportPath == "unsafe" {
		return
	}
	own := p.Module != nil && p.Module.Main
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer:         importer{c, p.ImportMap},
		Sizes:            c.sizes,
		FakeImportC:      true,
		IgnoreFuncBodies: !own,
		Error: func(err error) {
			if own { // what others publish compiles, and its bodies were not read
				c.errs = append(c.errs, err)
			}
		},
	}
	pkg, _ := conf.Check(p.ImportPath, c.fset, files, nil) // errors went to conf.Error
	c.done[p.ImportPath] = pkg
	if own {
		c.own++
	}
}

// An importer finds the packages that were checked before, as one package
// names them.
type importer struct {
	*checker
	names map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if vendored, ok := i.names[path]; ok {
		path = vendored
	}
	if pkg := i.done[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("package %s is not listed", path)
}
