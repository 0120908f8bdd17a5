package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/models"
	"github.com/hearken-dev/hearken/stt/moonshine"
)

// loadCommand makes this program load the engine and tell how long that took.
const loadCommand = "engine-load"

// measureLoad times loading in processes of their own and looks at the memory
// of the real program while ten people speak.
func measureLoad(ctx context.Context, b *bench) error {
	n := 7
	if b.quick {
		n = 3
	}
	var seconds []float64
	for range n {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, self, loadCommand)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		var s float64
		if _, err := fmt.Sscan(string(out), &s); err != nil {
			return fmt.Errorf("load said %q: %w", out, err)
		}
		seconds = append(seconds, s)
	}
	b.goal("load to ready, both models, files in the page cache", "max", 2, 1.5, median(seconds), "s", spread(seconds))
	return b.measureMemory(ctx)
}

// serveLoad loads both models once.
func serveLoad(ctx context.Context) error {
	root, err := models.Root()
	if err != nil {
		return err
	}
	begun := time.Now()
	p := moonshine.Open(ctx, moonshine.Config{Dir: root, Library: models.Library(root)})
	defer closeEngine(ctx, p)
	if err := p.Ready(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, time.Since(begun).Seconds())
	return err
}

// measureMemory speaks to the program over ten audio WebSockets.
func (b *bench) measureMemory(ctx context.Context) error {
	clips, err := referenced()
	if err != nil {
		return err
	}
	root, err := models.Root()
	if err != nil {
		return err
	}
	h, err := b.startHub(ctx, filepath.Join(b.dir, "memory"), "TRANSCRIPTION_PROVIDER=local", "LOG_LEVEL=info", models.EnvModels+"="+root)
	if err != nil {
		return err
	}
	defer h.stop()
	const streams = 10
	seconds := 25.0
	if b.quick {
		seconds = 18
	}
	var group sync.WaitGroup
	ids, errs := make([]string, streams), make([]error, streams)
	for i, t := range deal(clips, streams, 0.3) {
		var session struct{ SessionID, WsEndpoint string }
		if err := h.call(ctx, "start_transcription", map[string]any{}, &session); err != nil {
			return err
		}
		ids[i] = session.SessionID
		c, _, err := websocket.Dial(ctx, session.WsEndpoint, nil)
		if err != nil {
			return err
		}
		defer c.CloseNow()
		group.Go(func() { errs[i] = speakToSocket(ctx, c, t.pcm[:samples(seconds)]) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w %s", err, h.logs)
	}
	said := 0
	for _, id := range ids {
		var text struct{ Segments []struct{ Text string } }
		if err := h.call(ctx, "get_transcription", map[string]any{"sessionId": id}, &text); err != nil {
			return err
		}
		said += len(text.Segments)
	}
	if said < streams {
		return fmt.Errorf("the hub heard only %d segments", said)
	}
	_, peak, err := h.usage()
	if err != nil {
		return err
	}
	h.stop() // its log is whole now
	if !strings.Contains(h.logs.String(), "good_used=true") {
		return errors.New("the machine is too busy: the engine left the larger model out")
	}
	b.goal("memory of the hub with ten live streams, both models", "max", 800, 700, float64(peak)/(1<<20), "MiB", fmt.Sprintf("peak in %.0f s of speech", seconds))
	return nil
}

// speakToSocket sends sound in real time. Whatever the hub has to complain about
// is an error.
func speakToSocket(ctx context.Context, c *websocket.Conn, pcm []int16) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for {
			_, data, err := c.Read(ctx)
			if err != nil {
				cancel(fmt.Errorf("the hub ended: %w", err))
				return
			}
			if text := string(data); strings.Contains(text, `"type":"error"`) {
				cancel(fmt.Errorf("the hub says %s", text))
				return
			}
		}
	}()
	begun := time.Now()
	frame := samples(0.1)
	for pos := 0; pos+frame <= len(pcm) && ctx.Err() == nil; pos += frame {
		wait(ctx, time.Until(begun.Add(position(pos+frame))))
		sound := make([]byte, 0, 2*frame)
		for _, x := range pcm[pos : pos+frame] {
			sound = append(sound, byte(x), byte(x>>8))
		}
		if err := c.Write(ctx, websocket.MessageBinary, sound); err != nil {
			wait(ctx, time.Second) // for the hub's own word about it
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	return context.Cause(ctx)
}
