package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
)

// A tracked session is one whose sender never gives up.
type tracked struct {
	h        *hub
	id       string
	endpoint string
	acked    int // samples that the hub said it has
	connects int
}

// openTracked starts a session.
func (h *hub) openTracked(ctx context.Context) (*tracked, error) {
	var s struct{ SessionID, WsEndpoint string }
	if err := h.call(ctx, "start_transcription", map[string]any{"language": "en"}, &s); err != nil {
		return nil, err
	}
	return &tracked{h: h, id: s.SessionID, endpoint: s.WsEndpoint + "&encoding=linear16&sample_rate=16000&channels=1"}, nil
}

// speak sends sound in real time to its end, as a microphone does that nobody
// can stop: when the connection breaks it comes back and goes on from where the
// hub says, with all that was said meanwhile.
func (s *tracked) speak(ctx context.Context, pcm []int16) error {
	sound := wireSound(pcm)
	begun := time.Now()
	for {
		reason, err := s.speakOnce(ctx, sound, begun)
		switch {
		case reason == hearken.StopFinished:
			return nil
		case reason != "":
			return fmt.Errorf("the session ended after %.0f s: %s", time.Since(begun).Seconds(), reason)
		case errors.Is(err, errForgot) || ctx.Err() != nil:
			return cmp.Or(err, ctx.Err())
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// errForgot is what a hub must never make true.
var errForgot = errors.New("the hub asks again for sound that it had acknowledged")

// speakOnce sends over one connection and tells why the session has ended; ""
// if only the connection has.
func (s *tracked) speakOnce(ctx context.Context, sound []byte, begun time.Time) (reason string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, _, err := websocket.Dial(ctx, s.endpoint, nil)
	if err != nil {
		return "", err
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	var first frame
	if err := readFrame(ctx, c, &first); err != nil {
		return "", err
	}
	if first.Type != "ready" {
		return "", fmt.Errorf("the first frame is %q", first.Type)
	}
	s.connects++
	if first.ReceivedSamples < s.acked {
		return "", fmt.Errorf("%w: %d samples, now %d", errForgot, s.acked, first.ReceivedSamples)
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			var f frame
			if readFrame(ctx, c, &f) != nil {
				return
			}
			switch f.Type {
			case "ack":
				s.acked = f.Samples // read again only after heard
			case "closed":
				reason = f.Reason // as this is
			}
		}
	}()
	const size = 3200
	for at := 2 * first.ReceivedSamples; at < len(sound) && err == nil; at += size {
		end := min(at+size, len(sound))
		wait(ctx, time.Until(begun.Add(position(end/2))))
		err = c.Write(ctx, websocket.MessageBinary, sound[at:end])
	}
	if err == nil {
		err = c.Write(ctx, websocket.MessageText, []byte(`{"type":"finish"}`))
	}
	if err != nil {
		cancel()
	}
	<-heard
	return reason, err
}

// A frame is what the hub says to a sender, as far as it matters here.
type frame struct {
	Type            string
	ReceivedSamples int
	Samples         int
	Reason          string
}

func readFrame(ctx context.Context, c *websocket.Conn, f *frame) error {
	_, data, err := c.Read(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, f)
}

// settled waits until the session is stopped and owes no words.
func (s *tracked) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	for {
		var status struct {
			Status, StopReason          string
			OwedSeconds, DroppedSeconds float64
		}
		if err := s.h.call(ctx, "get_session_status", map[string]any{"sessionId": s.id}, &status); err != nil {
			return err
		}
		if status.Status == string(hearken.Stopped) && status.OwedSeconds == 0 {
			if status.StopReason != hearken.StopFinished || status.DroppedSeconds > 0 {
				return fmt.Errorf("the session stopped: %s, %.1f s dropped", status.StopReason, status.DroppedSeconds)
			}
			return nil
		}
		wait(ctx, 500*time.Millisecond)
	}
}

// segments is the whole transcript, in the order in which it was said.
func (s *tracked) segments(ctx context.Context) ([]hearken.Segment, error) {
	var all []hearken.Segment
	for from := 0; ; {
		var page struct {
			Data        string
			Truncated   bool
			NextSegment int
		}
		if err := s.h.call(ctx, "export_session", map[string]any{"sessionId": s.id, "format": "json", "fromSegment": from}, &page); err != nil {
			return nil, err
		}
		var doc struct{ Segments []hearken.Segment }
		if err := json.Unmarshal([]byte(page.Data), &doc); err != nil {
			return nil, err
		}
		all = append(all, doc.Segments...)
		if from = page.NextSegment; !page.Truncated {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b hearken.Segment) int { return cmp.Compare(a.StartTime, b.StartTime) })
	return all, nil
}

// ready waits until the hub could transcribe.
func (h *hub) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		wait(ctx, 50*time.Millisecond)
	}
	return fmt.Errorf("the hub is not ready: %s", h.logs)
}
