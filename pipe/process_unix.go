//go:build !windows

package pipe

import (
	"errors"
	"os/exec"
	"syscall"
)

// detached returns a command that outlives this process. It runs in a session
// of its own, so that no terminal or process group ends it. A shell that exits
// at once starts it, so that it is nobody's child: some agents kill every
// descendant of what they started.
func detached(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	if sh, err := exec.LookPath("/bin/sh"); err == nil {
		cmd = exec.Command(sh, append([]string{"-c", `"$@" &`, "sh", path}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Alive reports whether a process runs.
func Alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
