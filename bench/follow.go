package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// measureFollow times the way of a segment from the engine, through the
// journal, to readers that wait for it.
func measureFollow(ctx context.Context, b *bench) (err error) {
	dir := filepath.Join(b.dir, "follow")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, filepath.Join(dir, "hearken.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	engine := &stamping{}
	h, err := live.Open(ctx, live.Config{Dir: dir, Store: db, Providers: []hearken.Provider{engine}, DefaultLanguage: "en"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(ctx)) }()
	n := 200
	if b.quick {
		n = 30
	}
	const sessions = 10
	var mu sync.Mutex
	var times sample
	var group sync.WaitGroup
	for range sessions {
		s, err := h.Start(ctx, live.StartRequest{})
		if err != nil {
			return err
		}
		in, err := h.Attach(ctx, s.ID, "bench")
		if err != nil {
			return err
		}
		group.Go(func() {
			frame := make([]int16, hearken.SampleRate/10)
			for range n {
				wait(ctx, 20*time.Millisecond)
				if in.Write(frame) != nil {
					return // the segments are counted
				}
			}
		})
		group.Go(func() {
			for from := 0; from < n; {
				page, err := h.Read(ctx, live.ReadRequest{Session: s.ID, From: from, Wait: 5 * time.Second})
				now := time.Now()
				if err != nil || len(page.Segments) == 0 {
					return
				}
				mu.Lock()
				for _, seg := range page.Segments {
					var sent int64
					if _, err := fmt.Sscan(seg.Text, &sent); err == nil {
						times = append(times, now.Sub(time.Unix(0, sent)))
					}
				}
				mu.Unlock()
				from = page.Next
			}
		})
	}
	group.Wait()
	if want := sessions * n; len(times) != want {
		return fmt.Errorf("readers saw %d segments, want %d", len(times), want)
	}
	b.rows.add("confirmed segment to a waiting reader, 10 sessions, p99", "max", 20, ms(times.at(0.99)), "ms", fmt.Sprintf("p50 %.2f ms, highest %.1f ms", ms(times.at(0.5)), ms(times.at(1))))
	return nil
}

// stamping is an engine that confirms a segment for each frame, with the
// moment in it.
type stamping struct{}

func (*stamping) Name() string                                      { return "stamping" }
func (*stamping) Capabilities() hearken.Capabilities                { return hearken.Capabilities{} }
func (*stamping) Check(context.Context, hearken.StreamConfig) error { return nil }
func (*stamping) Open(context.Context, hearken.StreamConfig) (hearken.Stream, error) {
	return &stamped{events: make(chan hearken.StreamEvent, 1024)}, nil
}

type stamped struct{ events chan hearken.StreamEvent }

func (s *stamped) Write(f hearken.Frame) error {
	start := float64(f.Pos) / hearken.SampleRate
	s.events <- hearken.StreamEvent{Kind: hearken.Final, FinalUntil: f.Pos + int64(len(f.PCM)), Segment: hearken.Segment{
		Text: fmt.Sprint(time.Now().UnixNano()), StartTime: start, EndTime: start + 0.1,
	}}
	return nil
}

func (s *stamped) Finalize() error { return nil }

func (s *stamped) Events() <-chan hearken.StreamEvent { return s.events }

func (s *stamped) Close() error {
	close(s.events)
	return nil
}
