package deepgram

import (
	"time"

	"github.com/hearken-dev/hearken"
)

// burst is how much audio may be sent at once, so that what a live sender's
// network delayed is not slowed down further.
const burst = 1.0 // seconds

// A pace keeps audio from being sent much faster than real time. The server is
// made for live speech, and a replay at full speed makes it fail.
type pace struct {
	rate    float64 // seconds of audio per second; negative for no limit
	allowed float64 // seconds of audio that may be sent now
	at      time.Time
}

// wait is how long to wait before sending so many samples. It counts them as
// sent.
func (p *pace) wait(samples int, now time.Time) time.Duration {
	if p.rate < 0 {
		return 0
	}
	if p.at.IsZero() {
		p.allowed = burst
	} else {
		p.allowed = min(burst, p.allowed+p.rate*max(0, now.Sub(p.at).Seconds()))
	}
	p.at = now
	p.allowed -= float64(samples) / hearken.SampleRate
	if p.allowed >= 0 {
		return 0
	}
	return time.Duration(-p.allowed / p.rate * float64(time.Second))
}
