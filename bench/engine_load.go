package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/speech"
)

// benchLoad times loading the models, each time in a new process, and measures
// the program's memory while ten people speak.
func benchLoad(b *bench) {
	var seconds []float64
	for range pick(b, 7, 3) {
		out, err := b.self("engine-load").Output()
		b.check(err)
		var s float64
		_, err = fmt.Sscan(string(out), &s)
		b.check(err)
		seconds = append(seconds, s)
	}
	b.report("load to ready, both models, files in the page cache", atMost(2, 1.5), median(seconds), "s", spread(seconds))
	benchMemory(b)
}

// loadEngine loads both models once and prints how long that took.
func loadEngine(ctx context.Context, _ []string) error {
	root, err := models.Root()
	if err != nil {
		return err
	}
	began := time.Now()
	p := moonshine.Open(ctx, moonshine.Config{Dir: root, Library: models.Library(root)})
	defer closeEngine(p)
	if err := p.Ready(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, time.Since(began).Seconds())
	return err
}

// engineEnv has a hub use the offline engine.
func engineEnv(b *bench) []string {
	return []string{"TRANSCRIPTION_PROVIDER=local", models.EnvModels + "=" + speech.Models(b)}
}

// benchMemory sends speech to the program over ten audio WebSockets.
func benchMemory(b *bench) {
	const streams = 10
	seconds := pick(b, 25.0, 18)
	h := b.hub(b.dataDir(), append(engineEnv(b), "LOG_LEVEL=info")...)
	var sessions []*hubtest.Session
	errs := make([]error, streams)
	var group sync.WaitGroup
	for i, t := range speech.Deal(speech.English(b), streams, 0.3) {
		s, err := h.StartSession(b.ctx, map[string]any{})
		b.check(err)
		sessions = append(sessions, s)
		group.Go(func() { errs[i] = s.Send(b.ctx, t.PCM[:min(len(t.PCM), speech.Samples(seconds))], 1) })
	}
	group.Wait()
	b.check(errors.Join(errs...))
	for _, s := range sessions {
		if len(s.Errors) > 0 {
			b.Fatalf("the hub says %q", s.Errors)
		}
		hubtest.WaitUntil(b, 30*time.Second, "each session has a segment", func() bool {
			segments, err := s.Segments(b.ctx)
			b.check(err)
			return len(segments) > 0
		})
	}
	peak := b.memory(h.PID(), "VmHWM")
	h.Stop()
	if !strings.Contains(h.Log(), "good_used=true") {
		b.Fatal("the machine is too busy: the engine left the larger model out")
	}
	b.report("memory of the hub with ten live streams, both models", atMost(800, 700), float64(peak)/(1<<20), "MiB", fmt.Sprintf("peak in %.0f s of speech", seconds))
}
