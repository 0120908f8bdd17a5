//go:build !linux && !darwin

package moonshine

import "time"

var began = time.Now()

// spent is the clock: what other systems know about the time of one thread is
// coarser than what is measured with it.
func spent() time.Duration { return time.Since(began) }
