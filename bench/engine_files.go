package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// runnerCommand makes this program a [runner] of our own engine.
const runnerCommand = "engine-runner"

// measureFiles holds whole files against the programs that run the same
// weights: one core, one thread, file by file in turns.
func measureFiles(ctx context.Context, b *bench) error {
	clips, err := referenced()
	if err != nil {
		return err
	}
	seconds, rounds := 250.0, 3
	if b.quick {
		seconds, rounds = 40, 2
	}
	clips = first(clips, seconds)
	dir, err := os.MkdirTemp("", "hearken-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, c := range clips { // not every program takes FLAC
		if c.Path, err = c.writeWAV(dir); err != nil {
			return err
		}
	}
	root, err := models.Root()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var runners []*runner
	for _, way := range []string{"model", "engine"} {
		r, err := startRunner(ctx, way, nil, self, runnerCommand, way)
		if err != nil {
			return err
		}
		defer r.stop()
		runners = append(runners, r)
	}
	peers, err := b.startPeers(ctx, models.Moonshine(root, "tiny-en"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "  left out, the other programs: %v\n", err)
	}
	for _, p := range peers {
		defer p.stop()
	}
	t, err := takeTurns(ctx, append(runners, peers...), clips, rounds)
	if err != nil {
		return err
	}
	t.report(b, clips)
	return nil
}

// turns is how long each runner took in each round, and what it heard.
type turns struct {
	runners []*runner
	took    [][]float64 // by runner and round, in seconds
	scores  [][]score   // by runner and clip
}

func takeTurns(ctx context.Context, runners []*runner, clips []*clip, rounds int) (*turns, error) {
	t := &turns{runners: runners, took: make([][]float64, len(runners)), scores: make([][]score, len(runners))}
	for _, r := range runners { // the first run of anything is slower
		if _, err := r.transcribe(clips[0].Path); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i := range runners {
			t.took[i] = append(t.took[i], 0)
		}
		for n, c := range clips {
			for turn := range runners {
				i := (turn + n + round) % len(runners)
				a, err := runners[i].transcribe(c.Path)
				if err := errors.Join(err, ctx.Err()); err != nil {
					return nil, err
				}
				t.took[i][round] += a.MS / 1000
				if round == 0 {
					t.scores[i] = append(t.scores[i], scoreOf(c.Reference, a.Text))
				}
			}
		}
	}
	return t, nil
}

func (t *turns) report(b *bench, clips []*clip) {
	var sound float64
	for _, c := range clips {
		sound += c.seconds()
	}
	names := map[string]string{"model": "tiny in one piece", "engine": "tiny with voice detection and cutting, as `hearken transcribe` does"}
	rival := -1
	for i := range t.runners[2:] {
		if i += 2; rival < 0 || median(t.took[i]) < median(t.took[rival]) {
			rival = i
		}
	}
	for i, r := range t.runners {
		name, own := names[r.name]
		if !own {
			name = r.name + ", tiny in one piece"
		}
		var ratios, factors []float64
		for round, s := range t.took[i] {
			factors = append(factors, s/sound)
			if rival >= 0 {
				ratios = append(ratios, t.took[rival][round]/s)
			}
		}
		name = "whole files, " + name
		if own && rival >= 0 {
			b.goal(name+", speed against "+t.runners[rival].name, "min", 1.8, 2.5, median(ratios), "", spread(ratios))
			b.rows.add(name+", word errors", "max", percent(t.scores[rival]), percent(t.scores[i]), "%", fmt.Sprintf("%d recordings, %.0f s", len(clips), sound))
		} else {
			b.rows.add(name+", word errors", "", 0, percent(t.scores[i]), "%", "")
		}
		b.rows.add(name+", processing time for each second of sound", "", 0, 1000*median(factors), "ms", "")
	}
}

// serveRunner answers names of files with their text: what the model makes of
// the whole, as the other programs do it, or what the engine does.
func serveRunner(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want model or engine")
	}
	hear := hearModel
	if args[0] == "engine" {
		hear = hearEngine
	}
	transcribe, stop, err := hear(ctx)
	if err != nil {
		return err
	}
	defer stop()
	answers := json.NewEncoder(os.Stdout)
	if err := answers.Encode(map[string]bool{"ready": true}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		pcm, err := readSound(ctx, lines.Text())
		if err != nil {
			return err
		}
		begun := time.Now()
		text, err := transcribe(pcm)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer{text, ms(time.Since(begun))}); err != nil {
			return err
		}
	}
	return lines.Err()
}

type transcriber func(pcm []int16) (string, error)

// hearModel decodes a recording in one piece.
func hearModel(ctx context.Context) (transcriber, func(), error) {
	return openModel(ctx, "tiny-en")
}

func openModel(ctx context.Context, name string) (transcriber, func(), error) {
	root, err := models.Root()
	if err != nil {
		return nil, nil, err
	}
	rt, err := onnx.Open(models.Library(root))
	if err != nil {
		return nil, nil, err
	}
	m, err := moonshine.LoadModel(rt, models.Moonshine(root, name), moonshine.ModelOptions{Threads: 1})
	if err != nil {
		rt.Close()
		return nil, nil, err
	}
	transcribe := func(pcm []int16) (string, error) {
		sound := make([]float32, len(pcm))
		for i, x := range pcm {
			sound[i] = float32(x) / 32768
		}
		r, err := m.Transcribe(ctx, sound, nil)
		return r.Text, err
	}
	return transcribe, func() {
		m.Close()
		rt.Close()
	}, nil
}

// hearEngine gives a recording to the engine.
func hearEngine(ctx context.Context) (transcriber, func(), error) {
	p, err := openEngine(ctx, moonshine.Config{Model: "tiny", Cores: 1})
	if err != nil {
		return nil, nil, err
	}
	return func(pcm []int16) (string, error) {
		segments, err := p.TranscribeAll(ctx, pcm, hearken.StreamConfig{Language: "en"}, nil)
		return spoken(segments), err
	}, func() { closeEngine(ctx, p) }, nil
}

// spoken is the words of segments.
func spoken(segments []hearken.Segment) string {
	var texts []string
	for _, s := range segments {
		if s.Spoken() {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, " ")
}
