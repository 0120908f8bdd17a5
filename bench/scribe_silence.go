package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/hearken-dev/hearken/pipe"
	"github.com/hearken-dev/hearken/test/hubtest"
	"github.com/hearken-dev/hearken/test/soundcard"
	"github.com/hearken-dev/hearken/test/speech"
)

// benchListen measures what `hearken listen` costs on a terminal while nobody
// speaks: the command, and the hub that it starts.
func benchListen(b *bench) {
	rounds, length := pick(b, 3, 1), pick(b, 12*time.Second, 8*time.Second)
	b.check(soundcard.Missing())
	card := soundcard.Start(b)
	command, hub := startListen(b, append(card.Env(), engineEnv(b)...))
	used := func() time.Duration { return b.cpuTime(command) + b.cpuTime(hub) }
	b.sleep(12 * time.Second) // until the engine is loaded
	for _, kind := range []string{digitalSilence, "the noise of a quiet room on both sides"} {
		playing, stop := context.WithCancel(b.ctx)
		if kind != digitalSilence {
			noise := speech.RoomNoise((time.Duration(rounds+1) * length).Seconds())
			for _, sink := range soundcard.Sinks {
				player := card.Open(b, sink)
				go func() {
					if err := player.Play(playing, time.Now(), noise); err != nil && playing.Err() == nil {
						b.Errorf("no noise: %v", err)
					}
				}()
			}
			b.sleep(3 * time.Second)
		}
		var shares []float64
		for range rounds {
			before, began := used(), time.Now()
			b.sleep(length)
			shares = append(shares, 100*(used()-before).Seconds()/time.Since(began).Seconds())
		}
		stop()
		b.report("processor of `hearken listen` and its hub, of one core, "+kind, atMost(3), median(shares), "%", spread(shares))
	}
}

// startListen runs `hearken listen` on a terminal until the scenario ends. It
// returns the processes of the command and of its hub.
func startListen(b *bench, env []string) (command, hub int) {
	terminal, other, err := openTerminal()
	b.check(err)
	b.Cleanup(func() { terminal.Close() })
	defer other.Close()
	s, err := hubtest.NewServer(hubtest.Binary(b), b.dataDir(), append(env, "TERM=xterm")...)
	b.check(err)
	cmd := exec.Command(s.Bin, "listen")
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Env, other, other, other
	b.check(cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended already
		_ = cmd.Wait()                         // it was told to end
		if p, err := os.FindProcess(hub); err == nil && hub != 0 {
			_ = p.Signal(syscall.SIGTERM)
		}
	})
	go func() { _, _ = io.Copy(io.Discard, terminal) }() // until it closes
	hubtest.WaitUntil(b, 20*time.Second, "`hearken listen` has a hub", func() bool {
		holder, ok := pipe.ReadHubInfo(s.Dir)
		hub = holder.PID
		return ok
	})
	return cmd.Process.Pid, hub
}
