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
	Measurement string    `json:"measurement"`
	What        string    `json:"what"`
	Reach       string    `json:"reach"`  // what was set out to be reached
	Result      string    `json:"result"` // with its unit
	Spread      string    `json:"spread,omitempty"`
	Reached     *bool     `json:"reached,omitempty"` // nil where nothing was set
	Value       float64   `json:"value"`
	At          time.Time `json:"at"`
	Machine     string    `json:"machine"`
}

// rows is the table: what was measured now, and what was before.
type rows struct {
	list    []row
	current string
}

func readRows(path string) (*rows, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &rows{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &rows{}
	if err := json.Unmarshal(data, &r.list); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// begin forgets what a measurement said before.
func (r *rows) begin(name string) {
	r.current = name
	r.list = slices.DeleteFunc(r.list, func(x row) bool { return x.Measurement == name })
}

// add takes a result in. The bound is told by better: "min" for at least, "max"
// for at most, "" for none.
func (r *rows) add(what, better string, bound, value float64, unit, spread string) {
	x := row{Measurement: r.current, What: what, Value: value, Result: number(value, unit), Spread: spread, At: time.Now().UTC().Truncate(time.Second), Machine: machine()}
	switch better {
	case "min":
		x.Reach, x.Reached = "at least "+number(bound, unit), new(value >= bound)
	case "max":
		x.Reach, x.Reached = "at most "+number(bound, unit), new(value <= bound)
	}
	r.list = append(r.list, x)
	fmt.Fprintf(os.Stderr, "  %-70s %12s  %-20s %s\n", x.What, x.Result, x.Reach, x.Spread)
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

func (r *rows) sort(order []string) {
	slices.SortStableFunc(r.list, func(a, b row) int {
		return slices.Index(order, a.Measurement) - slices.Index(order, b.Measurement)
	})
}

// write leaves the numbers as JSON and as a table for people.
func (r *rows) write(table, data string) error {
	out, err := json.MarshalIndent(r.list, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(data, append(out, '\n'), 0o644); err != nil {
		return err
	}
	f, err := os.Create(table)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, "# Benchmarks")
	fmt.Fprintln(f)
	fmt.Fprintln(f, "Written by `make bench`; do not edit. Ratios are of two things measured in turns within one run. The spread is over the rounds of that run, lowest to highest. A section that was not measured again keeps its numbers from an earlier run, so sections may belong to different versions.")
	r.print(f)
	return f.Close()
}

func (r *rows) print(w io.Writer) {
	last := ""
	for _, x := range r.list {
		if head := x.Measurement + x.Machine; head != last {
			fmt.Fprintf(w, "\n## %s\n%s, %s\n\n| what | reach | measured | spread | reached |\n|---|---|---|---|---|\n", x.Measurement, x.Machine, x.At.Format(time.DateOnly))
			last = head
		}
		reached := ""
		if x.Reached != nil {
			reached = map[bool]string{true: "yes", false: "**no**"}[*x.Reached]
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", x.What, x.Reach, x.Result, x.Spread, reached)
	}
}

// machine says what the numbers were measured on.
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
