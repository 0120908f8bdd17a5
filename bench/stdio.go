package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// benchStdio times how an agent starts: a new process, until it has the tools.
func benchStdio(b *bench) {
	dir := b.dataDir()
	fillStore(b, dir, make([]int, 10000))
	n := pick(b, 40, 8)
	h := b.hub(dir)
	var joined, started durations
	for range n {
		joined = append(joined, listTools(b, h, nil))
	}
	h.Stop()
	b.report("`hearken --stdio`, start to tools/list, hub running, p50", atMost(50), joined.ms(0.5), "ms",
		fmt.Sprintf("p95 %.0f ms, %d starts", joined.ms(0.95), n))
	for range n {
		started = append(started, listTools(b, h, []string{"IDLE_MINUTES=0.02"}))
		hubtest.WaitEnded(b, dir)
	}
	b.report("`hearken --stdio`, start to tools/list, hub must start, p95", atMost(100), started.ms(0.95), "ms",
		fmt.Sprintf("p50 %.0f ms, %d starts", started.ms(0.5), n))
}

// listTools is how long a client's process takes from its start to the answer
// to tools/list.
func listTools(b *bench, h *hubtest.Hub, env []string) time.Duration {
	began := time.Now()
	s := hubtest.StartStdio(b, slices.Concat(h.Env, env), "", h.Bin, "--stdio")
	s.Request("tools/list", map[string]any{})
	took := time.Since(began)
	s.Close()
	return took
}
