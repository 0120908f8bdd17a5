package pipe

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// stillActive is the exit code of a process that has not ended.
const stillActive = 259

// detachedCommand returns a command that outlives this process, outside its console
// and process group.
func detachedCommand(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
	return cmd
}

// Alive reports whether a process runs.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}

// checkPrivate relies on the access list of the user's temporary directory.
func checkPrivate(string) error { return nil }
