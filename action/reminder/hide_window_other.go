//go:build !windows

package reminder

import "os/exec"

func hideWindow(*exec.Cmd) {}
