// Archive packs a folder as .tar.gz or .zip so that the same files always give
// the same bytes, because tar, gzip and zip differ from one system to the next.
//
//	go run ./scripts/archive FOLDER SECONDS FILE
//
// Names are sorted and begin with the folder's, nobody owns the files, and all
// were last changed SECONDS after 1970.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "archive: %v\n", err)
		os.Exit(1)
	}
}

// add writes one file; its mode is 0755 or 0644.
type add func(name string, mode fs.FileMode, data []byte) error

func run(args []string) (err error) {
	if len(args) != 3 {
		return errors.New("usage: archive FOLDER SECONDS FILE")
	}
	folder, file := args[0], args[2]
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("read seconds: %w", err)
	}
	changed := time.Unix(seconds, 0).UTC()

	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	switch {
	case strings.HasSuffix(file, ".tar.gz"):
		return tarball(out, folder, changed)
	case strings.HasSuffix(file, ".zip"):
		return zipped(out, folder, changed)
	default:
		return fmt.Errorf("%s: only .tar.gz and .zip are known", file)
	}
}

func tarball(out io.Writer, folder string, changed time.Time) error {
	gz, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(gz)
	err = walk(folder, func(name string, mode fs.FileMode, data []byte) error {
		err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(data)), ModTime: changed,
		})
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return gz.Close()
}

func zipped(out io.Writer, folder string, changed time.Time) error {
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	err := walk(folder, func(name string, mode fs.FileMode, data []byte) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: changed}
		header.SetMode(mode)
		f, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

// walk adds the files of a folder in the order of their names.
func walk(folder string, add add) error {
	root := os.DirFS(folder)
	found := false
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", name)
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		found = true
		return add(path.Join(filepath.Base(folder), name), mode, data)
	})
	if err == nil && !found {
		err = fmt.Errorf("%s is empty", folder)
	}
	return err
}
