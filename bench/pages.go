package main

// benchPages reads the newest 50 entries of a long session and of a short one,
// in turns.
func benchPages(b *bench) {
	const short = 1000 // so many that none is read twice within a second
	counts := make([]int, short+1)
	for i := range counts {
		counts[i] = 100
	}
	counts[0] = 100000
	dir := b.dataDir()
	ids := fillStore(b, dir, counts)
	c := newClient(b, b.hub(dir).URL, modern)
	ratios, long := inTurns(pick(b, 7, 3), pick(b, 300, 50), [2]func(int){
		func(i int) {
			b.check(c.call(b.ctx, "get_transcription", map[string]any{"sessionId": ids[0], "fromSegment": -50 - 2*i, "limit": 50}))
		},
		func(i int) {
			b.check(c.call(b.ctx, "get_transcription", map[string]any{"sessionId": ids[1+i%short], "fromSegment": -50, "limit": 50}))
		},
	})
	b.report("newest 50 of 100,000 entries against newest 50 of 100", atMost(1.5), median(ratios), "", spread(ratios))
	b.report("newest 50 of 100,000 entries, p50", noTarget, long.ms(0.5), "ms", "")
}
