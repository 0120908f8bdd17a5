//go:build !linux && !darwin

package moonshine

import "time"

var started = time.Now()

// threadTime is the clock: on other systems the time of one thread is too
// coarse for what is measured with it.
func threadTime() time.Duration { return time.Since(started) }
