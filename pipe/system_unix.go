//go:build !windows

package pipe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// detachedCommand returns a command that outlives this process. It runs in a session
// of its own, so that no terminal or process group ends it. A shell that exits
// at once starts it, so that it is nobody's child: some agents kill every
// descendant of what they started.
func detachedCommand(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	if sh, err := exec.LookPath("/bin/sh"); err == nil {
		cmd = exec.Command(sh, append([]string{"-c", `"$@" &`, "sh", path}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Alive reports whether a process runs.
func Alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

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
