package moonshine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearken-dev/hearken/files"
	"github.com/hearken-dev/hearken/onnx/graph"
)

// form is the number of the form that graphs are rewritten to.
const form = 1

// fastFiles are the paths of a rewritten model, which lie beside the published
// one. Their names hold the form and a mark of the published files: what an
// older program made, or made of other files, has another name and is passed
// over, so that the published graphs run until they have been rewritten anew.
func fastFiles(dir string) (encoder, decoder string, err error) {
	h := sha256.New()
	for _, name := range []string{encoderFile, decoderFile} {
		if err := sample(h, filepath.Join(dir, name)); err != nil {
			return "", "", err
		}
	}
	path := func(part string) string {
		return filepath.Join(dir, fmt.Sprintf("hearken_%s.%d.%.4x.onnx", part, form, h.Sum(nil)))
	}
	return path("encoder"), path("decoder"), nil
}

// sample writes the size of a file and a little from all over it. Models that
// differ do so nearly everywhere, and reading the whole would take as long as
// loading it.
func sample(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return unreadable(path, err)
	}
	fmt.Fprintln(w, info.Size()) // a hash takes everything
	const places, length = 32, 1024
	for i := range int64(places) {
		at := io.NewSectionReader(f, i*info.Size()/places, length)
		if _, err := io.Copy(w, at); err != nil {
			return unreadable(path, err)
		}
	}
	return nil
}

// Rewrite makes faster graphs of the model in dir and writes them beside the
// published ones. They hold the same weights and compute the same, except for
// rounding. A model of a form that is not known is left alone, with an error
// that says so; it runs unmodified.
func Rewrite(dir string) error {
	encoder, err := readGraph(filepath.Join(dir, encoderFile))
	if err != nil {
		return err
	}
	decoder, err := readGraph(filepath.Join(dir, decoderFile))
	if err != nil {
		return err
	}
	first, _, err := branches(decoder)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", decoderFile, err)
	}
	src, err := newSource(first, decoder.Graph)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", decoderFile, err)
	}
	d, err := decoderSizes(decoder.Graph)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", decoderFile, err)
	}
	fastEncoder, err := rewriteEncoder(encoder, src, d)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", encoderFile, err)
	}
	fastDecoder, err := rewriteDecoder(decoder, src, d)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", decoderFile, err)
	}
	encoderPath, decoderPath, err := fastFiles(dir)
	if err != nil {
		return err
	}
	if err := Unrewrite(dir); err != nil {
		return err
	}
	if err := files.Replace(encoderPath, fastEncoder.Write(), 0o644); err != nil {
		return fmt.Errorf("write rewritten encoder: %w", err)
	}
	if err := files.Replace(decoderPath, fastDecoder.Write(), 0o644); err != nil {
		return fmt.Errorf("write rewritten decoder: %w", err)
	}
	return nil
}

// Rewritten tells whether the model in dir has rewritten graphs that belong to
// the published ones and are whole.
func Rewritten(dir string) bool {
	encoder, decoder, err := fastFiles(dir)
	if err != nil {
		return false
	}
	for _, path := range []string{encoder, decoder} {
		if m, err := readGraph(path); err != nil || m.Graph == nil {
			return false
		}
	}
	return true
}

// Unrewrite removes the rewritten graphs, also those that are passed over.
func Unrewrite(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "hearken_") && strings.HasSuffix(name, ".onnx") {
			errs = append(errs, os.Remove(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

func readGraph(path string) (*graph.Model, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	m, err := graph.Read(file)
	if err != nil {
		return nil, damaged(path, err)
	}
	return m, nil
}
