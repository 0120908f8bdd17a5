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

// maxSocketPath bounds the path of a local socket so that every system takes
// it. The lowest limit is 104 bytes, the final zero included.
const maxSocketPath = 100

// SocketPath is where the hub of a data directory listens: in the runtime
// directory, under a hash of the data directory's real path, whose own name may
// be too long for a socket. A hub also writes the path to its directory
// ([Lock.Describe]), because many clients start without XDG_RUNTIME_DIR.
func SocketPath(dir string) (string, error) {
	real, err := realPath(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(real))
	name := "hearken-" + hex.EncodeToString(sum[:8]) + ".sock"

	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		path := filepath.Join(dir, name)
		if len(path) < maxSocketPath && checkPrivate(dir) == nil {
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
			err = checkPrivate(dir)
		}
		if err == nil {
			return path, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return "", fmt.Errorf("runtime directory: %w", cmp.Or(firstErr, os.ErrNotExist))
}

// realPath makes a path absolute and resolves its links, so that two names of
// one directory lead to the same hub. A path that does not exist is only made
// absolute.
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
