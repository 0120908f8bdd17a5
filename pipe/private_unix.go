//go:build !windows

package pipe

import (
	"fmt"
	"os"
	"syscall"
)

// private reports whether dir is a directory of this user's that nobody else
// can enter. A link is refused: somebody else may have laid it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case ok && int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d", dir, stat.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s can be entered by others", dir)
	}
	return nil
}
