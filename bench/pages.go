package main

import (
	"context"
	"path/filepath"
	"time"
)

// measurePages reads the newest 50 entries of a long session and of a short
// one, in turns.
func measurePages(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "pages")
	const short = 1000 // so many that none is read twice within a second
	counts := make([]int, short+1)
	for i := range counts {
		counts[i] = 100
	}
	counts[0] = 100000
	ids, err := seed(ctx, dir, counts)
	if err != nil {
		return err
	}
	h, err := b.startHub(ctx, dir)
	if err != nil {
		return err
	}
	defer h.stop()
	c, err := newCaller(ctx, h.url, modern)
	if err != nil {
		return err
	}
	n, rounds := 300, 7
	if b.quick {
		n, rounds = 50, 3
	}
	var ratios []float64
	var long sample
	for range rounds {
		var times [2]sample
		for i := range 2 * n {
			args := map[string]any{"sessionId": ids[0], "fromSegment": -50 - i, "limit": 50}
			if i%2 == 1 {
				args = map[string]any{"sessionId": ids[1+i/2%short], "fromSegment": -50, "limit": 50}
			}
			body, err := c.request("get_transcription", args)
			if err != nil {
				return err
			}
			t := time.Now()
			if _, err := c.post(ctx, "tools/call", "get_transcription", body); err != nil {
				return err
			}
			times[i%2] = append(times[i%2], time.Since(t))
		}
		ratios = append(ratios, ms(times[0].at(0.5))/ms(times[1].at(0.5)))
		long = append(long, times[0]...)
	}
	b.rows.add("newest 50 of 100,000 entries against newest 50 of 100", "max", 1.5, median(ratios), "", spread(ratios))
	b.rows.add("newest 50 of 100,000 entries, p50", "", 0, ms(long.at(0.5)), "ms", "")
	return nil
}
