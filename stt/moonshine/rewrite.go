package moonshine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearken-dev/hearken/onnx/graph"
)

// The files of a rewritten model, which lie beside the published ones. The
// number is that of the form: files of another form are passed over, so that a
// newer program runs the published graphs until it has rewritten them anew.
const (
	fastEncoderFile = "hearken_encoder.1.onnx"
	fastDecoderFile = "hearken_decoder.1.onnx"
)

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
	// The decoder comes last: a model counts as rewritten if it is there.
	if err := Unrewrite(dir); err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(dir, fastEncoderFile), fastEncoder.Write()); err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, fastDecoderFile), fastDecoder.Write())
}

// Rewritten tells whether the model in dir has rewritten graphs.
func Rewritten(dir string) bool {
	for _, name := range []string{fastEncoderFile, fastDecoderFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Unrewrite removes the rewritten graphs, also those of another form.
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

// writeWhole writes a file so that it is there whole or not at all.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".rewrite-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no longer there if all went well
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
