package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hearken-dev/hearken"
)

// A State is the condition of an [Entry].
type State string

// The states of an [Entry].
const (
	Ok     State = "ok"      // every file has the pinned checksum
	Absent State = "absent"  // not installed
	Broken State = "broken"  // some file is missing, truncated or a different one
	ByHand State = "by hand" // a model that the user added; there is nothing to check against
)

// An Entry is one component that can be pulled, or a model added by hand.
type Entry struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Language string   `json:"language,omitempty"` // of a speech model
	Licence  string   `json:"licence"`
	Note     string   `json:"note,omitempty"`
	Packages []string `json:"packages,omitempty"` // where it comes from
	Default  bool     `json:"default"`            // pulled without being named
	State    State    `json:"state"`
	Problem  string   `json:"problem,omitempty"` // why it is broken
	Size     int64    `json:"size"`              // bytes on disk, derived files included; if absent, bytes it will have
	Path     string   `json:"path"`
}

// List lists what is installed and what could be. It reads every file to verify
// it.
func List(root string) ([]Entry, error) { return list(root, registry()) }

func list(root string, all []component) ([]Entry, error) {
	var entries []Entry
	for _, c := range all {
		entries = append(entries, c.entry(root))
	}
	dirs, err := os.ReadDir(filepath.Join(root, "moonshine"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list models: %w", err)
	}
	for _, d := range dirs {
		if indexModel(all, d.Name()) >= 0 || !d.IsDir() {
			continue
		}
		dir := Moonshine(root, d.Name())
		e := Entry{Name: d.Name(), Title: "Moonshine " + d.Name() + ", added by hand", State: ByHand, Path: dir, Size: sizeOf(dir)}
		if missing := missingFile(dir); missing != "" {
			e.State, e.Problem = Broken, missing+" is missing"
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func indexModel(all []component, name string) int {
	return slices.IndexFunc(all, func(c component) bool { return c.isMoonshine() && c.name == name })
}

func (c component) entry(root string) Entry {
	e := Entry{
		Name: c.name, Title: c.title, Language: c.language, Licence: c.licence,
		Note: c.note, Default: !c.optional, State: Ok, Path: c.path(root),
	}
	absent := 0
	for _, f := range c.files {
		if !slices.Contains(e.Packages, f.pkg.spec()) {
			e.Packages = append(e.Packages, f.pkg.spec())
		}
		e.Size += f.size
		if err := verifyFile(root, f); err != nil {
			e.State, e.Problem = Broken, err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				absent++
			}
		}
	}
	if absent == len(c.files) {
		e.State, e.Problem = Absent, ""
		return e
	}
	e.Size = sizeOf(e.Path)
	return e
}

// path is where a component is on disk: the directory of a speech model, or the
// file of another component.
func (c component) path(root string) string {
	if c.isMoonshine() {
		return Moonshine(root, c.name)
	}
	return c.files[0].pathUnder(root)
}

// verifyFile is nil if the file exists and is the right one.
func verifyFile(root string, f file) error {
	r, err := os.Open(f.pathUnder(root))
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if info.Size() != f.size {
		return fmt.Errorf("%s has %d bytes instead of %d", f.path, info.Size(), f.size)
	}
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != f.sum {
		return fmt.Errorf("%s has a wrong checksum", f.path)
	}
	return nil
}

func sizeOf(dir string) (sum int64) {
	eachSize(dir, func(size int64) { sum += size })
	return sum
}

// eachSize visits the size of every file under a directory. It ignores what it
// cannot read: npm moves files while we look.
func eachSize(dir string, visit func(size int64)) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			visit(info.Size())
		}
		return nil
	})
}

// missingFile is the path of the first file that a model directory lacks.
func missingFile(dir string) string {
	for _, name := range MoonshineFiles() {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// Ready is nil if the offline engine can work: the library, the voice detector
// and at least one speech model exist with their full size. It is meant for
// every start and reads no file; [List] does.
func Ready(root string) error { return ready(root, registry(), runtime.GOOS) }

func ready(root string, all []component, goos string) error {
	hasRuntime := false
	for _, c := range all {
		if c.isMoonshine() {
			continue
		}
		hasRuntime = hasRuntime || c.name == "runtime"
		for _, f := range c.files {
			if err := checkSize(root, f); err != nil {
				return err
			}
		}
	}
	if lib := library(root, goos); !hasRuntime {
		if _, err := os.Stat(lib); err != nil {
			return hearken.Errorf(hearken.ProviderNotConfigured, "No package holds ONNX Runtime for this platform, and %s is missing.", lib).
				WithTry("put an ONNX Runtime library, version 1.24 or later, there")
		}
	}
	return readyModel(root, all)
}

// checkSize is nil if the file exists and has the right size.
func checkSize(root string, f file) error {
	switch info, err := os.Stat(f.pathUnder(root)); {
	case err != nil:
		return notReady("%s is missing.", f.pathUnder(root))
	case info.Size() != f.size:
		return notReady("%s is damaged: %d bytes instead of %d.", f.pathUnder(root), info.Size(), f.size)
	}
	return nil
}

// readyModel is nil if one model is complete. Files of known models must have
// the right size.
func readyModel(root string, all []component) error {
	problem := notReady("There is no speech model in %s.", filepath.Join(root, "moonshine"))
	dirs, _ := os.ReadDir(filepath.Join(root, "moonshine"))
	for _, d := range dirs {
		dir := Moonshine(root, d.Name())
		if missing := missingFile(dir); missing != "" {
			problem = notReady("%s is missing.", missing)
			continue
		}
		problem = nil
		if i := indexModel(all, d.Name()); i >= 0 {
			for _, f := range all[i].files {
				problem = cmp.Or(problem, checkSize(root, f))
			}
		}
		if problem == nil {
			return nil
		}
	}
	return problem
}

func notReady(format string, args ...any) error {
	return hearken.Errorf(hearken.ProviderNotConfigured, "The offline engine cannot start: "+format, args...).
		WithTry("hearken models pull")
}

// Remove deletes the named entries of [List], with their derived files; "all" is
// everything.
func Remove(ctx context.Context, root string, names ...string) error {
	return remove(ctx, root, registry(), names)
}

func remove(ctx context.Context, root string, all []component, names []string) error {
	entries, err := list(root, all)
	if err != nil {
		return err
	}
	var paths []string
	for _, name := range names {
		before := len(paths)
		for _, e := range entries {
			if (e.Name == name || name == "all") && e.State != Absent {
				paths = append(paths, e.Path)
			}
		}
		if len(paths) == before && name != "all" {
			return hearken.Errorf(hearken.NotFound, "There is no %q to remove.", name).WithTry("hearken models list")
		}
	}
	if len(paths) == 0 {
		return nil
	}
	release, err := lock(ctx, root, nil)
	if err != nil {
		return err
	}
	defer release()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove model: %w", err)
		}
	}
	return nil
}
