package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/onnx"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// A modelWatch notes which model the engine says that it uses: on a busy machine
// it may have decided against the larger one.
type modelWatch struct {
	slog.Handler
	mu    sync.Mutex
	small bool
}

func (w *modelWatch) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "good_used" {
			w.mu.Lock()
			w.small = !a.Value.Bool()
			w.mu.Unlock()
		}
		return true
	})
	return w.Handler.Handle(ctx, r)
}

// openEngine loads the offline engine as the program does and waits until it is
// ready, with both models unless one is named.
func openEngine(ctx context.Context, cfg moonshine.Config) (*moonshine.Provider, error) {
	root, err := models.Root()
	if err != nil {
		return nil, err
	}
	if err := models.Ready(root); err != nil {
		return nil, err
	}
	cfg.Dir, cfg.Library = root, models.Library(root)
	const tries = 5
	for range tries {
		watch := &modelWatch{Handler: slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})}
		cfg.Log = slog.New(watch)
		p := moonshine.Open(ctx, cfg)
		err := p.Ready(ctx)
		if err == nil && (cfg.Model != "" || !watch.small) {
			return p, nil
		}
		closeEngine(p)
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the machine is too busy: the engine left the larger model out")
}

// engine is [openEngine] until the scenario ends.
func (b *bench) engine(cfg moonshine.Config) *moonshine.Provider {
	p, err := openEngine(b.ctx, cfg)
	b.check(err)
	b.Cleanup(func() { closeEngine(p) })
	return p
}

func closeEngine(p *moonshine.Provider) { _ = p.Close(context.Background()) } // its work is done

// openModel loads one model and returns a function that transcribes a recording
// in one piece.
func openModel(ctx context.Context, name string) (transcribe func(pcm []int16) (string, error), closeModel func(), err error) {
	root, err := models.Root()
	if err != nil {
		return nil, nil, err
	}
	rt, err := onnx.Open(models.Library(root))
	if err != nil {
		return nil, nil, err
	}
	m, err := moonshine.LoadModel(rt, models.Moonshine(root, name), moonshine.ModelOptions{})
	if err != nil {
		rt.Close()
		return nil, nil, err
	}
	transcribe = func(pcm []int16) (string, error) {
		r, err := m.Transcribe(ctx, floats(pcm), nil)
		return r.Text, err
	}
	return transcribe, func() {
		m.Close()
		rt.Close()
	}, nil
}

func floats(pcm []int16) []float32 {
	out := make([]float32, len(pcm))
	for i, x := range pcm {
		out[i] = float32(x) / 32768
	}
	return out
}

// A recording is what a stream reported, with times since its first sample.
type recording struct {
	events []timedEvent
	late   durations // how late each frame was taken
}

type timedEvent struct {
	hearken.StreamEvent
	at time.Duration
}

func (r *recording) segments() (list []hearken.Segment) {
	for _, e := range r.events {
		if e.Kind == hearken.Final {
			list = append(list, e.Segment)
		}
	}
	return list
}

// stream gives audio to a stream: in real time in frames of 20 ms, each when
// its last sample has been spoken, or as fast as the engine takes it.
func stream(ctx context.Context, p hearken.Provider, cfg hearken.StreamConfig, pcm []int16, realTime bool) (*recording, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := p.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	frame := hearken.SampleRate / 10
	if realTime {
		frame = hearken.SampleRate / 50
	}
	r := &recording{}
	began := time.Now()
	var sender sync.WaitGroup
	sender.Go(func() {
		defer func() { _ = s.Close() }() // a Failed event says what goes wrong
		for pos := 0; pos < len(pcm) && ctx.Err() == nil; pos += frame {
			end := min(pos+frame, len(pcm))
			due := began.Add(position(end))
			if realTime {
				hubtest.Sleep(ctx, time.Until(due))
			}
			if s.Write(hearken.Frame{Pos: int64(pos), PCM: pcm[pos:end]}) != nil {
				return // a Failed event says why
			}
			r.late = append(r.late, time.Since(due))
		}
	})
	for e := range s.Events() {
		if e.Kind == hearken.Failed {
			err = e.Err
		}
		r.events = append(r.events, timedEvent{e, time.Since(began)})
	}
	cancel()
	sender.Wait()
	return r, err
}

var (
	interimEnglish = hearken.StreamConfig{Language: "en", Interim: true}
	english        = hearken.StreamConfig{Language: "en"}
)

// streamAll streams so many recordings at once in real time.
func streamAll(b *bench, p hearken.Provider, audio [][]int16) []*recording {
	all := make([]*recording, len(audio))
	errs := make([]error, len(audio))
	var group sync.WaitGroup
	for i, pcm := range audio {
		group.Go(func() {
			hubtest.Sleep(b.ctx, time.Second*time.Duration(i)/time.Duration(len(audio))) // nobody speaks in step
			all[i], errs[i] = stream(b.ctx, p, interimEnglish, pcm, true)
		})
	}
	group.Wait()
	b.check(errors.Join(append(errs, b.ctx.Err())...))
	return all
}

// transcribeWhole transcribes a recording as fast as the engine can.
func transcribeWhole(b *bench, p hearken.Provider, pcm []int16) []hearken.Segment {
	r, err := stream(b.ctx, p, english, pcm, false)
	b.check(err)
	return r.segments()
}

// position is a number of samples as a time.
func position(samples int) time.Duration {
	return time.Duration(samples) * time.Second / hearken.SampleRate
}
