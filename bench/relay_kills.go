package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

// measureKills kills the hub in the middle of what somebody says, again and
// again, while the sender does what it is told, and holds the words against
// those of a hub that nobody killed.
func measureKills(ctx context.Context, b *bench) error {
	kills := 20
	if b.quick {
		kills = 5
	}
	const every = 9 * time.Second // about
	tape, err := talkOf(ctx, (time.Duration(kills+1) * every).Seconds())
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var errs [2]error
	var calm, killed []hearken.Segment
	var connects int
	group.Go(func() {
		h, err := b.startEngineHub(ctx, "calm")
		if err != nil {
			errs[0] = err
			return
		}
		defer h.stop()
		calm, _, errs[0] = h.hearTape(ctx, tape)
	})
	group.Go(func() {
		killed, connects, errs[1] = b.killWhileSpeaking(ctx, tape, tape.moments(kills, every))
	})
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	v := judgeWords(calm, killed)
	name := fmt.Sprintf("hub killed %d times in mid-utterance", kills)
	v.report(b, name, fmt.Sprintf("%d connections; word errors against what was said %.2f %%, unkilled %.2f %%",
		connects, percent(tape.scores(killed)), percent(tape.scores(calm))))
	v.reportHearing(b, name)
	return nil
}

// hearTape sends a tape to a fresh session and returns what was heard.
func (h *hub) hearTape(ctx context.Context, t *tape) ([]hearken.Segment, int, error) {
	if err := h.ready(ctx); err != nil {
		return nil, 0, err
	}
	s, err := h.openTracked(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := s.speak(ctx, t.pcm); err != nil {
		return nil, 0, err
	}
	if err := s.settled(ctx); err != nil {
		return nil, 0, fmt.Errorf("%w %s", err, h.logs)
	}
	segments, err := s.segments(ctx)
	return segments, s.connects, err
}

// moments are times at which somebody speaks on the tape, one about every so
// often.
func (t *tape) moments(n int, every time.Duration) []time.Duration {
	rng := rand.New(rand.NewPCG(9, 10))
	var list []time.Duration
	for i := range n {
		at := every * time.Duration(i+1)
		at += time.Duration((rng.Float64() - 0.5) * float64(every) / 2)
		const edge = hearken.SampleRate / 2
		pos := samples(at.Seconds())
		for _, p := range t.parts { // the recordings begin and end with a moment of quiet
			if pos < p.to-edge {
				pos = max(pos, p.from+edge)
				break
			}
		}
		list = append(list, position(pos))
	}
	return list
}

// killWhileSpeaking sends a tape to a hub that is killed at these times and
// started again at once.
func (b *bench) killWhileSpeaking(ctx context.Context, t *tape, moments []time.Duration) ([]hearken.Segment, int, error) {
	port, err := freePort()
	if err != nil {
		return nil, 0, err
	}
	start := func() (*hub, error) {
		return b.startEngineHub(ctx, "killed", "PORT="+strconv.Itoa(port))
	}
	first, err := start()
	if err != nil {
		return nil, 0, err
	}
	if err := first.ready(ctx); err != nil {
		first.stop()
		return nil, 0, err
	}
	var last *hub
	var group sync.WaitGroup
	var failed error
	killing, stop := context.WithCancel(ctx)
	group.Go(func() {
		last = first
		begun := time.Now()
		for _, m := range moments {
			wait(killing, time.Until(begun.Add(m)))
			if killing.Err() != nil {
				return
			}
			kill(last.cmd)
			again, err := start()
			if err != nil {
				failed = err
				return
			}
			last = again
		}
	})
	// All of them are at the same address.
	segments, connects, err := first.hearTape(killing, t)
	stop()
	group.Wait()
	last.stop()
	if err := errors.Join(failed, err); err != nil {
		return nil, 0, fmt.Errorf("%w %s", err, last.logs)
	}
	if connects <= len(moments) {
		return nil, 0, fmt.Errorf("only %d connections for %d kills", connects, len(moments))
	}
	return segments, connects, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
