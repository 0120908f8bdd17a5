package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// liveHub is a hub within this process whose engine is a [stamper].
func liveHub(b *bench, spoolMemory bool) *live.Hub {
	dir := b.dataDir()
	db, err := sqlite.Open(b.ctx, filepath.Join(dir, "hearken.db"))
	b.check(err)
	b.Cleanup(func() { _ = db.Close() }) // the data is of no more use
	h, err := live.Open(b.ctx, live.Config{Dir: dir, Store: db, Providers: []hearken.Provider{stamper{}}, DefaultLanguage: "en", SpoolMemory: spoolMemory})
	b.check(err)
	b.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// benchFollow times a segment from the engine, through the journal, to readers
// that wait for it.
func benchFollow(b *bench) {
	h := liveHub(b, false)
	n := pick(b, 200, 30)
	const sessions = 10
	var mu sync.Mutex
	var times durations
	var group sync.WaitGroup
	for range sessions {
		s, err := h.Start(b.ctx, hearken.StartRequest{})
		b.check(err)
		in, err := h.Attach(b.ctx, s.ID, "bench")
		b.check(err)
		group.Go(func() {
			frame := make([]int16, hearken.SampleRate/10)
			for range n {
				hubtest.Sleep(b.ctx, 20*time.Millisecond)
				if in.Write(frame) != nil {
					return // too few segments will be seen
				}
			}
		})
		group.Go(func() {
			for from := 0; from < n; {
				page, err := h.Read(b.ctx, live.ReadRequest{Session: s.ID, From: from, Wait: 5 * time.Second})
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
		b.Fatalf("readers saw %d segments of %d", len(times), want)
	}
	b.report("confirmed segment to a waiting reader, 10 sessions, p99", atMost(20), times.ms(0.99), "ms",
		fmt.Sprintf("p50 %.2f ms, highest %.1f ms", times.ms(0.5), times.ms(1)))
}

// A stamper is an engine that confirms a segment for each frame, whose text is
// the time in nanoseconds.
type stamper struct{}

func (stamper) Name() string                                      { return "stamper" }
func (stamper) Capabilities() hearken.Capabilities                { return hearken.Capabilities{} }
func (stamper) Check(context.Context, hearken.StreamConfig) error { return nil }
func (stamper) Open(context.Context, hearken.StreamConfig) (hearken.Stream, error) {
	return &stamperStream{make(chan hearken.StreamEvent, 1024)}, nil
}

type stamperStream struct{ events chan hearken.StreamEvent }

func (s *stamperStream) Write(f hearken.Frame) error {
	start := float64(f.Pos) / hearken.SampleRate
	s.events <- hearken.StreamEvent{Kind: hearken.Final, FinalUntil: f.Pos + int64(len(f.PCM)), Segment: hearken.Segment{
		Text: fmt.Sprint(time.Now().UnixNano()), StartTime: start, EndTime: start + 0.1,
	}}
	return nil
}

func (s *stamperStream) Finalize() error { return nil }

func (s *stamperStream) Events() <-chan hearken.StreamEvent { return s.events }

func (s *stamperStream) Close() error {
	close(s.events)
	return nil
}
