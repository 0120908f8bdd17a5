package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// errComplete ends a walk early: all files are installed.
var errComplete = errors.New("all files installed")

// An installer is offered files from packages, archives and directories, and
// writes the wanted ones. The registry alone decides where a file is written,
// never a name in an archive, and unverified bytes are never written.
type installer struct {
	root  string
	want  []file
	wrong map[string]error // by path: what was wrong with the last file of the right name
}

func newInstaller(root string, want []file) *installer {
	return &installer{root: root, want: slices.Clone(want), wrong: map[string]error{}}
}

// install installs the wanted files from a directory or an archive, which the
// user knows as origin.
func install(root string, want []file, name, origin string) error {
	in := newInstaller(root, want)
	if err := in.installFrom(name); err != nil && !errors.Is(err, errComplete) {
		return err
	}
	return in.missingError(origin)
}

// installFile writes the content if a wanted file has this name. It returns
// errComplete after the last one.
func (in *installer) installFile(name string, r io.Reader) error {
	var matches []file
	var limit int64
	for _, f := range in.want {
		asIs, raw := f.matches(name)
		if asIs {
			limit = max(limit, f.size)
		}
		if raw {
			limit = max(limit, f.memberSize, f.size)
		}
		if asIs || raw {
			matches = append(matches, f)
		}
	}
	if len(matches) == 0 {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	sum := sha256Hex(data)
	for _, f := range matches {
		content, err := f.verifiedContent(name, data, sum)
		if err != nil {
			in.wrong[f.path] = err
			continue
		}
		target := f.pathUnder(in.root)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("make model directory: %w", err)
		}
		if err := files.Replace(target, content, 0o644); err != nil { // whole or not at all
			return fmt.Errorf("write model: %w", err)
		}
		in.want = slices.DeleteFunc(in.want, func(w file) bool { return w.path == f.path })
	}
	if len(in.want) == 0 {
		return errComplete
	}
	return nil
}

// matches reports whether name could be this file: as it is installed, or as
// the member of a package. Only whole path elements count.
func (f file) matches(name string) (asIs, raw bool) {
	name = "/" + path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return strings.HasSuffix(name, "/"+f.path), strings.HasSuffix(name, "/"+f.member)
}

// verifiedContent is the content to install, or an error that says what is wrong.
func (f file) verifiedContent(name string, data []byte, sum string) ([]byte, error) {
	if sum == f.sum {
		return data, nil
	}
	want, size := f.sum, f.size
	if _, raw := f.matches(name); raw && f.convert != nil {
		want, size = f.memberSum, f.memberSize
		if sum == want {
			content, err := f.convert(data)
			if err != nil {
				return nil, err
			}
			if sha256Hex(content) != f.sum {
				return nil, hearken.Errorf(hearken.Invalid, "%s made from %s is not what it should be.", f.path, name)
			}
			return content, nil
		}
	}
	if int64(len(data)) < size {
		return nil, hearken.Errorf(hearken.Invalid, "%s is truncated: %d of %d bytes. It was refused.", name, len(data), size)
	}
	return nil, hearken.Errorf(hearken.Invalid, "%s is not the file that this version of Hearken knows: SHA-256 is %.12s…, not %.12s…. It was refused.", name, sum, want)
}

// missingError is nil if everything is installed, otherwise why the first file is
// not.
func (in *installer) missingError(where string) error {
	if len(in.want) == 0 {
		return nil
	}
	f := in.want[0]
	if err := in.wrong[f.path]; err != nil {
		return err
	}
	return hearken.Errorf(hearken.NotFound, "There is no %s in %s.", path.Base(f.path), where).
		WithTry("a copy of another machine's model directory, or the tarball that 'npm pack %s' makes", f.pkg.spec())
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// lock keeps two processes from changing the files at once. It waits for the
// other one, after calling waiting once, and returns a function that releases
// the lock.
func lock(ctx context.Context, root string, waiting func()) (release func(), err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make model directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(root, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := files.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock model directory: %w", err)
		}
		if ok {
			return func() { f.Close() }, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
