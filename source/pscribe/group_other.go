//go:build !unix

package pscribe

import "os/exec"

// ownGroup does nothing here: only the program itself is killed.
func ownGroup(*exec.Cmd) {}
