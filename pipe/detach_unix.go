//go:build !windows

package pipe

import (
	"os/exec"
	"syscall"
)

// detach gives the process a session of its own, so that no terminal and no
// process group takes it along when it ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
