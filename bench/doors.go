package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// measureDoors holds the tools that clients call most against a server of the
// same SDK that does nothing but return the same bytes.
func measureDoors(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "doors")
	counts := make([]int, 2000)
	for i := range counts {
		counts[i] = 60
	}
	ids, err := seed(ctx, dir, counts)
	if err != nil {
		return err
	}
	h, err := b.startHub(ctx, dir)
	if err != nil {
		return err
	}
	defer h.stop()
	var pages []any // every session, so that none is read more often than people would
	for _, id := range ids {
		pages = append(pages, map[string]any{"sessionId": id, "limit": 50})
	}
	calls := []struct {
		tool string
		args []any
	}{
		{"list_sessions", []any{map[string]any{}}},
		{"get_transcription", pages},
	}
	answers := map[string]json.RawMessage{}
	for _, c := range calls {
		var answer json.RawMessage
		if err := h.call(ctx, c.tool, c.args[0], &answer); err != nil {
			return err
		}
		answers[c.tool] = answer
	}
	bare, stop, err := b.startBare(ctx, answers)
	if err != nil {
		return err
	}
	defer stop()

	round, rounds := 2*time.Second, 7
	if b.quick {
		round, rounds = 500*time.Millisecond, 3
	}
	for _, version := range []string{legacy, modern} {
		for _, c := range calls {
			var ratios, p99s, rates []float64
			for range rounds {
				theirs, theirTimes, err := load(ctx, bare, version, c.tool, c.args, 32, round)
				if err != nil {
					return fmt.Errorf("bare server: %w", err)
				}
				ours, ourTimes, err := load(ctx, h.url, version, c.tool, c.args, 32, round)
				if err != nil {
					return err
				}
				rates = append(rates, ours)
				ratios = append(ratios, ours/theirs)
				p99s = append(p99s, ms(ourTimes.at(0.99))/ms(theirTimes.at(0.99)))
			}
			name := fmt.Sprintf("`%s` (%d kB, protocol %s)", c.tool, len(answers[c.tool])>>10, version)
			b.rows.add(name+", throughput against the bare SDK", "min", 0.8, median(ratios), "", spread(ratios))
			b.rows.add(name+", p99 against the bare SDK", "max", 1.5, median(p99s), "", spread(p99s))
			b.rows.add(name+", 32 clients", "", 0, median(rates), "calls/s", spread(rates))
		}
	}
	return nil
}

// startBare runs this program as the bare server.
func (b *bench) startBare(ctx context.Context, answers map[string]json.RawMessage) (url string, stop func(), err error) {
	data, err := json.Marshal(answers)
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(b.dir, "answers.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, bareCommand, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("bare server: %w", errors.Join(err, cmd.Wait()))
	}
	return strings.TrimSpace(line), func() { end(cmd, syscall.SIGTERM) }, nil
}
