//go:build !windows

package pipe

import (
	"fmt"
	"os"
	"syscall"
)

// checkPrivate makes sure that dir is this user's directory and that nobody
// else can enter it. It refuses a link: another user may have made it.
func checkPrivate(dir string) error {
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
		return fmt.Errorf("other users can enter %s", dir)
	}
	return nil
}
