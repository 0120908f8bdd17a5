package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/store/sqlite"
	"github.com/hearken-dev/hearken/stt/moonshine"
	"github.com/hearken-dev/hearken/test/speech"
	"github.com/hearken-dev/hearken/toon"
	"github.com/hearken-dev/hearken/toon/toontest"
)

// tailLength is the number of entries whose tokens are counted.
const tailLength = 100

// benchScribeTokens counts what a tail of real speech costs an agent, against
// the same entries as compact JSON.
func benchScribeTokens(b *bench) {
	modules, scripts := installScribePeers(b)
	dir := b.dataDir()
	storeCapture(b, dir)
	h := b.hub(dir, "SCRIBE_BACKEND=native")
	var full, compact []float64
	var counts [][]int
	for _, n := range []int{tailLength, tailLength / 2, tailLength / 5} {
		var texts []string
		for _, format := range []string{"toon", "compact"} {
			text, err := h.CallText(b.ctx, "pscribe_tail", map[string]any{"n": n, "format": format})
			b.check(err)
			texts = append(texts, text)
		}
		text, err := toJSON(texts[0], n)
		b.check(err)
		tokens := countTokens(b, modules, scripts, append(texts, text))
		counts = append(counts, tokens)
		full = append(full, float64(tokens[0])/float64(tokens[2]))
		compact = append(compact, float64(tokens[1])/float64(tokens[2]))
	}
	of := func(list []float64, i int) string {
		return fmt.Sprintf("%d of %d tokens (o200k_base); tails of 50 and 20 entries: %.2f and %.2f", counts[0][i], counts[0][2], list[1], list[2])
	}
	b.report("tokens of a 100-entry `pscribe_tail` with the specification's columns, against compact JSON", atMost(0.75), full[0], "", of(full, 0))
	b.report("tokens of a 100-entry `pscribe_tail`, format compact, against compact JSON", atMost(0.5), compact[0], "", of(compact, 1))
}

// storeCapture stores a capture in which the two sides say in turns what the
// engine transcribes of the recordings.
func storeCapture(b *bench, dir string) {
	p := b.engine(moonshine.Config{})
	clips := speech.English(b)
	started := time.Date(2026, 11, 5, 9, 30, 0, 0, time.UTC)
	var entries []hearken.Segment
	at := 0.0
	for i := 0; len(entries) < tailLength && i < len(clips); i++ {
		for _, seg := range transcribeWhole(b, p, clips[i].PCM()) {
			seg.Line = len(entries) + 1
			seg.ID, seg.Origin = fmt.Sprintf("M0-%d", seg.Line), []hearken.Origin{hearken.Microphone, hearken.System}[i%2]
			seg.StartTime, seg.EndTime = at+seg.StartTime, at+seg.EndTime
			seg.Timestamp = started.Add(time.Duration(seg.StartTime * float64(time.Second)))
			seg.Words, seg.Durable = []hearken.Word{}, true
			entries = append(entries, seg)
		}
		at += clips[i].Seconds()
	}
	if len(entries) < tailLength {
		b.Fatalf("the recordings have only %d entries; %s names a larger collection", len(entries), speech.EnvDir)
	}
	db, err := sqlite.Open(b.ctx, filepath.Join(dir, "hearken.db"))
	b.check(err)
	stopped := started.Add(time.Duration(at * float64(time.Second)))
	b.check(db.Save(b.ctx, &hearken.Session{
		ID: uuid.NewString(), Status: hearken.Stopped, StopReason: hearken.StopFinished, Language: "en", Provider: "local",
		StartedAt: started, StoppedAt: &stopped, Duration: at, SegmentCount: len(entries), Principal: "local",
		Config: hearken.SessionConfig{Capture: true, Channels: 2},
	}, entries))
	b.check(db.Close())
}

// toJSON is a tail of so many entries as compact JSON, with the names of the
// columns in each entry.
func toJSON(tail string, entries int) (string, error) {
	o, err := toontest.Decode([]byte(tail))
	if err != nil {
		return "", err
	}
	var fields []string
	found := 0
	for _, f := range o {
		table, ok := f.Value.(toon.Table)
		if !ok {
			fields = append(fields, fmt.Sprintf("%q:%s", f.Key, valueJSON(f.Value)))
			continue
		}
		found = len(table.Rows)
		rows := make([]string, found)
		for i, row := range table.Rows {
			cells := make([]string, len(row))
			for c, v := range row {
				cells[c] = fmt.Sprintf("%q:%s", table.Columns[c], valueJSON(v))
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

func valueJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // TOON has no value that JSON has not
	}
	return data
}

// countTokens counts the tokens of texts with a real tokenizer.
func countTokens(b *bench, modules, scripts string, texts []string) (counts []int) {
	var in bytes.Buffer
	for _, t := range texts {
		b.check(json.NewEncoder(&in).Encode(t))
	}
	cmd := exec.CommandContext(b.ctx, "node", filepath.Join(scripts, "tokens.mjs"), modules)
	cmd.Stdin = &in
	out, err := cmd.Output()
	b.check(err)
	for field := range strings.FieldsSeq(string(out)) {
		var n int
		_, err := fmt.Sscan(field, &n)
		b.check(err)
		counts = append(counts, n)
	}
	if len(counts) != len(texts) {
		b.Fatalf("%d counts for %d texts", len(counts), len(texts))
	}
	return counts
}
