package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// want is what both kinds of archive hold: name, mode, time and content.
var want = []string{
	"hearken_1/LICENSE 644 1700000000 free",
	"hearken_1/docs/a.md 644 1700000000 words",
	"hearken_1/hearken 755 1700000000 program",
}

// folder makes the folder anew, with files of another age, order and mode.
func folder(t *testing.T, names []string, readable os.FileMode) string {
	t.Helper()
	content := map[string]string{"LICENSE": "free", "docs/a.md": "words", "hearken": "program"}
	dir := filepath.Join(t.TempDir(), "hearken_1")
	for i, name := range names {
		file := filepath.Join(dir, name)
		mode := readable
		if name == "hearken" {
			mode |= 0o100
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content[name]), mode); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Duration(i+len(content[name])) * time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no mode that makes a file a program")
	}
	first := folder(t, []string{"hearken", "docs/a.md", "LICENSE"}, 0o644)
	second := folder(t, []string{"LICENSE", "hearken", "docs/a.md"}, 0o600)
	for ending, list := range map[string]func([]byte) ([]string, error){".tar.gz": listTar, ".zip": listZip} {
		t.Run(ending, func(t *testing.T) {
			var packed [2][]byte
			for i, dir := range []string{first, second} {
				file := filepath.Join(t.TempDir(), "out"+ending)
				if err := run([]string{dir, "1700000000", file}); err != nil {
					t.Fatal(err)
				}
				var err error
				if packed[i], err = os.ReadFile(file); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(packed[0], packed[1]) {
				t.Error("the same files gave other bytes")
			}
			got, err := list(packed[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRun_Refuses(t *testing.T) {
	full := folder(t, []string{"LICENSE"}, 0o644)
	for name, args := range map[string][]string{
		"Usage":   {full},
		"Seconds": {full, "yesterday", filepath.Join(t.TempDir(), "out.zip")},
		"Ending":  {full, "1", filepath.Join(t.TempDir(), "out.rar")},
		"Missing": {filepath.Join(full, "nothing"), "1", filepath.Join(t.TempDir(), "out.zip")},
		"Empty":   {t.TempDir(), "1", filepath.Join(t.TempDir(), "out.tar.gz")},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(args); err == nil {
				t.Errorf("archive %q went well", args)
			}
		})
	}
}

func listTar(data []byte) ([]string, error) {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var list []string
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			return nil, fmt.Errorf("%s has an owner", h.Name)
		}
		list = append(list, fmt.Sprintf("%s %o %d %s", h.Name, h.Mode, h.ModTime.Unix(), content))
	}
}

func listZip(data []byte) ([]string, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("%s %o %d %s", f.Name, f.Mode().Perm(), f.Modified.Unix(), content))
	}
	return list, nil
}
