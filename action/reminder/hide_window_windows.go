package reminder

import (
	"os/exec"
	"syscall"
)

// hideWindow keeps the program's console from flashing up.
func hideWindow(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }
