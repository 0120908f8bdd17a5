package pipe

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached is a command that runs on by itself, free of this process's console
// and process group.
func detached(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
	return cmd
}
