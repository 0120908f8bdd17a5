package main

import (
	"fmt"
	"strconv"
	"time"
)

// benchSearch searches a million entries for rare words, common words, pairs of
// words and phrases.
func benchSearch(b *bench) {
	counts := make([]int, pick(b, 2000, 100))
	for i := range counts {
		counts[i] = 500
	}
	entries := thousands(500 * len(counts))
	dir := b.dataDir()
	began := time.Now()
	fillStore(b, dir, counts)
	b.report("writing "+entries+" entries with their index", noTarget, time.Since(began).Seconds(), "s", "")
	c := newClient(b, b.hub(dir).URL, modern)
	vocab := newTalker().vocab
	var all durations
	for _, kind := range []struct {
		name  string
		query func(i int) string
	}{
		{"rare words", func(i int) string { return vocab[20000+i*97%9000] }},
		{"common words", func(i int) string { return vocab[i%40] }},
		{"two words", func(i int) string { return vocab[i%60] + " " + vocab[100+i*31%3000] }},
		{"phrases", func(i int) string { return fmt.Sprintf("%q", vocab[i%20]+" "+vocab[i*7%20]) }},
	} {
		var times durations
		for i := range pick(b, 100, 20) {
			t := time.Now()
			b.check(c.call(b.ctx, "search_transcripts", map[string]any{"query": kind.query(i)}))
			times = append(times, time.Since(t))
		}
		b.report("search, "+kind.name+", p95", noTarget, times.ms(0.95), "ms", fmt.Sprintf("p50 %.1f ms", times.ms(0.5)))
		all = append(all, times...)
	}
	b.report("search over "+entries+" entries, the mix, p95", atMost(20), all.ms(0.95), "ms",
		fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", all.ms(0.5), all.ms(0.99)))
}

// thousands writes a large number with commas.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
