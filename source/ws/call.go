package ws

import (
	"bytes"
	"slices"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

const (
	// trackJitter is by how many milliseconds a message may come early or late
	// without a gap in its track.
	trackJitter = 100
	// maxTrackGap is how many milliseconds of silence one message can add.
	maxTrackGap = 10_000
	// maxTrackLead is how many milliseconds one track waits for the other.
	maxTrackLead = 500
)

// A call puts the tracks of a telephone call together. Each comes in messages
// of its own; the hub takes both sides at once.
type call struct {
	sides   []*track // by channel
	deliver func(channels ...[]int16) error
}

// A track is one side of a call.
type track struct {
	name    string
	rate    int64 // samples per second
	decoder *audio.Decoder
	at      int64   // samples that came, or for which there is silence
	pcm     []int16 // decoded and not yet delivered
}

// newCall makes a call of one or two tracks. What Twilio calls inbound is what
// the other person says; outbound is what that person hears, this side. A call
// with one track has one side, whichever it is.
func newCall(f audio.Format, names []string, deliver func(channels ...[]int16) error) (*call, error) {
	c := &call{deliver: deliver}
	both := slices.Contains(names, "inbound") && slices.Contains(names, "outbound")
	switch {
	case both:
		names = []string{"outbound", "inbound"}
	case len(names) == 0:
		names = []string{"inbound"}
	default:
		names = names[:1]
	}
	for _, name := range names {
		t := &track{name: name}
		var err error
		t.decoder, err = audio.NewDecoder(f, func(channels ...[]int16) error {
			t.pcm = append(t.pcm, channels[0]...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		t.rate = int64(f.CountRate())
		c.sides = append(c.sides, t)
	}
	return c, nil
}

// add takes the audio of one message. That of a track that was not announced
// has no effect.
func (c *call) add(m *twilioMedia) error {
	i := slices.IndexFunc(c.sides, func(t *track) bool { return t.name == m.Track })
	if i < 0 && m.Track == "" && len(c.sides) == 1 {
		i = 0
	}
	if i < 0 {
		return nil
	}
	if err := c.sides[i].add(m); err != nil {
		return err
	}
	return c.flush()
}

// add takes audio at its place in the track.
func (t *track) add(m *twilioMedia) error {
	if ms, err := m.Timestamp.Int64(); err == nil && ms >= 0 && ms < 1<<40 {
		switch gap := ms - t.at*1000/t.rate; {
		case gap > trackJitter:
			if err := t.silence(min(gap, maxTrackGap) * t.rate / 1000); err != nil {
				return err
			}
		case gap < -trackJitter:
			return nil // too late: the call went on without it
		}
	}
	t.at += int64(len(m.Payload))
	_, err := t.decoder.Write(m.Payload)
	return err
}

// silence adds samples of silence.
func (t *track) silence(samples int64) error {
	t.at += samples
	_, err := t.decoder.Write(bytes.Repeat([]byte{0xff}, int(samples)))
	return err
}

// flush delivers what all tracks have. One that is too far behind gets silence,
// up to where it is not.
func (c *call) flush() error {
	const maxLead = maxTrackLead * hearken.SampleRate / 1000
	longest := slices.MaxFunc(c.sides, func(a, b *track) int { return len(a.pcm) - len(b.pcm) })
	ready := len(longest.pcm)
	for _, t := range c.sides {
		if lead := len(longest.pcm) - len(t.pcm); lead > maxLead {
			if err := t.silence(int64(lead-maxLead) * t.rate / hearken.SampleRate); err != nil {
				return err
			}
		}
		ready = min(ready, len(t.pcm))
	}
	if ready == 0 {
		return nil
	}
	channels := make([][]int16, len(c.sides))
	for i, t := range c.sides {
		channels[i] = t.pcm[:ready]
	}
	err := c.deliver(channels...)
	for _, t := range c.sides {
		t.pcm = t.pcm[:copy(t.pcm, t.pcm[ready:])]
	}
	return err
}

// close delivers what is left. The shorter track ends in silence.
func (c *call) close() error {
	longest := 0
	for _, t := range c.sides {
		if err := t.decoder.Close(); err != nil {
			return err
		}
		longest = max(longest, len(t.pcm))
	}
	if longest == 0 {
		return nil
	}
	channels := make([][]int16, len(c.sides))
	for i, t := range c.sides {
		channels[i] = append(t.pcm, make([]int16, longest-len(t.pcm))...)
		t.pcm = nil
	}
	return c.deliver(channels...)
}
