package reminder

import (
	"os/exec"
	"syscall"
)

// hide keeps a console from flashing up over what its owner does.
func hide(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }
