//go:build !windows

package injection

import (
	"os/exec"
	"syscall"
)

// detach takes a command's terminal away: whoever runs this may have one.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
