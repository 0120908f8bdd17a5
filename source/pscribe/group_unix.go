//go:build unix

package pscribe

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the program and everything that it starts end together when its
// context ends. A service that outlives the program is otherwise left alone.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
