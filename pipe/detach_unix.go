//go:build !windows

package pipe

import (
	"os/exec"
	"syscall"
)

// detached is a command that runs on by itself: in a session of its own, so
// that no terminal and no process group takes it along, and by way of a shell
// that ends at once, so that it is nobody's child. Some agents end everything
// that descends from what they started.
func detached(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	if sh, err := exec.LookPath("/bin/sh"); err == nil {
		cmd = exec.Command(sh, append([]string{"-c", `"$@" &`, "sh", path}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}
