package main

import (
	"errors"
	"os"
	"syscall"
)

// syncData syncs a file in the way that the audit does.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
