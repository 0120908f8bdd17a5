package pipe

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxSocketPath is what every system takes as the path of a local socket; the
// shortest limit is 104 bytes with the final zero.
const maxSocketPath = 100

// SocketPath is where the hub of a data directory listens: in the runtime
// directory, under a short name made from the directory's real path, since the
// directory itself may lie too deep for a socket. A hub also writes the path
// down in its directory ([Lock.Describe]), because clients are often started
// with an environment that knows no runtime directory.
func SocketPath(dir string) (string, error) {
	real, err := realPath(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(real))
	name := "hearken-" + hex.EncodeToString(sum[:8]) + ".sock"

	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		path := filepath.Join(dir, name)
		if len(path) < maxSocketPath && private(dir) == nil {
			return path, nil
		}
	}
	var firstErr error
	for _, base := range []string{os.TempDir(), "/tmp"} {
		dir := filepath.Join(base, "hearken-"+strconv.Itoa(os.Getuid()))
		path := filepath.Join(dir, name)
		if len(path) >= maxSocketPath {
			continue
		}
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = private(dir)
		}
		if err == nil {
			return path, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return "", fmt.Errorf("runtime directory: %w", cmp.Or(firstErr, os.ErrNotExist))
}

// realPath makes a path absolute and free of links, so that two ways to write
// a directory lead to the same hub. What does not exist yet is kept as it is.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}
