package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

// tailLength is how many entries the tail has whose tokens are counted.
const tailLength = 100

// measureScribeTokens counts what a tail of a real talk costs an agent, against
// the same entries as JSON without a needless space.
func measureScribeTokens(ctx context.Context, b *bench) error {
	modules, scripts, err := b.installScribePeers(ctx)
	if err != nil {
		return err
	}
	clips, err := referenced()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "tokens")
	if err := seedTalk(ctx, dir, clips); err != nil {
		return err
	}
	h, err := b.startHub(ctx, dir, "SCRIBE_BACKEND=native")
	if err != nil {
		return err
	}
	defer h.stop()
	var full, compact []float64
	var counts [][]int
	for _, n := range []int{tailLength, tailLength / 2, tailLength / 5} {
		texts := make([]string, 3)
		for i, format := range []string{"toon", "compact"} {
			if texts[i], err = h.text(ctx, "pscribe_tail", map[string]any{"n": n, "format": format}); err != nil {
				return err
			}
		}
		if texts[2], err = asJSON(texts[0], n); err != nil {
			return err
		}
		tokens, err := countTokens(ctx, modules, scripts, texts)
		if err != nil {
			return err
		}
		counts = append(counts, tokens)
		full = append(full, float64(tokens[0])/float64(tokens[2]))
		compact = append(compact, float64(tokens[1])/float64(tokens[2]))
	}
	of := func(list []float64, i int) string {
		return fmt.Sprintf("%d of %d tokens (o200k_base); tails of 50 and 20 entries: %.2f and %.2f", counts[0][i], counts[0][2], list[1], list[2])
	}
	b.rows.add("tokens of a 100-entry `pscribe_tail` with the specification's columns, against compact JSON", "max", 0.75, full[0], "", of(full, 0))
	b.rows.add("tokens of a 100-entry `pscribe_tail`, format compact, against compact JSON", "max", 0.5, compact[0], "", of(compact, 1))
	return nil
}

// seedTalk stores a capture in which two sides say in turns what the engine
// hears in the recordings.
func seedTalk(ctx context.Context, dir string, clips []*clip) (err error) {
	p, err := openEngine(ctx, moonshine.Config{})
	if err != nil {
		return err
	}
	defer closeEngine(ctx, p)
	started := time.Date(2026, 11, 5, 9, 30, 0, 0, time.UTC)
	var entries []hearken.Segment
	at := 0.0
	for i := 0; len(entries) < tailLength && i < len(clips); i++ {
		heard, err := hearWhole(ctx, p, clips[i].pcm)
		if err != nil {
			return err
		}
		for _, seg := range heard {
			seg.Line = len(entries) + 1
			seg.ID, seg.Origin = fmt.Sprintf("M0-%d", seg.Line), []hearken.Origin{hearken.Microphone, hearken.System}[i%2]
			seg.StartTime, seg.EndTime = at+seg.StartTime, at+seg.EndTime
			seg.Timestamp = started.Add(time.Duration(seg.StartTime * float64(time.Second)))
			seg.Words, seg.Durable = []hearken.Word{}, true
			entries = append(entries, seg)
		}
		at += clips[i].seconds()
	}
	if len(entries) < tailLength {
		return fmt.Errorf("the recordings have only %d entries", len(entries))
	}
	db, err := sqlite.Open(ctx, filepath.Join(dir, "hearken.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	stopped := started.Add(time.Duration(at * float64(time.Second)))
	return db.Save(ctx, &hearken.Session{
		ID: uuid.NewString(), Status: hearken.Stopped, StopReason: hearken.StopFinished, Language: "en", Provider: "local",
		StartedAt: started, StoppedAt: &stopped, Duration: at, SegmentCount: len(entries), Principal: "local",
		Config: hearken.SessionConfig{Capture: true, Channels: 2},
	}, entries)
}

// asJSON is the same answer in JSON without a needless space, and with the
// names of the columns in each entry.
func asJSON(tail string, entries int) (string, error) {
	o, err := toontest.Decode([]byte(tail))
	if err != nil {
		return "", err
	}
	var fields []string
	found := 0
	for _, f := range o {
		table, ok := f.Value.(toon.Table)
		if !ok {
			fields = append(fields, fmt.Sprintf("%q:%s", f.Key, inJSON(f.Value)))
			continue
		}
		found = len(table.Rows)
		rows := make([]string, found)
		for i, row := range table.Rows {
			cells := make([]string, len(row))
			for c, v := range row {
				cells[c] = fmt.Sprintf("%q:%s", table.Columns[c], inJSON(v))
			}
			rows[i] = "{" + strings.Join(cells, ",") + "}"
		}
		fields = append(fields, fmt.Sprintf("%q:[%s]", f.Key, strings.Join(rows, ",")))
	}
	if found != entries {
		return "", fmt.Errorf("the tail has %d entries, not %d", found, entries)
	}
	return "{" + strings.Join(fields, ",") + "}", nil
}

// inJSON is a plain value in JSON.
func inJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // TOON has no value that JSON has not
	}
	return b
}

// countTokens counts with a real tokenizer.
func countTokens(ctx context.Context, modules, scripts string, texts []string) (counts []int, err error) {
	var in bytes.Buffer
	for _, t := range texts {
		if err := json.NewEncoder(&in).Encode(t); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(scripts, "tokens.mjs"), modules)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("count tokens: %w", err)
	}
	for field := range strings.FieldsSeq(string(out)) {
		var n int
		if _, err := fmt.Sscan(field, &n); err != nil {
			return nil, err
		}
		counts = append(counts, n)
	}
	if len(counts) != len(texts) {
		return nil, fmt.Errorf("%d counts for %d texts", len(counts), len(texts))
	}
	return counts, nil
}
