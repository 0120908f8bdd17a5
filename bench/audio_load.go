package main

import (
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// An audioLoad sends audio over many WebSockets in real time. Senders do not
// start together, and each keeps its own time.
type audioLoad struct {
	frame   time.Duration
	length  time.Duration
	audio   func(sender, frame int) []byte
	message func(data []byte, at time.Time) // of the server; called concurrently

	conns []*websocket.Conn
	began time.Time
	group sync.WaitGroup
	mu    sync.Mutex
	sent  int
	errs  []error
}

// start connects to all addresses and begins to send.
func (l *audioLoad) start(b *bench, addresses []string) {
	for i, address := range addresses {
		c, _, err := websocket.Dial(b.ctx, address, nil)
		if err != nil {
			b.Fatalf("connection %d: %v", i, err)
		}
		c.SetReadLimit(1 << 20)
		l.conns = append(l.conns, c)
	}
	l.began = time.Now()
	for i, c := range l.conns {
		go func() {
			for {
				_, data, err := c.Read(b.ctx)
				if err != nil {
					return
				}
				l.message(data, time.Now())
			}
		}()
		l.group.Go(func() {
			offset := l.frame * time.Duration(i) / time.Duration(len(addresses))
			n := 0
			var err error
			for ; n < int(l.length/l.frame) && err == nil; n++ {
				hubtest.Sleep(b.ctx, time.Until(l.began.Add(offset+l.frame*time.Duration(n))))
				err = c.Write(b.ctx, websocket.MessageBinary, l.audio(i, n))
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.sent += n
			if err != nil {
				l.errs = append(l.errs, err)
			}
		})
	}
}

// close ends the connections.
func (l *audioLoad) close() {
	for _, c := range l.conns {
		c.CloseNow()
	}
}

// startSessions starts so many transcriptions and returns their ids and the
// addresses for their audio, with further parameters.
func startSessions(b *bench, h *hubtest.Hub, n int, params string) (ids, addresses []string) {
	for range n {
		var s struct{ SessionID, WSEndpoint string }
		b.check(h.Call(b.ctx, "start_transcription", map[string]any{}, &s))
		ids = append(ids, s.SessionID)
		addresses = append(addresses, s.WSEndpoint+params)
	}
	return ids, addresses
}
