package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/test/faults"
)

// cuts are the faults of a run: their number, how often, how long.
type cuts struct {
	plan    []faults.Fault
	seconds float64 // of sound
}

func planCuts(n int) cuts {
	const every, longest = 15 * time.Second, 8 * time.Second
	c := cuts{seconds: (time.Duration(n)*every + 10*time.Second).Seconds()}
	for f := range faults.Plan(1, every, longest) {
		if c.plan = append(c.plan, f); len(c.plan) == n {
			break
		}
	}
	return c
}

// measureCuts relays speech while the connection to the provider is cut again
// and again. The provider is another hub with the offline engine, which hears
// real speech, held against the same without cuts; and, at the same time, a
// stand-in whose words are exact.
func measureCuts(ctx context.Context, b *bench) error {
	c := planCuts(40)
	if b.quick {
		c = planCuts(8)
	}
	tape, err := talkOf(ctx, c.seconds)
	if err != nil {
		return err
	}
	engine, err := b.startEngineHub(ctx, "cuts-engine")
	if err != nil {
		return err
	}
	defer engine.stop()
	if err := engine.ready(ctx); err != nil {
		return err
	}
	exact, err := startSelf(ctx, standInCommand)
	if err != nil {
		return err
	}
	defer exact.stop()
	script, scripted := newScript(1, c.seconds)
	ways := []*way{
		{name: "cuts", server: engine.url, plan: c.plan, sound: tape.pcm},
		{name: "no-cuts", server: engine.url, sound: tape.pcm},
		{name: "cuts-exact", server: exact.url, plan: c.plan, sound: scripted},
	}
	var group sync.WaitGroup
	errs := make([]error, len(ways))
	for i, w := range ways {
		group.Go(func() { errs[i] = w.relay(ctx, b) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	name := fmt.Sprintf("%.0f minutes, %d cuts, ", c.seconds/60, len(c.plan))
	v := judgeScript(script, ways[2].segments)
	v.report(b, name+"exact words", fmt.Sprintf("%d connections", ways[2].stats.Connections))
	b.rows.add(name+"exact words, times off, the worst", "max", 100, v.worst(), "ms", fmt.Sprintf("median %.0f ms", median(v.off)))
	v = judgeWords(ways[1].segments, ways[0].segments)
	v.report(b, name+"real speech", fmt.Sprintf("%d connections; word errors against what was said %.2f %%, without cuts %.2f %%",
		ways[0].stats.Connections, percent(tape.scores(ways[0].segments)), percent(tape.scores(ways[1].segments))))
	v.reportHearing(b, name+"real speech")
	return nil
}

// A way is a hub that relays one session to a server, over a network on which
// things go wrong.
type way struct {
	name, server string
	plan         []faults.Fault
	sound        []int16

	segments []hearken.Segment
	stats    faults.Stats
}

func (w *way) relay(ctx context.Context, b *bench) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	target := strings.TrimPrefix(w.server, "http://")
	proxy := faults.Serve(l, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", target)
	})
	defer proxy.Close()
	h, err := b.startHub(ctx, filepath.Join(b.dir, w.name),
		"TRANSCRIPTION_PROVIDER=deepgram", "DEEPGRAM_API_KEY=key", "DEEPGRAM_BASE_URL=ws://"+proxy.Addr())
	if err != nil {
		return err
	}
	defer h.stop()
	s, err := h.openTracked(ctx)
	if err != nil {
		return err
	}
	speaking, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	begun := time.Now()
	group.Go(func() {
		for _, f := range w.plan {
			wait(speaking, time.Until(begun.Add(f.At)))
			if speaking.Err() != nil {
				return
			}
			proxy.Do(f)
		}
	})
	if err := s.speak(ctx, w.sound); err != nil {
		return fmt.Errorf("%s: %w %s", w.name, err, h.logs)
	}
	stop()
	if err := s.settled(ctx); err != nil {
		return fmt.Errorf("%s: %w %s", w.name, err, h.logs)
	}
	fmt.Fprintf(os.Stderr, "    %s: drained %.1f s after the last sound\n", w.name, (time.Since(begun) - position(len(w.sound))).Seconds())
	w.stats = proxy.Stats()
	w.segments, err = s.segments(ctx)
	return err
}

// report adds the rows of a verdict.
func (v *verdict) report(b *bench, name, about string) {
	for _, n := range v.notes {
		fmt.Fprintln(os.Stderr, "   ", n)
	}
	b.rows.add(name+", words lost", "max", 0, float64(v.lost), "", fmt.Sprintf("of %d; %s", v.words, about))
	b.rows.add(name+", words doubled", "max", 0, float64(v.doubled), "", "")
}

// reportHearing adds what an engine makes of sound that it hears from another
// place on: this is its own, and nothing the relay could change.
func (v *verdict) reportHearing(b *bench, name string) {
	late := 0
	for _, x := range v.off {
		if x > 100 {
			late++
		}
	}
	b.rows.add(name+", times off, median", "max", 100, median(v.off), "ms",
		fmt.Sprintf("%d of %d by more than 100 ms, where the engine began to hear at another place", late, len(v.off)))
	b.rows.add(name+", words that the engine heard otherwise", "", 0, float64(v.otherwise+v.unclear), "",
		fmt.Sprintf("%d of them in what it did not understand; %d added", v.unclear, v.added))
	b.rows.add(name+", words without counterpart by alignment alone", "", 0, float64(v.missing), "",
		fmt.Sprintf("and %d the other way round; those where the engine had the sound are not counted as lost", v.more))
}

// startEngineHub starts a hub with the offline engine. Its model is given: one
// that a measurement chose might differ from one start to the next.
func (b *bench) startEngineHub(ctx context.Context, name string, env ...string) (*hub, error) {
	root, err := models.Root()
	if err != nil {
		return nil, err
	}
	if err := models.Ready(root); err != nil {
		return nil, err
	}
	env = append([]string{"TRANSCRIPTION_PROVIDER=local", "LOCAL_MODEL=base", models.EnvModels + "=" + root}, env...)
	return b.startHub(ctx, filepath.Join(b.dir, name), env...)
}

// talkOf is so many seconds of real speech with pauses.
func talkOf(ctx context.Context, seconds float64) (*tape, error) {
	all, err := referenced()
	if err != nil {
		return nil, err
	}
	const pause = 0.8 // within what one person says there are shorter ones
	var clips []*clip
	for left := seconds; ; {
		for _, c := range all {
			if left -= c.seconds() + pause; left < pause {
				return splice(clips, pause), nil
			}
			clips = append(clips, c)
		}
	}
}

// scores are the word errors of what was heard on a tape.
func (t *tape) scores(segments []hearken.Segment) (scores []score) {
	texts := t.texts(segments)
	for _, p := range t.parts {
		scores = append(scores, scoreOf(p.Reference, texts[p.clip]))
	}
	return scores
}
