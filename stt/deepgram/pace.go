package deepgram

import (
	"time"

	"github.com/hearken-dev/hearken"
)

// burst is how much sound may be sent at once: what a live sender's network
// holds back and lets go is not slowed down.
const burst = 1.0 // seconds

// A pace keeps sound from being sent much faster than in real time. The server
// is made to hear people, and a replay that is thrown at it makes it fail.
type pace struct {
	rate float64 // seconds of sound in a second; negative for no bound
	room float64 // seconds of sound that may be sent now
	at   time.Time
}

// wait is how long to wait before so many samples are sent, which then count
// as sent.
func (p *pace) wait(samples int, now time.Time) time.Duration {
	if p.rate < 0 {
		return 0
	}
	if p.at.IsZero() {
		p.room = burst
	} else {
		p.room = min(burst, p.room+p.rate*max(0, now.Sub(p.at).Seconds()))
	}
	p.at = now
	p.room -= float64(samples) / hearken.SampleRate
	if p.room >= 0 {
		return 0
	}
	return time.Duration(-p.room / p.rate * float64(time.Second))
}
