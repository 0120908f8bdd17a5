package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/soundcard"
	"github.com/hearken-dev/hearken/test/speech"
)

// pollEvery is how often an agent polls. Waiting for the next poll counts.
const pollEvery = 100 * time.Millisecond

// benchScribeDelay has two people talk in turns, one into the microphone and
// one out of the speakers, and measures when pscribe_tail shows their words.
func benchScribeDelay(b *bench) {
	b.check(soundcard.Missing())
	clips := shortClips(b)
	var calls []*call
	for range pick(b, 3, 1) {
		some := speech.First(clips, 34)
		clips = clips[len(some):]
		calls = append(calls, newCall(some))
	}
	findWords(b, calls)
	card := soundcard.Start(b)
	h := b.hub(b.dataDir(), append(card.Env(), engineEnv(b)...)...)
	var shown, confirmed [2][]float64 // p50 and p95 of the rounds
	var allShown, allConfirmed durations
	words, ends := 0, 0
	for _, c := range calls {
		c.play(b, h, card)
		var s, t durations
		for _, side := range c {
			s = append(s, shownDelays(side.words)...)
			t = append(t, confirmedDelays(side.words, side.ends)...)
			words, ends = words+len(side.words), ends+len(side.ends)
		}
		for i, q := range []float64{0.5, 0.95} {
			shown[i] = append(shown[i], s.at(q).Seconds())
			confirmed[i] = append(confirmed[i], t.at(q).Seconds())
		}
		allShown, allConfirmed = append(allShown, s...), append(allConfirmed, t...)
	}
	if len(allShown) < words/2 || len(allConfirmed) < ends/2 {
		b.Fatalf("only %d of %d words and %d of %d ends were seen", len(allShown), words, len(allConfirmed), ends)
	}
	b.report("spoken word to its row in `pscribe_tail`, p95", atMost(1.5), allShown.at(0.95).Seconds(), "s",
		fmt.Sprintf("%s; %d words that were understood, of %d", spread(shown[1]), len(allShown), words))
	b.report("spoken word to its row in `pscribe_tail`, p50", noTarget, allShown.at(0.5).Seconds(), "s", spread(shown[0]))
	b.report("end of a segment's speech to its confirmed row, p95", atMost(2), allConfirmed.at(0.95).Seconds(), "s",
		fmt.Sprintf("%s; %d of %d ends", spread(confirmed[1]), len(allConfirmed), ends))
	b.report("end of a segment's speech to its confirmed row, p50", noTarget, allConfirmed.at(0.5).Seconds(), "s",
		spread(confirmed[0])+"; two sides in turns through PulseAudio null sinks, from when audio is given to the sink to the answer of a poll every 100 ms; word ends as estimated from the whole recording")
}

// A call is the two sides of a conversation, the microphone's first.
type call [2]*callSide

// A callSide is what one side says, and when.
type callSide struct {
	speech.Tape
	source string // as pscribe_tail names it
	words  []spokenWord
	ends   []time.Duration
}

// newCall lets the two sides speak in turns.
func newCall(clips []*speech.Clip) *call {
	c := &call{{source: "M"}, {source: "S"}}
	for i, side := range c {
		side.Pause(pause)
		for n, clip := range clips {
			if n%2 == i {
				side.Add(clip)
			} else {
				side.Pause(clip.Seconds())
			}
			side.Pause(pause)
		}
	}
	return c
}

// findWords finds out when each word is spoken and where speech ends.
func findWords(b *bench, calls []*call) {
	p, err := openEngine(b.ctx, moonshine.Config{})
	b.check(err)
	defer closeEngine(p)
	for _, c := range calls {
		for _, s := range c {
			for _, part := range s.Parts {
				for _, w := range spokenWords(transcribeWhole(b, p, part.PCM())) {
					w.at += position(part.From)
					s.words = append(s.words, w)
				}
			}
			_, ends := speechEdges(b, &s.Tape)
			for _, pos := range ends {
				s.ends = append(s.ends, position(pos))
			}
		}
	}
}

// play has the two sides talk while an agent follows.
func (c *call) play(b *bench, h *hubtest.Hub, card *soundcard.Card) {
	var players []*soundcard.Player
	for _, sink := range soundcard.Sinks {
		players = append(players, card.Open(b, sink))
	}
	_, err := h.CallText(b.ctx, "pscribe_start", nil)
	b.check(err)
	errs := make([]error, len(players)+1)
	var group, follower sync.WaitGroup
	began := time.Now()
	following, stop := context.WithCancel(b.ctx)
	defer stop()
	follower.Go(func() { errs[len(players)] = c.follow(following, h, began) })
	for i, p := range players {
		group.Go(func() { errs[i] = p.Play(b.ctx, began, c[i].PCM) })
	}
	group.Wait()
	b.sleep(2 * time.Second) // for the last row
	stop()
	follower.Wait()
	_, err = h.CallText(b.ctx, "pscribe_stop", nil)
	b.check(errors.Join(append(errs, err)...))
}

// follow polls for rows as an agent does, and notes which words they have.
func (c *call) follow(ctx context.Context, h *hubtest.Hub, began time.Time) error {
	seen := map[tailRow]bool{}
	for next := 1; ; {
		due := time.Now().Add(pollEvery)
		answer, err := h.CallText(ctx, "pscribe_tail", map[string]any{"since_line": next, "n": 100})
		now := time.Since(began)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		rows, after, err := tailRows([]byte(answer))
		if err != nil {
			return fmt.Errorf("%w in %.200s", err, answer)
		}
		next = after
		for _, row := range rows {
			for _, s := range c {
				if s.source == row.source && !seen[row] {
					noteRow(s.words, row, now)
				}
			}
			seen[row] = true
		}
		if !hubtest.Sleep(ctx, time.Until(due)) {
			return nil
		}
	}
}
