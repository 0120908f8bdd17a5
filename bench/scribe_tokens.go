package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/toon"
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
	clips, err := referenced(ctx)
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

// seedTalk stores a capture in which two sides say what the recordings hold,
// with their lengths.
func seedTalk(ctx context.Context, dir string, clips []*clip) error {
	db, err := sqlite.Open(ctx, filepath.Join(dir, "hearken.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	clips = slices.DeleteFunc(slices.Clone(clips), func(c *clip) bool { return c.seconds() > 15 })
	started := time.Date(2026, 11, 5, 9, 30, 0, 0, time.UTC)
	var entries []hearken.Segment
	at := 2.0
	for i := range tailLength {
		c := clips[i%len(clips)]
		confidence := 0.80 + float64(i*7%20)/100
		entries = append(entries, hearken.Segment{
			ID: fmt.Sprintf("M0-%d", i+1), Line: i + 1, Origin: []hearken.Origin{hearken.Microphone, hearken.System}[i%2],
			Status: hearken.Confirmed, Text: sentence(c.reference), Words: []hearken.Word{}, StartTime: at, EndTime: at + c.seconds(),
			Confidence: &confidence, Language: "en", IsFinal: true, Durable: true,
			Timestamp: started.Add(time.Duration(at * float64(time.Second))),
		})
		at += c.seconds() + 0.8
	}
	stopped := started.Add(time.Duration(at * float64(time.Second)))
	return db.Save(ctx, &hearken.Session{
		ID: uuid.NewString(), Status: hearken.Stopped, StopReason: hearken.StopFinished, Language: "en", Provider: "local",
		StartedAt: started, StoppedAt: &stopped, Duration: at, SegmentCount: len(entries), Principal: "local",
		Config: hearken.SessionConfig{Capture: true, Channels: 2},
	}, entries)
}

// sentence writes a reference as an engine does.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// asJSON is the transcript of a tail in JSON, with the names and values of its
// columns.
func asJSON(tail string, entries int) (string, error) {
	o, err := toon.Decode([]byte(tail))
	if err != nil {
		return "", err
	}
	for _, f := range o {
		table, ok := f.Value.(toon.Table)
		if !ok {
			continue
		}
		if len(table.Rows) != entries {
			return "", fmt.Errorf("the tail has %d entries, not %d", len(table.Rows), entries)
		}
		var b bytes.Buffer
		for i, row := range table.Rows {
			for c, name := range table.Columns {
				value, err := json.Marshal(row[c])
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[c == 0], name, value)
			}
			b.WriteString("}")
			if i < len(table.Rows)-1 {
				b.WriteString(",")
			}
		}
		return `{"transcript":[` + b.String() + "]}", nil
	}
	return "", errors.New("no table in the tail")
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
