package pscribe

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"io/fs"
	"os"
	"os/exec"

	"github.com/hearken-dev/hearken"
)

const defaultPath = "pscribe"

const useInstead = "or set SCRIBE_BACKEND=native to let Hearken capture the audio itself"

// Find returns the path of the program; a name is looked up in PATH. It fails if
// the program does not exist, cannot be executed, or is Hearken itself, which can
// also be installed under the name pscribe.
func Find(path string) (string, error) {
	path = cmp.Or(path, defaultPath)
	found, err := exec.LookPath(path)
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err // without the path
	}
	switch {
	case err == nil && isSelf(found):
		return "", hearken.Errorf(hearken.Invalid, "The ParrotScribe CLI at %s is Hearken itself.", found).
			WithTry("set PSCRIBE_PATH to ParrotScribe's own pscribe, %s.", useInstead)
	case err == nil:
		return found, nil
	case errors.Is(err, exec.ErrDot):
		return "", hearken.Errorf(hearken.Forbidden, "%q exists only in the current directory, from which Hearken runs nothing by name: %w.", path, err).
			WithTry("set PSCRIBE_PATH to its full path.")
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", hearken.Errorf(hearken.NotFound, "The ParrotScribe CLI was not found at %q: %w.", path, err).
			WithTry("install ParrotScribe (macOS) with its command-line tool, or set PSCRIBE_PATH to where pscribe is, %s.", useInstead)
	}
	return "", notExecutable(path, err)
}

func notExecutable(path string, err error) error {
	return hearken.Errorf(hearken.Forbidden, "The ParrotScribe CLI at %q cannot be executed: %w.", path, err).
		WithTry("chmod +x it, or set PSCRIBE_PATH to ParrotScribe's own pscribe, %s.", useInstead)
}

// CallerVar is set for the program that a hub runs as ParrotScribe's. If that is
// Hearken after all, behind a script for example, it must not ask the hub.
const CallerVar = "HEARKEN_RUNS_PSCRIBE"

// isSelf reports whether the file at path is Hearken, under any name and of any
// build.
func isSelf(path string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	a, err := os.Stat(self)
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	if err != nil {
		return false
	}
	if os.SameFile(a, b) {
		return true
	}
	info, err := buildinfo.ReadFile(path)
	return err == nil && info.Path == programPath
}

// programPath is the package that every build of Hearken names.
const programPath = "github.com/hearken-dev/hearken/cmd/hearken"
