package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// pollEvery is how often an agent looks: the wait for the next look counts.
const pollEvery = 100 * time.Millisecond

// measureScribeDelay has two people talk in turns, one into the microphone and
// one out of the speakers, and looks when pscribe_tail shows what they said.
func measureScribeDelay(ctx context.Context, b *bench) error {
	rounds, seconds := 3, 34.0
	if b.quick {
		rounds = 1
	}
	clips, err := referenced()
	if err != nil {
		return err
	}
	clips = slices.DeleteFunc(clips, func(c *clip) bool { return c.seconds() > 12 }) // those have no more ends than shorter ones
	var calls []*call
	for range rounds {
		some := first(clips, seconds)
		clips = clips[len(some):]
		calls = append(calls, converse(some))
	}
	if err := times(ctx, calls); err != nil {
		return err
	}
	card, err := startSoundCard(ctx)
	if err != nil {
		return err
	}
	defer card.stop()
	root, err := models.Root()
	if err != nil {
		return err
	}
	h, err := b.startHub(ctx, filepath.Join(b.dir, "scribe"), append(card.env(), "TRANSCRIPTION_PROVIDER=local", models.EnvModels+"="+root)...)
	if err != nil {
		return err
	}
	defer h.stop()
	var seen, settled [2][]float64 // p50 and p95 of the rounds
	var allSeen, allSettled sample
	words, ends := 0, 0
	for _, c := range calls {
		if err := c.play(ctx, h, card); err != nil {
			return err
		}
		var s, t sample
		for _, side := range c.sides {
			s = append(s, seenAfter(side.words)...)
			t = append(t, settledAfter(side.words, side.ends)...)
			words, ends = words+len(side.words), ends+len(side.ends)
		}
		for i, q := range []float64{0.5, 0.95} {
			seen[i] = append(seen[i], s.at(q).Seconds())
			settled[i] = append(settled[i], t.at(q).Seconds())
		}
		allSeen, allSettled = append(allSeen, s...), append(allSettled, t...)
	}
	if len(allSeen) < words/2 || len(allSettled) < ends/2 {
		return fmt.Errorf("only %d of %d words and %d of %d ends were seen", len(allSeen), words, len(allSettled), ends)
	}
	b.rows.add("spoken word to its row in `pscribe_tail`, p95", "max", 1.5, allSeen.at(0.95).Seconds(), "s",
		fmt.Sprintf("%s; %d words that were understood, of %d", spread(seen[1]), len(allSeen), words))
	b.rows.add("spoken word to its row in `pscribe_tail`, p50", "", 0, allSeen.at(0.5).Seconds(), "s", spread(seen[0]))
	b.rows.add("end of a segment's speech to its confirmed row, p95", "max", 2, allSettled.at(0.95).Seconds(), "s",
		fmt.Sprintf("%s; %d of %d ends", spread(settled[1]), len(allSettled), ends))
	b.rows.add("end of a segment's speech to its confirmed row, p50", "", 0, allSettled.at(0.5).Seconds(), "s",
		spread(settled[0])+"; two sides in turns through PulseAudio null sinks, from when sound is given to the sink to the answer of a poll every 100 ms; word ends as estimated from the whole recording")
	return nil
}

// A call is a talk of two sides, the microphone's first.
type call struct{ sides [2]*side }

// A side is what one of them says, and when.
type side struct {
	*tape
	source string
	words  []saidWord
	ends   []time.Duration
}

// converse lets the two sides speak in turns.
func converse(clips []*clip) *call {
	c := &call{}
	quiet := room(pause)
	for i, source := range []string{"M", "S"} {
		c.sides[i] = &side{tape: &tape{pcm: slices.Clone(quiet)}, source: source}
	}
	for n, cl := range clips {
		for i, s := range c.sides {
			if n%2 == i {
				s.parts = append(s.parts, part{cl, len(s.pcm), len(s.pcm) + len(cl.pcm)})
				s.pcm = append(s.pcm, cl.pcm...)
			} else {
				s.pcm = append(s.pcm, room(cl.seconds())...)
			}
			s.pcm = append(s.pcm, quiet...)
		}
	}
	return c
}

// times finds out when each word is spoken and where speech ends.
func times(ctx context.Context, calls []*call) error {
	p, err := openEngine(ctx, moonshine.Config{})
	if err != nil {
		return err
	}
	defer closeEngine(ctx, p)
	for _, c := range calls {
		for _, s := range c.sides {
			for _, part := range s.parts {
				segments, err := hearWhole(ctx, p, part.pcm)
				if err != nil {
					return err
				}
				for _, w := range saidWords(segments) {
					w.at += position(part.from)
					s.words = append(s.words, w)
				}
			}
			_, ends, err := s.edges()
			if err != nil {
				return err
			}
			for _, pos := range ends {
				s.ends = append(s.ends, position(pos))
			}
		}
	}
	return nil
}

// hearWhole transcribes a recording as fast as it can be.
func hearWhole(ctx context.Context, p hearken.Provider, pcm []int16) (list []hearken.Segment, err error) {
	s, err := p.Open(ctx, hearken.StreamConfig{Language: "en"})
	if err != nil {
		return nil, err
	}
	go func() {
		defer hangUp(s)
		const frame = hearken.SampleRate / 10
		for pos := 0; pos < len(pcm); pos += frame {
			if s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:min(pos+frame, len(pcm))]}) != nil {
				return // a Failed event tells why
			}
		}
	}()
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Final:
			list = append(list, e.Segment)
		case hearken.Failed:
			err = e.Err
		}
	}
	return list, err
}

// play has the two sides talk while somebody follows.
func (c *call) play(ctx context.Context, h *hub, card *soundCard) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var voices []*voice
	for _, sink := range []string{"mike", "speakers"} {
		v, err := card.voice(ctx, sink)
		if err != nil {
			return err
		}
		defer func() { _ = v.stop() }() // what it was to say is said
		voices = append(voices, v)
	}
	if _, err := h.text(ctx, "pscribe_start", nil); err != nil {
		return err
	}
	errs := make([]error, len(voices)+1)
	var group, follower sync.WaitGroup
	begun := time.Now()
	following, ends := context.WithCancel(ctx)
	defer ends()
	follower.Go(func() { errs[len(voices)] = c.follow(following, h, begun) })
	for i, v := range voices {
		group.Go(func() { errs[i] = v.speak(ctx, begun, c.sides[i].pcm) })
	}
	group.Wait()
	wait(ctx, 2*time.Second) // for the last row
	ends()
	follower.Wait()
	_, err := h.text(ctx, "pscribe_stop", nil)
	return errors.Join(append(errs, err)...)
}

// follow looks for rows as an agent does, and notes which words they hold.
func (c *call) follow(ctx context.Context, h *hub, begun time.Time) error {
	shown := map[tailRow]bool{}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for next := 1; ; {
		answer, err := h.text(ctx, "pscribe_tail", map[string]any{"since_line": next, "n": 100})
		now := time.Since(begun)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		rows, goOn, err := tailRows([]byte(answer))
		if err != nil {
			return fmt.Errorf("%w in %.200s", err, answer)
		}
		next = goOn
		for _, row := range rows {
			if shown[row] {
				continue
			}
			shown[row] = true
			for _, s := range c.sides {
				if s.source == row.source {
					see(s.words, row, now)
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
