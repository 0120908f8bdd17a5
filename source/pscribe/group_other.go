//go:build !unix

package pscribe

import "os/exec"

// ownGroup has nothing to do here: the program alone is killed.
func ownGroup(*exec.Cmd) {}
