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
	"github.com/hearken-dev/hearken/source/file"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/test/wer"
)

// benchFiles transcribes whole files in turns with the programs that run the
// same weights: one core, one thread.
func benchFiles(b *bench) {
	clips := speech.First(speech.English(b), pick(b, 250.0, 40))
	rounds := pick(b, 3, 2)
	root, err := models.Root()
	b.check(err)
	var runners []*runner
	for _, kind := range []string{"model", "engine"} {
		runners = append(runners, startRunner(b, kind, nil, b.self("engine-runner", kind).Args...))
	}
	runners = append(runners, startPeers(b, models.Moonshine(root, "tiny-en"))...)

	paths := make([]string, len(clips))
	for i, c := range clips { // not every program takes FLAC
		paths[i] = c.WAV(b)
	}
	took := make([][]float64, len(runners)) // by runner and round, in seconds
	scores := make([][]wer.Score, len(runners))
	for _, r := range runners { // the first run is slower
		r.transcribe(b, paths[0])
	}
	for round := range rounds {
		for i := range runners {
			took[i] = append(took[i], 0)
		}
		for n, c := range clips {
			for turn := range runners {
				i := (turn + n + round) % len(runners)
				a := runners[i].transcribe(b, paths[n])
				took[i][round] += a.MS / 1000
				if round == 0 {
					scores[i] = append(scores[i], wer.ScoreOf(c.Reference, a.Text))
				}
			}
		}
	}
	reportFiles(b, runners, clips, took, scores)
}

func reportFiles(b *bench, runners []*runner, clips []*speech.Clip, took [][]float64, scores [][]wer.Score) {
	var seconds float64
	for _, c := range clips {
		seconds += c.Seconds()
	}
	names := map[string]string{"model": "tiny in one piece", "engine": "tiny with voice detection and cutting, as `hearken transcribe` does"}
	rival := -1 // the fastest of the others
	for i := 2; i < len(runners); i++ {
		if rival < 0 || median(took[i]) < median(took[rival]) {
			rival = i
		}
	}
	for i, r := range runners {
		name, own := names[r.name]
		if !own {
			name = r.name + ", tiny in one piece"
		}
		var ratios, factors []float64
		for round, s := range took[i] {
			factors = append(factors, s/seconds)
			if rival >= 0 {
				ratios = append(ratios, took[rival][round]/s)
			}
		}
		name = "whole files, " + name
		if own && rival >= 0 {
			b.report(name+", speed against "+runners[rival].name, atLeast(1.8, 2.5), median(ratios), "", spread(ratios))
			b.report(name+", word errors", atMost(wer.Percent(scores[rival])), wer.Percent(scores[i]), "%", fmt.Sprintf("%d recordings, %.0f s", len(clips), seconds))
		} else {
			b.report(name+", word errors", noTarget, wer.Percent(scores[i]), "%", "")
		}
		b.report(name+", processing time for each second of audio", noTarget, 1000*median(factors), "ms", "")
	}
}

// serveEngineRunner answers the names of files with their text: what the model
// makes of the whole, as the other programs do it, or what the engine does.
func serveEngineRunner(ctx context.Context, args []string) error {
	var transcribe func(pcm []int16) (string, error)
	switch {
	case len(args) == 1 && args[0] == "model":
		t, closeModel, err := openModel(ctx, "tiny-en")
		if err != nil {
			return err
		}
		defer closeModel()
		transcribe = t
	case len(args) == 1 && args[0] == "engine":
		p, err := openEngine(ctx, moonshine.Config{Model: "tiny", Cores: 1})
		if err != nil {
			return err
		}
		defer closeEngine(p)
		transcribe = func(pcm []int16) (string, error) {
			segments, err := p.TranscribeAll(ctx, pcm, english, nil)
			return spokenText(segments), err
		}
	default:
		return errors.New("want model or engine")
	}
	answers := json.NewEncoder(os.Stdout)
	if err := answers.Encode(map[string]bool{"ready": true}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		pcm, err := readAudio(ctx, lines.Text())
		if err != nil {
			return err
		}
		began := time.Now()
		text, err := transcribe(pcm)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer{text, ms(time.Since(began))}); err != nil {
			return err
		}
	}
	return lines.Err()
}

func readAudio(ctx context.Context, path string) (pcm []int16, err error) {
	src, err := file.Open(path, file.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	err = src.Read(ctx, func(channels ...[]int16) error {
		pcm = append(pcm, channels[0]...)
		return nil
	})
	return pcm, err
}

func spokenText(segments []hearken.Segment) string {
	var texts []string
	for _, s := range segments {
		if s.Spoken() {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, " ")
}
