package files

import (
	"errors"
	"os"
	"syscall"
)

// SyncData syncs a file's bytes and length, but where possible not its
// timestamps, which a full sync writes as well.
func SyncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
