package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/scribe"
	"github.com/hearken-dev/hearken/store/sqlite"
)

// A long and a short capture, in entries of five seconds.
const (
	eightHours  = 8 * 3600 / 5
	fiveMinutes = 5 * 60 / 5
)

// measureScribePages polls the end of a long capture and of a short one, in
// turns, both while they go on and when they are over.
func measureScribePages(ctx context.Context, b *bench) error {
	var tails [2]func() error
	for i, entries := range []int{eightHours, fiveMinutes} {
		c, err := openCapture(ctx, filepath.Join(b.dir, fmt.Sprint("capture-", entries)), entries)
		if err != nil {
			return err
		}
		defer c.close(ctx)
		tails[i] = func() error { return c.tail(ctx, entries-9) }
	}
	ratios, times, err := inTurns(b, tails)
	if err != nil {
		return err
	}
	b.rows.add("`pscribe_tail` with since_line in an eight-hour capture against one of five minutes, both going on", "max", 1.5, median(ratios), "", spread(ratios))
	b.rows.add("`pscribe_tail` with since_line in an eight-hour capture, p50", "", 0, ms(times.at(0.5)), "ms", "the last 10 entries, within one process")

	dir := filepath.Join(b.dir, "captures")
	ids, err := seed(ctx, dir, []int{eightHours, fiveMinutes})
	if err != nil {
		return err
	}
	h, err := b.startHub(ctx, dir, "SCRIBE_BACKEND=native")
	if err != nil {
		return err
	}
	defer h.stop()
	for i, entries := range []int{eightHours, fiveMinutes} {
		tails[i] = func() error {
			_, err := h.text(ctx, "pscribe_tail", map[string]any{"session_id": ids[i], "since_line": entries - 9})
			return err
		}
	}
	if ratios, times, err = inTurns(b, tails); err != nil {
		return err
	}
	b.rows.add("`pscribe_tail` with since_line in an eight-hour session against one of five minutes, both over", "max", 1.5, median(ratios), "", spread(ratios))
	b.rows.add("`pscribe_tail` with since_line in an eight-hour session that is over, p50", "", 0, ms(times.at(0.5)), "ms", "the last 10 entries, over HTTP")
	return nil
}

// inTurns calls two things in turns and returns how long the first takes
// against the second, round by round, and the times of the first.
func inTurns(b *bench, calls [2]func() error) (ratios []float64, firsts sample, err error) {
	rounds, n := 7, 150
	if b.quick {
		rounds, n = 3, 40
	}
	for range rounds {
		var times [2]sample
		for i := range 2 * n {
			begun := time.Now()
			if err := calls[i%2](); err != nil {
				return nil, nil, err
			}
			times[i%2] = append(times[i%2], time.Since(begun))
		}
		ratios = append(ratios, ms(times[0].at(0.5))/ms(times[1].at(0.5)))
		firsts = append(firsts, times[0]...)
	}
	return ratios, firsts, nil
}

// A capturing is a scribe at work, with an agent that follows it.
type capturing struct {
	db     *sqlite.Store
	hub    *live.Hub
	scribe *scribe.Scribe
	agent  *mcp.ClientSession
}

// openCapture captures sound, faster than it could be spoken, until there are
// so many entries, and stays at it.
func openCapture(ctx context.Context, dir string, entries int) (_ *capturing, err error) {
	c := &capturing{}
	defer func() {
		if err != nil {
			c.close(ctx)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if c.db, err = sqlite.Open(ctx, filepath.Join(dir, "hearken.db")); err != nil {
		return nil, err
	}
	c.hub, err = live.Open(ctx, live.Config{Dir: dir, Store: c.db, Providers: []hearken.Provider{&stamping{}}, DefaultLanguage: "en", SpoolMemory: true})
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	sound := &fastSound{entries: entries, done: done, taken: func() int { return c.lines(ctx) }}
	c.scribe = scribe.New(scribe.Config{Hub: c.hub, Capture: func(context.Context) (hearken.Capture, error) { return sound, nil }, Principal: "local"})
	if _, err := c.scribe.Start(ctx); err != nil {
		return nil, err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	here, there := mcp.NewInMemoryTransports()
	server := mcpserver.New(mcpserver.Options{Hub: c.hub, Scribe: c.scribe}).Server(hearken.Caller{Principal: "local"})
	go func() { _ = server.Run(ctx, there) }() // until the agent leaves
	c.agent, err = mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, here, nil)
	return c, err
}

// lines is how many entries there are.
func (c *capturing) lines(ctx context.Context) int {
	st, err := c.scribe.Status(ctx)
	if err != nil {
		return 0
	}
	page, err := c.hub.Read(ctx, live.ReadRequest{Session: st.Session, From: -1, Limit: 1})
	if err != nil {
		return 0
	}
	return page.Total
}

func (c *capturing) tail(ctx context.Context, since int) error {
	res, err := c.agent.CallTool(ctx, &mcp.CallToolParams{Name: "pscribe_tail", Arguments: map[string]any{"since_line": since}})
	if err == nil && res.IsError {
		err = errors.New("pscribe_tail failed")
	}
	return err
}

func (c *capturing) close(ctx context.Context) {
	var errs []error
	if c.agent != nil {
		errs = append(errs, c.agent.Close())
	}
	if c.scribe != nil {
		errs = append(errs, c.scribe.Close(ctx))
	}
	if c.hub != nil {
		errs = append(errs, c.hub.Close(ctx))
	}
	if c.db != nil {
		errs = append(errs, c.db.Close())
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintf(os.Stderr, "    the capture was not closed: %v\n", err)
	}
}

// fastSound is sound of five seconds for each entry, as fast as it is taken.
type fastSound struct {
	entries int
	taken   func() int
	done    chan struct{}
}

func (f *fastSound) Run(ctx context.Context, deliver func(channels ...[]int16) error) error {
	frame := make([]int16, 5*hearken.SampleRate)
	for i := 1; i <= f.entries; i++ {
		if err := deliver(frame); err != nil {
			return err
		}
		for i%32 == 0 && f.taken() < i-32 || i == f.entries && f.taken() < i { // the spool has an end
			if wait(ctx, time.Millisecond); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	close(f.done)
	<-ctx.Done()
	return nil
}

func (*fastSound) Notes() []string   { return nil }
func (*fastSound) Levels() []float64 { return nil }
