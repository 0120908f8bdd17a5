package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// A phrase is something that is said in a recording.
type phrase struct {
	side       int // 0 is the microphone, 1 the far side
	start, end float64
	text       string
	words      []string // only where they are not separated by spaces
}

func (p *phrase) split() []string {
	if p.words != nil {
		return p.words
	}
	return strings.Fields(p.text)
}

// A recording is audio that [engine] can transcribe: the samples of a phrase
// all have the value that stands for it, and the rest is silence.
type recording struct {
	language string
	sides    int
	seconds  float64
	phrases  []phrase
	first    int // the value of the first phrase
}

// firstValue is the least value that stands for a phrase.
const firstValue = 300

// number gives each phrase of the recordings its value.
func number(recordings ...*recording) {
	next := firstValue
	for _, r := range recordings {
		r.first = next
		next += len(r.phrases)
	}
}

// pcm is the recording as interleaved 16 bit samples.
func (r *recording) pcm() []byte {
	samples := make([]int16, r.sides*int(r.seconds*hearken.SampleRate))
	for i, p := range r.phrases {
		for at := int(p.start * hearken.SampleRate); at < int(p.end*hearken.SampleRate); at++ {
			samples[at*r.sides+p.side] = int16(r.first + i)
		}
	}
	out := make([]byte, 0, 2*len(samples))
	for _, s := range samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(s))
	}
	return out
}

// send sends the recording to a session in real time.
func (r *recording) send(ctx context.Context, endpoint string) error {
	url := fmt.Sprintf("%s&encoding=linear16&sample_rate=%d&channels=%d", endpoint, hearken.SampleRate, r.sides)
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	go func() { // what the hub tells its sender is not needed
		for {
			if _, _, err := conn.Read(ctx); err != nil {
				return
			}
		}
	}()
	const frame = 100 * time.Millisecond
	tick := time.NewTicker(frame)
	defer tick.Stop()
	size := 2 * r.sides * int(frame.Seconds()*hearken.SampleRate)
	for pcm := r.pcm(); len(pcm) > 0; {
		n := min(size, len(pcm))
		if err := conn.Write(ctx, websocket.MessageBinary, pcm[:n]); err != nil {
			return fmt.Errorf("send sound: %w", err)
		}
		pcm = pcm[n:]
		<-tick.C
	}
	return nil
}
