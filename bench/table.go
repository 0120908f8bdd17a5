package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A row is one line of the table.
type row struct {
	Section string    `json:"measurement"`
	What    string    `json:"what"`
	Reach   string    `json:"reach"`  // the target
	Result  string    `json:"result"` // with its unit
	Spread  string    `json:"spread,omitempty"`
	Reached *bool     `json:"reached,omitempty"` // nil without a target
	Value   float64   `json:"value"`
	At      time.Time `json:"at"`
	Machine string    `json:"machine"`
}

// A table is what was measured now, and what was measured before.
type table struct{ rows []row }

func readTable(path string) (*table, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &table{}, nil
	}
	if err != nil {
		return nil, err
	}
	t := &table{}
	if err := json.Unmarshal(data, &t.rows); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return t, nil
}

// clear removes the rows of a section.
func (t *table) clear(section string) {
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.Section == section })
}

// A target is what a number must reach, and perhaps what it should.
type target struct {
	bound   float64
	aim     []float64
	atLeast bool
	none    bool
}

func atLeast(bound float64, aim ...float64) target { return target{bound, aim, true, false} }
func atMost(bound float64, aim ...float64) target  { return target{bound, aim, false, false} }

var noTarget = target{none: true}

// report adds a row to the scenario's section.
func (b *bench) report(what string, want target, value float64, unit, spread string) {
	r := row{
		Section: b.name, What: what, Value: value, Result: number(value, unit), Spread: spread,
		At: time.Now().UTC().Truncate(time.Second), Machine: machine(),
	}
	if !want.none {
		words, reached := "at most ", value <= want.bound
		if want.atLeast {
			words, reached = "at least ", value >= want.bound
		}
		r.Reach, r.Reached = words+number(want.bound, unit), &reached
		for _, aim := range want.aim {
			r.Reach += ", aim " + number(aim, unit)
		}
	}
	b.table.rows = append(b.table.rows, r)
	fmt.Fprintf(os.Stderr, "  %-70s %12s  %-20s %s\n", r.What, r.Result, r.Reach, r.Spread)
}

func number(v float64, unit string) string {
	format := "%.0f"
	switch {
	case v == math.Trunc(v):
	case v < 10:
		format = "%.2f"
	case v < 100:
		format = "%.1f"
	}
	return strings.TrimSpace(fmt.Sprintf(format+" %s", v, unit))
}

// write writes the numbers as JSON and as a page for people.
func (t *table) write(page, data string) error {
	order := map[string]int{}
	for i, s := range scenarios {
		order[s.name] = i
	}
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool { // of scenarios that no longer exist
		_, known := order[r.Section]
		return !known
	})
	slices.SortStableFunc(t.rows, func(a, b row) int { return order[a.Section] - order[b.Section] })
	out, err := json.MarshalIndent(t.rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(data, append(out, '\n'), 0o644); err != nil {
		return err
	}
	f, err := os.Create(page)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, "# Benchmarks")
	fmt.Fprintln(f)
	fmt.Fprintln(f, "Written by `make bench`; do not edit. `make bench ONLY=name` measures one section. Ratios are of two things measured in turns within one run. The spread is over the rounds of that run, lowest to highest. A section that was not measured again keeps its numbers from an earlier run, so sections may belong to different versions.")
	t.print(f)
	printCountedByTests(f)
	return f.Close()
}

func (t *table) print(w io.Writer) {
	last := ""
	for _, r := range t.rows {
		if head := r.Section + r.Machine; head != last {
			fmt.Fprintf(w, "\n## %s\n%s, %s\n\n| what | reach | measured | spread | reached |\n|---|---|---|---|---|\n", r.Section, r.Machine, r.At.Format(time.DateOnly))
			last = head
		}
		reached := ""
		if r.Reached != nil {
			reached = map[bool]string{true: "yes", false: "**no**"}[*r.Reached]
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.What, r.Reach, r.Result, r.Spread, reached)
	}
}

// machine describes what the numbers are measured on.
func machine() string {
	model := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s/%s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// durations are a sample of times.
type durations []time.Duration

// at is the given quantile.
func (d durations) at(q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// ms is the given quantile in milliseconds.
func (d durations) ms(q float64) float64 { return ms(d.at(q)) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median is the middle one of the rounds.
func median(rounds []float64) float64 {
	if len(rounds) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(rounds))[len(rounds)/2]
}

// spread is the lowest and the highest of the rounds.
func spread(rounds []float64) string {
	return fmt.Sprintf("%s to %s in %d rounds", number(slices.Min(rounds), ""), number(slices.Max(rounds), ""), len(rounds))
}

// inTurns times two calls in turns, so many times in each of so many rounds. It
// returns how long the first takes against the second, by round, and the times
// of the first.
func inTurns(rounds, n int, calls [2]func(i int)) (ratios []float64, first durations) {
	for range rounds {
		var times [2]durations
		for i := range 2 * n {
			began := time.Now()
			calls[i%2](i / 2)
			times[i%2] = append(times[i%2], time.Since(began))
		}
		ratios = append(ratios, times[0].ms(0.5)/times[1].ms(0.5))
		first = append(first, times[0]...)
	}
	return ratios, first
}
