package pipe

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach frees the process from this one's console and process group.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}
