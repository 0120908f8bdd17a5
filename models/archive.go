package models

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

const (
	maxUnpacked = 4 << 30 // bytes of one archive; more is an attack
	maxEntries  = 50_000  // in one archive or directory
)

// installFrom offers every file of a directory or an archive, archives inside
// a directory included.
func (in *installer) installFrom(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return hearken.Errorf(hearken.NotFound, "%s cannot be read: %w.", name, err)
	}
	if info.IsDir() {
		return in.installDir(name)
	}
	return in.installArchive(name)
}

func (in *installer) installDir(dir string) error {
	entries := 0
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxEntries {
			return hearken.Errorf(hearken.Invalid, "%s holds more than %d files.", dir, maxEntries).
				WithTry("the directory of the models itself")
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if isArchive(name) {
			return in.installArchive(name)
		}
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("open model: %w", err)
		}
		defer f.Close()
		return in.installFile(name, f)
	})
}

func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tgz", ".tar.gz", ".tar", ".zip"},
		func(ext string) bool { return strings.HasSuffix(strings.ToLower(name), ext) })
}

// installArchive recognizes the kind of an archive by its first bytes, not by
// its name.
func (in *installer) installArchive(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	head, _ := r.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("open archive: %w", err)
		}
		return archiveError(name, in.installZip(f, info.Size()))
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return archiveError(name, err)
		}
		return archiveError(name, in.installTar(z))
	}
	return archiveError(name, in.installTar(r))
}

func archiveError(name string, err error) error {
	if err == nil || errors.Is(err, errComplete) || hearken.CodeOf(err) != "" {
		return err
	}
	return hearken.Errorf(hearken.Invalid, "%s cannot be unpacked: %w.", filepath.Base(name), err)
}

func (in *installer) installTar(r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxUnpacked}
	tr := tar.NewReader(limited)
	for range maxEntries {
		h, err := tr.Next()
		if limited.N <= 0 {
			return errors.New("it unpacks to more than it should")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := in.installFile(h.Name, tr); err != nil {
			return err
		}
	}
	return errors.New("it holds more files than it should")
}

func (in *installer) installZip(r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	if len(z.File) > maxEntries {
		return errors.New("it holds more files than it should")
	}
	for _, entry := range z.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		if err := in.installZipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (in *installer) installZipEntry(entry *zip.File) error {
	r, err := entry.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return in.installFile(entry.Name, r)
}
