//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// TryLock takes the exclusive lock on f and reports whether it did; false
// means that another process holds it. The system releases the lock when f is
// closed or the process ends.
func TryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		}
		return err == nil, err
	}
}
