package audit

import (
	"errors"
	"os"
	"syscall"
)

// syncData syncs a file's bytes and length, but not its timestamps, which a
// full sync would write as well.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
