package models

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func TestRoot(t *testing.T) {
	t.Setenv(EnvModels, "")
	t.Setenv(EnvCache, "")
	base, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	for _, want := range []string{filepath.Join(base, "hearken"), "/cache", "/models"} {
		switch want {
		case "/cache":
			t.Setenv(EnvCache, want)
		case "/models":
			t.Setenv(EnvModels, want)
		}
		want, _ = filepath.Abs(want)
		if got, err := Root(); err != nil || got != want {
			t.Errorf("Root() = %q, %v; want %q", got, err, want)
		}
	}
}

// The registry is data by hand; this holds what a slip would break.
func TestRegistry(t *testing.T) {
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "darwin/amd64", "windows/amd64", "plan9/386"} {
		goos, goarch, _ := strings.Cut(platform, "/")
		paths := map[string]bool{}
		hasRuntime := false
		for _, c := range registryFor(goos, goarch) {
			hasRuntime = hasRuntime || c.name == "runtime"
			if c.licence == "" || c.title == "" {
				t.Errorf("%s: %s has no licence or title", platform, c.name)
			}
			for _, f := range c.files {
				sum, err := hex.DecodeString(f.sum)
				if err != nil || len(sum) != 32 || f.size == 0 || f.member == "" || f.pkg.version == "" {
					t.Errorf("%s: %s is not fully pinned", platform, f.path)
				}
				if paths[f.path] {
					t.Errorf("%s: %s comes twice", platform, f.path)
				}
				paths[f.path] = true
			}
		}
		if hasRuntime != (platform != "plan9/386") {
			t.Errorf("%s: runtime in registry: %v", platform, hasRuntime)
		}
		if hasRuntime && !paths["lib/"+libraryName(goos)] {
			t.Errorf("%s: the library is not where Library says", platform)
		}
	}
}

func TestReady(t *testing.T) {
	w := newWorld()
	full := func(t *testing.T) string {
		root := t.TempDir()
		for name, data := range wantTree() {
			put(t, filepath.Join(root, filepath.FromSlash(name)), data)
		}
		return root
	}
	t.Run("Full", func(t *testing.T) {
		if err := ready(full(t), w.components, runtime.GOOS); err != nil {
			t.Error(err)
		}
	})
	for name := range wantTree() {
		t.Run("Without "+name, func(t *testing.T) {
			root := full(t)
			os.Remove(filepath.Join(root, filepath.FromSlash(name)))
			mustMiss(t, ready(root, w.components, runtime.GOOS), filepath.FromSlash(name))
		})
		t.Run("Truncated "+name, func(t *testing.T) {
			root := full(t)
			put(t, filepath.Join(root, filepath.FromSlash(name)), []byte("xx"))
			mustMiss(t, ready(root, w.components, runtime.GOOS), filepath.FromSlash(name))
		})
	}
	t.Run("OwnModel", func(t *testing.T) {
		root := full(t)
		if err := os.Rename(Moonshine(root, "tiny-en"), Moonshine(root, "tiny-ja")); err != nil {
			t.Fatal(err)
		}
		if err := ready(root, w.components, runtime.GOOS); err != nil {
			t.Error(err)
		}
	})
	t.Run("OwnLibrary", func(t *testing.T) {
		root := full(t)
		if err := ready(root, w.components[1:], runtime.GOOS); err != nil {
			t.Error(err)
		}
		os.Remove(Library(root))
		err := ready(root, w.components[1:], runtime.GOOS)
		if err == nil || !strings.Contains(err.Error(), "version 1.24 or later") {
			t.Errorf("error %v does not say what to bring", err)
		}
	})
}

func mustMiss(t *testing.T, err error, name string) {
	t.Helper()
	if hearken.CodeOf(err) != hearken.ProviderNotConfigured || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), "Try: hearken models pull") {
		t.Errorf("error %v does not name %s and the command that mends it", err, name)
	}
}

func TestList(t *testing.T) {
	w := newWorld()
	root := t.TempDir()
	for name, data := range wantTree() {
		put(t, filepath.Join(root, filepath.FromSlash(name)), data)
	}
	put(t, filepath.Join(root, "vad", "silero_vad_v6.onnx"), []byte("voice grapH"))
	put(t, filepath.Join(root, "moonshine", "tiny-en", "derived.onnx"), make([]byte, 1000))
	for _, name := range MoonshineFiles() {
		put(t, filepath.Join(root, "moonshine", "tiny-ja", name), []byte("x"))
	}
	put(t, filepath.Join(root, "moonshine", "tiny-xx", "encoder_model.onnx"), []byte("x"))
	entries, err := list(root, w.components)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]State{}
	for _, e := range entries {
		got[e.Name] = e.State
		if e.Name == "tiny-en" && e.Size < 1000 {
			t.Errorf("tiny-en has %d bytes, derived files not counted", e.Size)
		}
	}
	want := map[string]State{"runtime": Ok, "silero-vad": Broken, "tiny-en": Ok, "base-es": Absent, "tiny-ja": ByHand, "tiny-xx": Broken}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	w := newWorld()
	root := t.TempDir()
	fill := func() {
		for name, data := range wantTree() {
			put(t, filepath.Join(root, filepath.FromSlash(name)), data)
		}
		put(t, filepath.Join(root, "moonshine", "tiny-en", "derived.onnx"), []byte("x"))
	}
	fill()
	if err := remove(t.Context(), root, w.components, []string{"tiny-en"}); err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{libPath(): []byte("library code"), "vad/silero_vad_v6.onnx": []byte("voice graph")}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"tiny-en", "../..", ""} {
		if err := remove(t.Context(), root, w.components, []string{name}); hearken.CodeOf(err) != hearken.NotFound {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	fill()
	if err := remove(t.Context(), root, w.components, []string{"all"}); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, root); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestVocabulary_Errors(t *testing.T) {
	for _, source := range []string{"", "const x = 1", `llama_vocab_base64 = "YWJj`, `llama_vocab_base64 = "%%%"`} {
		if got, err := extractVocabulary([]byte(source)); err == nil {
			t.Errorf("vocabulary(%q) = %q", source, got)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(tarball(f, map[string][]byte{"dist/tiny/encoder_model.onnx": []byte("x")}))
	f.Add(zipped(f, map[string][]byte{"vad/silero_vad_v6.onnx": []byte("x")}))
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte{0x1f, 0x8b, 8})
	w := newWorld()
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "in"), data)
		installer := newInstaller(filepath.Join(dir, "root"), w.components[2].files[:1])
		if err := installer.installArchive(filepath.Join(dir, "in")); err == nil && installer.missingError("in") == nil {
			t.Error("taken without errComplete")
		}
	})
}

func TestPrinter(t *testing.T) {
	steps := []Step{
		{Name: "a@1", Total: 2e6, State: Started}, {Name: "a@1", Done: 1e6, Total: 2e6, State: Moving},
		{Name: "a@1", Total: 2e6, Done: 2e6, State: Finished},
		{Name: "b@1", Total: 1e6, State: Started}, {Name: "b@1", State: Failed},
		{Name: "models", State: Present},
	}
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	var plain, bar bytes.Buffer
	toPlain, toBar := linePrinter(&plain, now), barPrinter(&bar, now)
	for _, s := range steps {
		toPlain(s)
	}
	for _, s := range steps {
		toBar(s)
	}
	want := "a@1: 2.0 MB\na@1: done in 1s\nb@1: 1.0 MB\nb@1: failed\nmodels: already there and verified\n"
	if diff := cmp.Diff(want, plain.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if half := "[" + strings.Repeat("█", 12) + strings.Repeat("·", 12) + "]    1.0 MB of 2.0 MB"; !strings.Contains(bar.String(), half) {
		t.Errorf("no half bar in %q", bar.String())
	}
}
