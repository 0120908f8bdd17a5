package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// modelNote watches what the engine says when it is ready: on a busy machine it
// may have decided against the larger model.
type modelNote struct {
	slog.Handler
	mu    sync.Mutex
	small bool
}

func (n *modelNote) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "good_used" {
			n.mu.Lock()
			n.small = !a.Value.Bool()
			n.mu.Unlock()
		}
		return true
	})
	return n.Handler.Handle(ctx, r)
}

// openEngine loads the offline engine as the program does and waits until it is
// ready. Both models are wanted unless one is named.
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
		note := &modelNote{Handler: slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})}
		cfg.Log = slog.New(note)
		p := moonshine.Open(ctx, cfg)
		if err := p.Ready(ctx); err != nil {
			closeEngine(ctx, p)
			return nil, err
		}
		if cfg.Model != "" || !note.small {
			return p, nil
		}
		closeEngine(ctx, p)
	}
	return nil, errors.New("the machine is too busy: the engine left the larger model out")
}

// A told event is one with the time at which it came, counted from the first
// sample of its stream.
type told struct {
	hearken.StreamEvent
	at time.Duration
}

// heard is what became of a stream.
type heard struct {
	events []told
	late   sample // how late each frame was taken
}

func (h *heard) segments() (list []hearken.Segment) {
	for _, e := range h.events {
		if e.Kind == hearken.Final {
			list = append(list, e.Segment)
		}
	}
	return list
}

// closeEngine gives an engine back.
func closeEngine(ctx context.Context, p *moonshine.Provider) {
	if err := p.Close(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintf(os.Stderr, "    the engine was not closed: %v\n", err)
	}
}

// hangUp says that no more sound comes. A Failed event tells what goes wrong.
func hangUp(s hearken.Stream) { _ = s.Close() }

// speakTo streams sound in frames of 20 ms, each given when its last sample has
// been spoken.
func speakTo(ctx context.Context, p hearken.Provider, pcm []int16) (*heard, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := p.Open(ctx, hearken.StreamConfig{Language: "en", Interim: true})
	if err != nil {
		return nil, err
	}
	const frame = hearken.SampleRate / 50
	h := &heard{}
	begun := time.Now()
	var sender sync.WaitGroup
	sender.Go(func() {
		defer hangUp(s)
		for pos := 0; pos < len(pcm) && ctx.Err() == nil; pos += frame {
			sound := pcm[pos:min(pos+frame, len(pcm))]
			due := begun.Add(time.Duration(pos+len(sound)) * time.Second / hearken.SampleRate)
			wait(ctx, time.Until(due))
			if s.Write(hearken.Frame{Pos: int64(pos), PCM: sound}) != nil {
				return // a Failed event tells why
			}
			h.late = append(h.late, time.Since(due))
		}
	})
	for e := range s.Events() {
		if e.Kind == hearken.Failed {
			err = e.Err
		}
		h.events = append(h.events, told{e, time.Since(begun)})
	}
	cancel()
	sender.Wait()
	return h, err
}

// speakAll streams to as many streams at once as there are tapes.
func speakAll(ctx context.Context, p hearken.Provider, tapes [][]int16) ([]*heard, error) {
	all := make([]*heard, len(tapes))
	errs := make([]error, len(tapes))
	var group sync.WaitGroup
	for i, pcm := range tapes {
		group.Go(func() {
			wait(ctx, time.Second*time.Duration(i)/time.Duration(len(tapes))) // nobody speaks in step
			if all[i], errs[i] = speakTo(ctx, p, pcm); errs[i] != nil {
				errs[i] = fmt.Errorf("stream %d: %w", i+1, errs[i])
			}
		})
	}
	group.Wait()
	return all, errors.Join(append(errs, ctx.Err())...)
}

// goal adds a row with what must be reached and what was aimed for.
func (b *bench) goal(what, better string, must, aim, value float64, unit, spread string) {
	b.rows.add(what, better, must, value, unit, spread)
	last := &b.rows.list[len(b.rows.list)-1]
	last.Reach += ", aim " + number(aim, unit)
}
