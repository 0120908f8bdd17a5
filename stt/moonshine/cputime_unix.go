//go:build linux || darwin

package moonshine

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent is the time that the processor gave to this thread: unlike the clock
// it stands still while others run.
func spent() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
