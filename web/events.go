package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat keeps proxies from closing a quiet stream, and lets the hub
	// notice that a browser has gone.
	heartbeat = 20 * time.Second
	// changeDelay is how long a stream waits after a change, so that many changes
	// at once are sent as one.
	changeDelay = 50 * time.Millisecond
)

// events sends the inbox now and after every change, until the owner signs out
// or the hub stops.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) (any, error) {
	s := sessionFrom(r.Context())
	ctx, cancel := context.WithDeadlineCause(r.Context(), time.Now().Add(s.expires.Sub(h.cfg.Now())), errSignedOut)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	st := &stream{w: w, flush: http.NewResponseController(w)}
	for {
		changes := h.cfg.Queue.Changes() // before reading, so that no change is missed
		in, err := h.inbox(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			h.log.Error("cannot read the queue", "error", err)
			err = st.send("trouble", errorForPage(err))
		default:
			err = st.inbox(h.cfg.Now(), in)
		}
		if err == nil {
			// Nothing changes in the queue when a call ends.
			refresh := in != nil && len(in.Calls) > 0
			err = h.waitForChange(ctx, st, changes, refresh)
		}
		if s.ended.Err() != nil || !h.cfg.Now().Before(s.expires) {
			_ = st.send("signedout", struct{}{}) // the browser may have gone
			return nil, nil
		}
		if err != nil || ctx.Err() != nil {
			return nil, nil
		}
	}
}

// waitForChange returns shortly after the next change, with refresh also after
// the next heartbeat, or with an error.
func (h *Handler) waitForChange(ctx context.Context, st *stream, changes <-chan struct{}, refresh bool) error {
	beat := time.Tick(heartbeat)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beat:
			if err := st.sendHeartbeat(); err != nil || refresh {
				return err
			}
		case <-changes:
			select {
			case <-ctx.Done():
			case <-time.After(changeDelay):
			}
			return ctx.Err()
		}
	}
}

// A stream writes server-sent events.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	last  []byte // the inbox as it was last sent
}

// inbox sends an inbox unless the browser already has it, with the hub's time,
// which the page's countdowns use.
func (s *stream) inbox(now time.Time, in *inbox) error {
	data, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write inbox: %w", err)
	}
	if bytes.Equal(data, s.last) {
		return nil
	}
	s.last = data
	return s.send("inbox", struct {
		Now   time.Time       `json:"now"`
		Inbox json.RawMessage `json:"inbox"`
	}{now, data})
}

func (s *stream) send(event string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return s.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, data))
}

// sendHeartbeat sends a comment, which browsers ignore.
func (s *stream) sendHeartbeat() error { return s.write([]byte(":\n\n")) }

func (s *stream) write(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.flush.Flush()
}
