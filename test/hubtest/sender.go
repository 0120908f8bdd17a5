package hubtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/audio"
)

// A Session is a transcription and the sender of its audio.
type Session struct {
	ID          string
	Connections int      // how often the sender was let in
	Errors      []string // what the hub complained about

	program  *Program
	endpoint string
	acked    int // samples that the hub said it has
}

// StartSession starts a transcription with these arguments.
func (p *Program) StartSession(ctx context.Context, args map[string]any) (*Session, error) {
	var s struct{ SessionID, WSEndpoint string }
	if err := p.Call(ctx, "start_transcription", args, &s); err != nil {
		return nil, err
	}
	return &Session{ID: s.SessionID, program: p, endpoint: s.WSEndpoint + "&encoding=linear16&sample_rate=16000&channels=1"}, nil
}

// Send sends audio over one connection, speed times as fast as it was spoken,
// from where the hub says it stopped to the end.
func (s *Session) Send(ctx context.Context, pcm []int16, speed float64) error {
	_, err := s.send(ctx, pcm, speed, time.Time{}, false)
	return err
}

// errForgot means that the hub has lost audio that it had acknowledged.
var errForgot = errors.New("the hub asks again for audio that it had acknowledged")

// SendAll sends audio in real time and finishes the session. When the
// connection breaks it reconnects and sends what was said meanwhile.
func (s *Session) SendAll(ctx context.Context, pcm []int16) error {
	began := time.Now()
	for {
		reason, err := s.send(ctx, pcm, 1, began, true)
		switch {
		case reason == hearken.StopFinished:
			return nil
		case reason != "":
			return fmt.Errorf("the session ended after %.0f s: %s", time.Since(began).Seconds(), reason)
		case errors.Is(err, errForgot) || ctx.Err() != nil:
			return cmp.Or(err, ctx.Err())
		}
		Sleep(ctx, 100*time.Millisecond)
	}
}

// A senderMessage is what the hub says to a sender.
type senderMessage struct {
	Type            string
	ReceivedSamples int
	Samples         int
	Reason          string
}

// send sends over one connection. The audio began at the given time, or if
// that is zero at the first frame. It returns why the session has ended, or ""
// if only the connection has.
func (s *Session) send(ctx context.Context, pcm []int16, speed float64, began time.Time, finish bool) (reason string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, s.endpoint, nil)
	if err != nil {
		return "", err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	first, _, err := readMessage(ctx, conn)
	if err != nil {
		return "", err
	}
	if first.Type != "ready" {
		return "", fmt.Errorf("the first message is %q", first.Type)
	}
	s.Connections++
	if first.ReceivedSamples < s.acked {
		return "", fmt.Errorf("%w: it had %d samples and has %d", errForgot, s.acked, first.ReceivedSamples)
	}
	done := make(chan struct{})
	go func() { // s and reason are read only after done
		defer close(done)
		for {
			m, raw, err := readMessage(ctx, conn)
			if err != nil {
				return
			}
			switch m.Type {
			case "ack":
				s.acked = m.Samples
			case "closed":
				reason = m.Reason
			case "error", "dropped":
				s.Errors = append(s.Errors, raw)
			}
		}
	}()
	if began.IsZero() {
		began = time.Now().Add(-duration(first.ReceivedSamples, speed))
	}
	const frame = hearken.SampleRate / 10
	for at := first.ReceivedSamples; at < len(pcm) && err == nil; at += frame {
		end := min(at+frame, len(pcm))
		Sleep(ctx, time.Until(began.Add(duration(end, speed))))
		err = conn.Write(ctx, websocket.MessageBinary, audio.AppendBytes(nil, pcm[at:end]))
	}
	if err == nil && finish {
		err = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"finish"}`))
	}
	switch {
	case err != nil:
		cancel()
	case !finish:
		conn.Close(websocket.StatusGoingAway, "") // after all that was sent; 1000 would finish
	}
	<-done
	return reason, err
}

func duration(samples int, speed float64) time.Duration {
	return time.Duration(float64(samples) / hearken.SampleRate / speed * float64(time.Second))
}

func readMessage(ctx context.Context, conn *websocket.Conn) (m senderMessage, raw string, err error) {
	_, data, err := conn.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, string(data), err
}

// A Status is what get_session_status says about a session.
type Status struct {
	Status, StopReason          string
	Duration                    float64
	OwedSeconds, DroppedSeconds float64
}

// Status is the session's status.
func (s *Session) Status(ctx context.Context) (st Status, err error) {
	err = s.program.Call(ctx, "get_session_status", map[string]any{"sessionId": s.ID}, &st)
	return st, err
}

// WaitStopped waits until the session is stopped and its backlog transcribed.
func (s *Session) WaitStopped(ctx context.Context, timeout time.Duration) (st Status, err error) {
	err = Poll(ctx, timeout, 200*time.Millisecond, func() (bool, error) {
		st, err = s.Status(ctx)
		return st.Status == string(hearken.Stopped) && st.OwedSeconds == 0, err
	})
	return st, err
}

// Segments is the whole transcript with its words, in the order of speech.
func (s *Session) Segments(ctx context.Context) ([]hearken.Segment, error) {
	var all []hearken.Segment
	for from := 0; ; {
		var page struct {
			Data        string
			Truncated   bool
			NextSegment int
		}
		if err := s.program.Call(ctx, "export_session", map[string]any{"sessionId": s.ID, "format": "json", "fromSegment": from}, &page); err != nil {
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
