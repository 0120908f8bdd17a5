package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// measureSockets sends sound over many audio WebSockets at once in real time
// and looks at what the hub needs for it.
func measureSockets(ctx context.Context, b *bench) error {
	for _, m := range []struct {
		sockets int
		frame   time.Duration
	}{{1000, 100 * time.Millisecond}, {400, 20 * time.Millisecond}} {
		if err := b.sockets(ctx, m.sockets, m.frame); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sockets(ctx context.Context, sockets int, frame time.Duration) error {
	h, err := b.startHub(ctx, filepath.Join(b.dir, fmt.Sprintf("sockets-%d", sockets)), "MAX_SESSIONS=2000", "MAX_CONNECTIONS=4000")
	if err != nil {
		return err
	}
	defer h.stop()
	span := 30 * time.Second
	if b.quick {
		span = 8 * time.Second
	}
	conns := make([]*websocket.Conn, sockets)
	ids := make([]string, sockets)
	for i := range conns {
		var session struct{ SessionID, WsEndpoint string }
		if err := h.call(ctx, "start_transcription", map[string]any{}, &session); err != nil {
			return err
		}
		ids[i] = session.SessionID
		if conns[i], _, err = websocket.Dial(ctx, session.WsEndpoint, nil); err != nil {
			return fmt.Errorf("socket %d: %w", i, err)
		}
		defer conns[i].CloseNow()
	}
	before, _, err := h.usage()
	if err != nil {
		return err
	}
	var sent, acked, troubles atomic.Int64
	var group sync.WaitGroup
	begun := time.Now()
	for i, c := range conns {
		go readAcks(ctx, c, &acked, &troubles)
		group.Go(func() {
			// Senders do not start together, and each keeps to its own time.
			offset := frame * time.Duration(i) / time.Duration(sockets)
			sound := make([]byte, 2*16*frame.Milliseconds())
			for n := range int(span / frame) {
				wait(ctx, time.Until(begun.Add(offset+frame*time.Duration(n))))
				if err := c.Write(ctx, websocket.MessageBinary, sound); err != nil {
					troubles.Add(1)
					return
				}
				sent.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(begun)
	after, peak, err := h.usage()
	if err != nil {
		return err
	}
	wait(ctx, 2*time.Second) // the last acknowledgements
	missing, err := h.missing(ctx, ids, span)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d audio WebSockets, frames of %s", sockets, frame)
	b.rows.add(name+", seconds of sound missing or refused", "max", 0, missing+float64(troubles.Load()), "", fmt.Sprintf("%d frames in %s", sent.Load(), took.Round(time.Second)))
	b.rows.add(name+", processor", "max", 0.6, (after-before).Seconds()/took.Seconds(), "core", "")
	b.rows.add(name+", memory", "max", 150, float64(peak)/(1<<20), "MiB", "peak")
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// readAcks takes what the hub says to a sender.
func readAcks(ctx context.Context, c *websocket.Conn, acked, troubles *atomic.Int64) {
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return
		}
		var msg struct {
			Type    string
			Samples int64
		}
		if json.Unmarshal(data, &msg) != nil {
			continue
		}
		switch msg.Type {
		case "ack":
			acked.Store(max(acked.Load(), msg.Samples))
		case "dropped", "error":
			troubles.Add(1)
		}
	}
}

// missing is how many seconds of the sound that was sent the sessions do not
// have.
func (h *hub) missing(ctx context.Context, ids []string, span time.Duration) (float64, error) {
	var missing float64
	for _, id := range ids {
		var status struct {
			Duration       float64
			DroppedSeconds float64
		}
		if err := h.call(ctx, "get_session_status", map[string]any{"sessionId": id}, &status); err != nil {
			return 0, err
		}
		missing += max(0, span.Seconds()-status.Duration) + status.DroppedSeconds
	}
	return missing, nil
}
