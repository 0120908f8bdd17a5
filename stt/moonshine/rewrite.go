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

// rewriteVersion counts the forms to which graphs were rewritten.
const rewriteVersion = 1

// rewrittenFiles are the paths of a rewritten model, beside the published one.
// Their names hold the version of the rewrite and a hash of the published
// files. What another version made, or made of other files, has another name
// and is ignored, so the published graphs run until they are rewritten.
func rewrittenFiles(dir string) (encoder, decoder string, err error) {
	h := sha256.New()
	for _, name := range []string{encoderFile, decoderFile} {
		if err := writeSample(h, filepath.Join(dir, name)); err != nil {
			return "", "", err
		}
	}
	path := func(part string) string {
		return filepath.Join(dir, fmt.Sprintf("hearken_%s.%d.%.4x.onnx", part, rewriteVersion, h.Sum(nil)))
	}
	return path("encoder"), path("decoder"), nil
}

// writeSample writes the size of a file and small parts from all over it.
// Models that differ do so nearly everywhere, and reading the whole file would
// take as long as loading it.
func writeSample(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadableError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return unreadableError(path, err)
	}
	fmt.Fprintln(w, info.Size()) // a hash never fails
	const parts, length = 32, 1024
	for i := range int64(parts) {
		part := io.NewSectionReader(f, i*info.Size()/parts, length)
		if _, err := io.Copy(w, part); err != nil {
			return unreadableError(path, err)
		}
	}
	return nil
}

// Rewrite makes faster graphs of the model in dir and writes them beside the
// published ones. They hold the same weights and compute the same, except for
// rounding. For a model of an unknown form it returns an error and changes
// nothing; such a model runs as published.
func Rewrite(dir string) error {
	encoder, err := readGraph(filepath.Join(dir, encoderFile))
	if err != nil {
		return err
	}
	decoder, err := readGraph(filepath.Join(dir, decoderFile))
	if err != nil {
		return err
	}
	src, d, err := decoderSource(decoder)
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
	encoderPath, decoderPath, err := rewrittenFiles(dir)
	if err != nil {
		return err
	}
	if err := RemoveRewritten(dir); err != nil {
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

// Rewritten reports whether the model in dir has complete rewritten graphs of
// its published ones.
func Rewritten(dir string) bool {
	encoder, decoder, err := rewrittenFiles(dir)
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

// RemoveRewritten removes all rewritten graphs, also those that are ignored.
func RemoveRewritten(dir string) error {
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
		return nil, unreadableError(path, err)
	}
	m, err := graph.Read(file)
	if err != nil {
		return nil, damagedError(path, err)
	}
	return m, nil
}
