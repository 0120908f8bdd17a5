package speech

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What testdata/speech promises: small, with everything in the manifest, under
// a licence that lets anybody use it, and with thanks to whoever made it.
func TestTestdata(t *testing.T) {
	t.Setenv(EnvDir, "")
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.flac"))
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2_500_000 {
		t.Errorf("the recordings have %d bytes", size)
	}
	kinds := map[string]int{}
	for _, c := range All(t) {
		i := slices.Index(files, c.Path)
		if i < 0 {
			t.Errorf("%s is in the manifest only", c.File())
			continue
		}
		files = slices.Delete(files, i, i+1)
		kinds[c.Kind]++
		if !slices.Contains([]string{"public domain", "CC0-1.0", "CC-BY-3.0", "CC-BY-4.0"}, c.Licence) {
			t.Errorf("%s has the licence %q", c.File(), c.Licence)
		}
		if !strings.Contains(string(readme), "`"+c.File()+"`") {
			t.Errorf("README.md does not say where %s comes from", c.File())
		}
		if slices.Max(c.PCM()) == 0 && c.Kind != "silence" {
			t.Errorf("%s is silent", c.File())
		}
		if d := c.Seconds() - c.seconds; math.Abs(d) > 0.01 {
			t.Errorf("%s lasts %.2f s, the manifest says %.2f s", c.File(), c.Seconds(), c.seconds)
		}
	}
	if len(files) > 0 {
		t.Errorf("not in the manifest: %q", files)
	}
	for _, kind := range []string{"read", "spontaneous", "call", "noise", "silence"} {
		if kinds[kind] == 0 {
			t.Errorf("there is no recording of the kind %q", kind)
		}
	}
}

// Outside its turns a side of the call is silent.
func TestCall(t *testing.T) {
	call, turns := Call(t)
	if len(call.Channels) != 2 || len(turns) < 4 {
		t.Fatalf("%d channels, %d turns", len(call.Channels), len(turns))
	}
	for channel, pcm := range call.Channels {
		for i, sample := range pcm {
			at := float64(i) / 16000
			spoken := slices.ContainsFunc(turns, func(turn Turn) bool {
				return turn.Channel == channel && turn.Start <= at && at <= turn.End
			})
			if sample != 0 && !spoken {
				t.Fatalf("channel %d sounds at %.2f s", channel, at)
			}
		}
	}
}

// A larger collection is used where one is named, and a damaged manifest is not
// taken for an empty one.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	if got, err := Dir(); err == nil || !strings.Contains(err.Error(), EnvDir) {
		t.Errorf("an empty directory: %s, %v", got, err)
	}
	for name, text := range map[string]string{
		"Empty": "file\tseconds\treference\tlang\tkind\tsource\tlicence\n", "Cut": "a.wav\t1.00\thello\n", "NoSeconds": "a.wav\t-\ta\ten\tread\tb\tc\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.tsv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if clips, err := Manifest(dir); err == nil {
			t.Errorf("%s: %v", name, clips)
		}
	}
	if got, err := Dir(); err != nil || got != dir {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv(EnvDir, filepath.Join("testdata", "speech"))
	if got, err := Dir(); err != nil || !filepath.IsAbs(got) {
		t.Errorf("a relative path: %s, %v", got, err)
	}
}
