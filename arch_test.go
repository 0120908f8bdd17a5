package hearken_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hearken-dev/hearken"

// rules list which of our packages a package may import besides the root. A rule
// for "store/*" applies to every package below; the most specific rule wins.
// Packages that are not listed may import only the root.
var rules = map[string][]string{
	"":              nil,       // the root imports nothing
	"live":          {"audio"}, // behaviour
	"scribe":        {"live"},
	"act":           {"schedule", "act/evidence", "act/people"},
	"act/*":         {"schedule"},
	"audio":         nil, // pure
	"owner":         nil,
	"schedule":      nil,
	"audit":         nil,
	"toon":          nil,
	"toon/toontest": {"toon"},
	"export":        {"toon"},
	"onnx":          {"onnx/graph"},
	"vad":           {"onnx"},
	"models":        nil,
	"pipe":          nil,
	"store":         nil,
	"store/*":       {"store"}, // adapters never import each other
	"action/*":      {"schedule"},
	"bus/*":         nil,
	"source/*":      {"audio", "source/wsconn", "source/ffmpeg"},
	"source/upload": {"audio", "export", "stt/language"},
	"stt":           nil,
	"stt/*":         {"audio", "stt", "stt/utterance", "stt/language"},
	"stt/moonshine": {"audio", "stt", "stt/utterance", "onnx", "onnx/graph", "vad"},
	"mcpserver":     {"live", "scribe", "act", "export", "toon"},
	"api":           {"live", "act"},
	"web":           {"live", "act"},
	"cmd/*":         {"*"}, // only the wiring imports everything
	"bench":         {"*"},
	"test/*":        {"*"},
}

// shared are small packages that every package but the root may use.
var shared = []string{"files", "safetext", "editdistance", "remote"}

// forTests are suites, fakes and recordings that all tests may use.
var forTests = []string{"stt/stttest", "store/storetest", "test/speech", "toon/toontest"}

// realAdapters are packages whose tests may use real adapters instead of fakes.
var realAdapters = []string{"live", "act", "mcpserver", "api", "web"}

// TestArchitecture checks that imports point inward and that adapters never
// import each other.
func TestArchitecture(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(file, ".go") {
			checked++
			checkImports(t, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 50 {
		t.Errorf("only %d files were checked", checked)
	}
}

func checkImports(t *testing.T, file string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	pkg := path.Dir(file)
	if pkg == "." {
		pkg = ""
	}
	isTest := strings.HasSuffix(file, "_test.go")
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		imports, ours := strings.CutPrefix(imported, module)
		imports = strings.TrimPrefix(imports, "/")
		switch {
		case !ours && pkg == "" && !isTest && strings.Contains(strings.Split(imported, "/")[0], "."):
			t.Errorf("%s imports %s: the root imports only the standard library", file, imported)
		case !ours, imports == "", imports == pkg:
		case pkg != "" && slices.Contains(shared, imports):
		case isTest && (slices.Contains(forTests, imports) || slices.Contains(realAdapters, pkg)):
		case !allowed(pkg, imports):
			t.Errorf("%s imports %s, which %q may not", file, imported, pkg)
		}
	}
}

// allowed reports whether a package may import another of our packages.
func allowed(pkg, imports string) bool {
	may, known := rules[pkg]
	if !known {
		may = rules[strings.SplitN(pkg, "/", 2)[0]+"/*"]
	}
	return slices.Contains(may, imports) || slices.Contains(may, "*")
}

// TestArchitecture_Rules checks the rules themselves.
func TestArchitecture_Rules(t *testing.T) {
	for _, tt := range []struct {
		pkg, imports string
		want         bool
	}{
		{"store/sqlite", "store/postgres", false},
		{"store/sqlite", "live", false},
		{"live", "store/sqlite", false},
		{"owner", "act", false},
		{"act", "owner", false},
		{"mcpserver", "live", true},
		{"mcpserver", "api", false},
		{"api", "mcpserver", false},
		{"api", "source/ws", false},
		{"source/ws", "audio", true},
		{"source/ws", "source/file", false},
		{"source/ws", "source/wsconn", true},
		{"stt/moonshine", "onnx", true},
		{"stt/deepgram", "onnx", false},
		{"pipe", "live", false},
		{"cmd/hearken", "store/sqlite", true},
	} {
		if got := allowed(tt.pkg, tt.imports); got != tt.want {
			t.Errorf("%s may import %s: %t", tt.pkg, tt.imports, got)
		}
	}
}
