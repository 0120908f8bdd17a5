package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// measureSearch searches a million entries for rare words, common words and
// pairs of words.
func measureSearch(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "search")
	counts := make([]int, 2000)
	if b.quick {
		counts = counts[:100]
	}
	for i := range counts {
		counts[i] = 500
	}
	begun := time.Now()
	if _, err := seed(ctx, dir, counts); err != nil {
		return err
	}
	b.rows.add("writing "+thousands(500*len(counts))+" entries with their index", "", 0, time.Since(begun).Seconds(), "s", "")
	h, err := b.startHub(ctx, dir)
	if err != nil {
		return err
	}
	defer h.stop()
	c, err := newCaller(ctx, h.url, modern)
	if err != nil {
		return err
	}
	t := newTalker()
	kinds := []struct {
		name  string
		query func(i int) string
	}{
		{"rare words", func(i int) string { return t.vocab[20000+i*97%9000] }},
		{"common words", func(i int) string { return t.vocab[i%40] }},
		{"two words", func(i int) string { return t.vocab[i%60] + " " + t.vocab[100+i*31%3000] }},
		{"phrases", func(i int) string { return fmt.Sprintf("%q", t.vocab[i%20]+" "+t.vocab[i*7%20]) }},
	}
	n := 100
	if b.quick {
		n = 20
	}
	var all sample
	for _, k := range kinds {
		var times sample
		for i := range n {
			body, err := c.request("search_transcripts", map[string]any{"query": k.query(i)})
			if err != nil {
				return err
			}
			t := time.Now()
			if _, err := c.post(ctx, "tools/call", "search_transcripts", body); err != nil {
				return err
			}
			times = append(times, time.Since(t))
		}
		b.rows.add("search, "+k.name+", p95", "", 0, ms(times.at(0.95)), "ms", fmt.Sprintf("p50 %.1f ms", ms(times.at(0.5))))
		all = append(all, times...)
	}
	b.rows.add("search over "+thousands(500*len(counts))+" entries, the mix, p95", "max", 20, ms(all.at(0.95)), "ms", fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", ms(all.at(0.5)), ms(all.at(0.99))))
	return nil
}

// thousands writes a large number as people read it.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
