package main

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// benchScribePages polls the end of a long capture and of a short one, in
// turns, both while they run and when they are over.
func benchScribePages(b *bench) {
	entries := [2]int{8 * 3600 / 5, 5 * 60 / 5} // of five seconds: eight hours and five minutes
	rounds, n := pick(b, 7, 3), pick(b, 150, 40)
	var tails [2]func(int)
	for i := range entries {
		agent := openCapture(b, entries[i])
		tails[i] = func(int) {
			res, err := agent.CallTool(b.ctx, &mcp.CallToolParams{Name: "pscribe_tail", Arguments: map[string]any{"since_line": entries[i] - 9}})
			b.check(err)
			if res.IsError {
				b.Fatalf("pscribe_tail: %v", res.Content)
			}
		}
	}
	ratios, times := inTurns(rounds, n, tails)
	b.report("`pscribe_tail` with since_line in an eight-hour capture against one of five minutes, both running", atMost(1.5), median(ratios), "", spread(ratios))
	b.report("`pscribe_tail` with since_line in an eight-hour capture, p50", noTarget, times.ms(0.5), "ms", "the last 10 entries, within one process")

	dir := b.dataDir()
	ids := fillStore(b, dir, entries[:])
	h := b.hub(dir, "SCRIBE_BACKEND=native")
	for i := range entries {
		tails[i] = func(int) {
			_, err := h.CallText(b.ctx, "pscribe_tail", map[string]any{"session_id": ids[i], "since_line": entries[i] - 9})
			b.check(err)
		}
	}
	ratios, times = inTurns(rounds, n, tails)
	b.report("`pscribe_tail` with since_line in an eight-hour session against one of five minutes, both over", atMost(1.5), median(ratios), "", spread(ratios))
	b.report("`pscribe_tail` with since_line in an eight-hour session that is over, p50", noTarget, times.ms(0.5), "ms", "the last 10 entries, over HTTP")
}

// openCapture captures audio, faster than real time, until there are so many
// entries. The capture then continues, and an agent can follow it.
func openCapture(b *bench, entries int) *mcp.ClientSession {
	h := liveHub(b, true)
	source := &fastCapture{entries: entries, done: make(chan struct{})}
	s := scribe.New(scribe.Config{Hub: h, Capture: func(context.Context) (hearken.Capture, error) { return source, nil }, Principal: "local"})
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	source.confirmed = func() int {
		st, err := s.Status(b.ctx)
		if err != nil {
			return 0
		}
		page, err := h.Read(b.ctx, live.ReadRequest{Session: st.Session, From: -1, Limit: 1})
		if err != nil {
			return 0
		}
		return page.Total
	}
	_, err := s.Start(b.ctx, hearken.CaptureRequest{})
	b.check(err)
	select {
	case <-source.done:
	case <-b.ctx.Done():
		b.Fatal(b.ctx.Err())
	}
	ours, theirs := mcp.NewInMemoryTransports()
	server := mcpserver.New(mcpserver.Options{Hub: h, Scribe: s}).Server(hearken.Caller{Principal: "local"})
	go func() { _ = server.Run(b.ctx, theirs) }() // until the agent leaves
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.ctx, ours, nil)
	b.check(err)
	b.Cleanup(func() { _ = agent.Close() })
	return agent
}

// A fastCapture delivers five seconds of audio for each entry, as fast as they
// are confirmed.
type fastCapture struct {
	entries   int
	confirmed func() int
	done      chan struct{}
}

func (f *fastCapture) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	frame := make([]int16, 5*hearken.SampleRate)
	for i := 1; i <= f.entries; i++ {
		if err := deliver(frame); err != nil {
			return err
		}
		for i%32 == 0 && f.confirmed() < i-32 || i == f.entries && f.confirmed() < i { // the spool is bounded
			if !hubtest.Sleep(ctx, time.Millisecond) {
				return ctx.Err()
			}
		}
	}
	close(f.done)
	<-ctx.Done()
	return nil
}

func (*fastCapture) Notes() []string   { return nil }
func (*fastCapture) Levels() []float64 { return nil }
