// Command names draws names from the product code, to test whether they speak
// for themselves: give a reader who does not know the project README.md,
// ARCHITECTURE.md and the drawn names, and have each name explained. The draw
// is decided by the commit, so that nobody chooses.
//
//	go run ./scripts/names            # thirty names of the last commit
//	go run ./scripts/names -answers   # with their declarations, to compare
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	count := flag.Int("n", 30, "how many names to draw")
	seed := flag.String("seed", "", "text that decides the draw; empty for the last commit's hash")
	answers := flag.Bool("answers", false, "also print the declarations")
	flag.Parse()
	if err := run(os.Stdout, *count, *seed, *answers); err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, count int, seed string, answers bool) error {
	if seed == "" {
		head, err := exec.Command("git", "rev-parse", "HEAD").Output()
		if err != nil {
			return fmt.Errorf("find last commit: %w", err)
		}
		seed = strings.TrimSpace(string(head))
	}
	files, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	var all []name
	for file := range strings.FieldsSeq(string(files)) {
		if !product(file) {
			continue
		}
		found, err := namesIn(file)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	fmt.Fprintf(w, "%d of %d names, drawn by %s\n", min(count, len(all)), len(all), seed)
	for _, n := range draw(all, seed, count) {
		fmt.Fprintf(w, "%s.%s (%s)\n", path.Dir(n.file), n.text, n.kind)
		if answers {
			fmt.Fprintf(w, "\t%s\n", strings.ReplaceAll(n.declaration, "\n", "\n\t"))
		}
	}
	return nil
}

// product reports whether a file belongs to the program itself, and not to its
// tests, benchmarks or tools.
func product(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	return !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(path.Dir(file), "test") &&
		!slices.Contains([]string{"bench", "test", "testdata", "scripts", "examples"}, first)
}

// A name is one declaration at the top level of a file.
type name struct {
	file, text, kind, declaration string
}

func namesIn(file string) ([]name, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var names []name
	add := func(text, kind string, node ast.Node, doc *ast.CommentGroup) {
		var b strings.Builder
		if doc != nil {
			b.WriteString(doc.Text())
		}
		if err := printer.Fprint(&b, set, node); err != nil {
			fmt.Fprintln(&b, err)
		}
		names = append(names, name{file, text, kind, b.String()})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			text, kind := d.Name.Name, "function"
			if d.Recv != nil {
				text, kind = receiver(d.Recv.List[0].Type)+"."+text, "method"
			}
			if text != "main" && text != "init" {
				add(text, kind, d.Type, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					doc := t.Doc
					if doc == nil {
						doc = d.Doc
					}
					add(t.Name.Name, "type", t, doc)
				}
			}
		}
	}
	return names, nil
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// draw chooses count names without repetition; the same seed chooses the same.
func draw(all []name, seed string, count int) []name {
	sum := sha256.Sum256([]byte(seed))
	random := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
	all = slices.Clone(all)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(count, len(all))]
}
