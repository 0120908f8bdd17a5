package live

import (
	"time"

	"github.com/hearken-dev/hearken"
)

// mostSkipped is how much sound can be passed over at most.
const mostSkipped = 2 * time.Minute

// Skip lets the session's clock go on over sound that could not be heard, as
// silence, and says so in the transcript. A session without any sound has no
// clock yet, and nothing to skip.
func (in *input) Skip(d time.Duration, why string) error {
	s := in.s
	s.mu.Lock()
	channels := len(s.channels)
	var from int64
	if channels > 0 {
		from = s.channels[0].spool.end() // channels advance together
	}
	s.mu.Unlock()
	left := int(min(d, mostSkipped).Seconds() * hearken.SampleRate)
	if channels == 0 || left <= 0 {
		return nil
	}
	to := from + int64(left)
	for left > 0 {
		silence := make([]int16, min(left, hearken.SampleRate))
		left -= len(silence)
		all := make([][]int16, channels)
		for i := range all {
			all[i] = silence
		}
		if err := in.Write(all...); err != nil {
			return err
		}
	}
	s.note(hearken.EventGap, seconds(from), seconds(to), "[gap: %.1f s was not recorded: %s]", seconds(to-from), why)
	return nil
}
