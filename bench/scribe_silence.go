package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/pipe"
)

// measureListen tells what `hearken listen` costs on a terminal while nobody
// speaks: the command, and the hub that it starts.
func measureListen(ctx context.Context, b *bench) error {
	rounds, length := 3, 12*time.Second
	if b.quick {
		rounds, length = 1, 8*time.Second
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
	l, err := b.listen(ctx, append(card.env(), "TRANSCRIPTION_PROVIDER=local", models.EnvModels+"="+root))
	if err != nil {
		return err
	}
	defer l.stop()
	wait(ctx, 12*time.Second) // until the engine is there, and its loading is over
	for _, kind := range []string{"digital silence", "the noise of a quiet room on both sides"} {
		quiet, hush := context.WithCancel(ctx)
		if kind != "digital silence" {
			if err := card.rustle(quiet, time.Duration(rounds+1)*length); err != nil {
				hush()
				return err
			}
			wait(ctx, 3*time.Second)
		}
		var shares []float64
		for range rounds {
			before, err := l.cpu()
			if err != nil {
				hush()
				return err
			}
			begun := time.Now()
			wait(ctx, length)
			after, err := l.cpu()
			if err != nil {
				hush()
				return err
			}
			shares = append(shares, 100*(after-before).Seconds()/time.Since(begun).Seconds())
		}
		hush()
		b.rows.add("processor of `hearken listen` and its hub, of one core, "+kind, "max", 3, median(shares), "%", spread(shares))
	}
	return nil
}

// rustle plays the noise of a room into both sinks.
func (s *soundCard) rustle(ctx context.Context, length time.Duration) error {
	noise := room(length.Seconds())
	for _, sink := range []string{"mike", "speakers"} {
		v, err := s.voice(ctx, sink)
		if err != nil {
			return err
		}
		go func() {
			if err := errors.Join(v.speak(ctx, time.Now(), noise), v.stop()); err != nil && ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "    no noise: %v\n", err)
			}
		}()
	}
	return nil
}

// A listener is `hearken listen` on a terminal, with its hub.
type listener struct {
	cmd      *exec.Cmd
	terminal *os.File
	hub      int // its process
}

func (b *bench) listen(ctx context.Context, env []string) (*listener, error) {
	terminal, other, err := openTerminal()
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	defer other.Close()
	dir := filepath.Join(b.dir, "listen")
	l := &listener{terminal: terminal, cmd: exec.CommandContext(ctx, b.binary, "listen")}
	l.cmd.Env = append(append(b.env(dir), "TERM=xterm"), env...)
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = other, other, other
	if err := l.cmd.Start(); err != nil {
		terminal.Close()
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, terminal) }() // somebody looks at it, until it closes
	for deadline := time.Now().Add(20 * time.Second); l.hub == 0; wait(ctx, 100*time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			l.stop()
			return nil, errors.New("hearken listen started no hub")
		}
		if holder, ok := pipe.ReadHubInfo(dir); ok {
			l.hub = holder.PID
		}
	}
	return l, nil
}

// stop ends both as a person would.
func (l *listener) stop() {
	end(l.cmd, syscall.SIGINT)
	if hub, err := os.FindProcess(l.hub); err == nil && l.hub != 0 {
		_ = hub.Signal(syscall.SIGTERM) // it may have ended already
	}
	l.terminal.Close()
}

// cpu is the processor time of both so far.
func (l *listener) cpu() (time.Duration, error) {
	own, err := processorTime(l.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	hub, err := processorTime(l.hub)
	return own + hub, err
}
