package speech

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
	"github.com/hearken-dev/hearken/models"
)

// Models is the directory of the models. A test that needs them fails without:
// a green run means that the engine was tested.
func Models(t testing.TB) string {
	t.Helper()
	root, err := models.Root()
	if err == nil {
		err = models.Ready(root)
	}
	if err != nil {
		t.Fatalf("%v (make setup fetches what the tests need)", err)
	}
	return root
}

// Get is one of the repository's own clips, by its name without ending.
func Get(t testing.TB, name string) Clip {
	t.Helper()
	dir, err := ownDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list(t, dir) {
		if c.Name() == name {
			read(t, &c)
			return c
		}
	}
	t.Fatalf("testdata/speech has no clip %q", name)
	return Clip{}
}

// All are the clips of the collection that HEARKEN_SPEECH names, or else of the
// repository's own.
func All(t testing.TB) []Clip {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	clips := list(t, dir)
	for i := range clips {
		read(t, &clips[i])
	}
	return clips
}

// WAV is the path of a copy of the clip's first channel, for programs that
// take no FLAC.
func (c Clip) WAV(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), c.Name()+".wav")
	if err := os.WriteFile(path, audio.EncodeWAV(hearken.SampleRate, c.PCM()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A Turn is what one side of the call says, in seconds from its start.
type Turn struct {
	Start, End float64
	Channel    int
	Text       string
}

// Call is the repository's call of two sides, with its turns.
func Call(t testing.TB) (Clip, []Turn) {
	t.Helper()
	c := Get(t, "call")
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.Path), "call.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var turns []Turn
	for line := range strings.Lines(string(text)) {
		column := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if column[0] == "start" {
			continue
		}
		var turn Turn
		var errs [3]error
		turn.Start, errs[0] = strconv.ParseFloat(column[0], 64)
		turn.End, errs[1] = strconv.ParseFloat(column[1], 64)
		turn.Channel, errs[2] = strconv.Atoi(column[2])
		for _, err := range errs {
			if err != nil {
				t.Fatalf("call.tsv: %v", err)
			}
		}
		turn.Text = column[4]
		turns = append(turns, turn)
	}
	return c, turns
}

func list(t testing.TB, dir string) []Clip {
	t.Helper()
	clips, err := Manifest(dir)
	if err != nil {
		t.Fatalf("recordings: %v", err)
	}
	return clips
}

func read(t testing.TB, c *Clip) {
	t.Helper()
	if err := c.Read(); err != nil {
		t.Fatalf("recordings: %v", err)
	}
}
