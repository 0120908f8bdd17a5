//go:build !windows

package injection

import (
	"os/exec"
	"syscall"
)

// apart takes a command's terminal away: whoever runs this may have one.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
