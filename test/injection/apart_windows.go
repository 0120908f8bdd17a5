package injection

import "os/exec"

// apart leaves a command as it is.
func apart(*exec.Cmd) {}
