package main

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// benchSockets sends audio over many audio WebSockets at once in real time and
// measures what the hub needs for it.
func benchSockets(b *bench) {
	benchSocketsOf(b, 1000, 100*time.Millisecond)
	benchSocketsOf(b, 400, 20*time.Millisecond)
}

func benchSocketsOf(b *bench, sockets int, frame time.Duration) {
	h := b.hub(b.dataDir(), "MAX_SESSIONS=2000", "MAX_CONNECTIONS=4000")
	length := pick(b, 30*time.Second, 8*time.Second)
	ids, addresses := startSessions(b, h, sockets, "")
	silence := make([]byte, 2*16*frame.Milliseconds())
	var refused atomic.Int64
	l := &audioLoad{
		frame: frame, length: length, audio: func(int, int) []byte { return silence },
		message: func(data []byte, _ time.Time) {
			if bytes.Contains(data, []byte(`"type":"dropped"`)) || bytes.Contains(data, []byte(`"type":"error"`)) {
				refused.Add(1)
			}
		},
	}
	before := b.cpuTime(h.PID())
	l.start(b, addresses)
	l.group.Wait()
	took := time.Since(l.began)
	used := b.cpuTime(h.PID()) - before
	peak := b.memory(h.PID(), "VmHWM")
	b.sleep(2 * time.Second) // for the last acknowledgements
	missing := missingSeconds(b, h, ids, length)
	l.close()
	h.Stop()
	name := fmt.Sprintf("%d audio WebSockets, frames of %s", sockets, frame)
	b.report(name+", seconds of audio missing or refused", atMost(0), missing+float64(refused.Load())+float64(len(l.errs)), "", fmt.Sprintf("%d frames in %s", l.sent, took.Round(time.Second)))
	b.report(name+", processor", atMost(0.6), used.Seconds()/took.Seconds(), "core", "")
	b.report(name+", memory", atMost(150), float64(peak)/(1<<20), "MiB", "peak")
}

// missingSeconds is how much of the audio that was sent the sessions do not
// have.
func missingSeconds(b *bench, h *hubtest.Hub, ids []string, length time.Duration) (missing float64) {
	for _, id := range ids {
		var st hubtest.Status
		b.check(h.Call(b.ctx, "get_session_status", map[string]any{"sessionId": id}, &st))
		missing += max(0, length.Seconds()-st.Duration) + st.DroppedSeconds
	}
	return missing
}
