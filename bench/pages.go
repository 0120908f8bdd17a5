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
	ids, err := seed(ctx, dir, []int{100000, 100})
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
			body, err := c.request("get_transcription", map[string]any{"sessionId": ids[i%2], "fromSegment": -50, "limit": 50})
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
