//go:build unix

package pipe

import (
	"os"

	"github.com/hearken-dev/hearken/files"
)

// lockDirectory locks the directory itself and reports whether another process
// holds that lock. It returns no file where directories cannot be locked, as on
// some network file systems.
func lockDirectory(dir string) (directory *os.File, held bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	locked, err := files.TryLock(f)
	if locked {
		return f, false
	}
	f.Close()
	return nil, err == nil
}
