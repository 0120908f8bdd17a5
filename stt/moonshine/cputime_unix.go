//go:build linux || darwin

package moonshine

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the time that the processor gave to this thread. Unlike the
// clock it stands still while others run.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
