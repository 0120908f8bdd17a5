package audit

import (
	"errors"
	"os"
	"syscall"
)

// syncData puts a file's bytes and its length on the disk, and not the times
// that a full sync would write as well.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
