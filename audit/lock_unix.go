//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock on f, or says that another process has it. The
// system gives it back when the file is closed, also by a crash.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
