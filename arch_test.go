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

// rules say which of the house's own packages a room may import besides the
// root. A rule for "store/*" holds for every leaf below; the most precise rule
// wins. Rooms that are not named here may import only the root.
var rules = map[string][]string{
	"":              nil,       // the root: the words, and nothing else
	"live":          {"audio"}, // the verbs
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
	"store/*":       {"store"}, // leaves never know each other
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
	"cmd/*":         {"*"}, // only the wiring knows everybody
	"bench":         {"*"},
	"test/*":        {"*"},
}

// shared are small packages that every package but the root may use.
var shared = []string{"files", "safetext", "editdistance", "remote"}

// forTests are the suites, fakes and recordings that tests of any room may use.
var forTests = []string{"stt/stttest", "store/storetest", "test/speech", "toon/toontest"}

// wholeHouse are the rooms whose tests may use real leaves in place of fakes.
var wholeHouse = []string{"live", "act", "mcpserver", "api", "web"}

// TestArchitecture holds the arrows of the house: imports point inward, and
// siblings never import each other.
func TestArchitecture(t *testing.T) {
	rooms := 0
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
			rooms++
			checkImports(t, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if rooms < 50 {
		t.Errorf("only %d files were looked at", rooms)
	}
}

func checkImports(t *testing.T, file string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	room := path.Dir(file)
	if room == "." {
		room = ""
	}
	isTest := strings.HasSuffix(file, "_test.go")
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		inside, ours := strings.CutPrefix(imported, module)
		inside = strings.TrimPrefix(inside, "/")
		switch {
		case !ours && room == "" && !isTest && strings.Contains(strings.Split(imported, "/")[0], "."):
			t.Errorf("%s imports %s: the root imports only the standard library", file, imported)
		case !ours, inside == "", inside == room:
		case room != "" && slices.Contains(shared, inside):
		case isTest && (slices.Contains(forTests, inside) || slices.Contains(wholeHouse, room)):
		case !allowed(room, inside):
			t.Errorf("%s imports %s, which %q may not", file, imported, room)
		}
	}
}

// allowed reports whether room may import the house's package inside.
func allowed(room, inside string) bool {
	may, known := rules[room]
	if !known {
		may = rules[strings.SplitN(room, "/", 2)[0]+"/*"]
	}
	return slices.Contains(may, inside) || slices.Contains(may, "*")
}

// TestArchitecture_Rules has the rules say no where they must.
func TestArchitecture_Rules(t *testing.T) {
	for _, tt := range []struct {
		room, inside string
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
		if got := allowed(tt.room, tt.inside); got != tt.want {
			t.Errorf("%s may import %s: %t", tt.room, tt.inside, got)
		}
	}
}
