// Command bench measures what docs/benchmarks.md promises, on this machine and
// with the real program, and writes the table. Where possible a number is the
// ratio of two things measured in turns within one run, because machines are
// noisy; the spread over the rounds stands beside it.
//
//	go run ./bench              everything
//	go run ./bench -only doors  the scenarios whose name matches
//
// What counts mistakes rather than time is a test: see [countedByTests].
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A scenario fills one section of the table.
type scenario struct {
	name string // of the section
	what string
	run  func(b *bench)
}

var scenarios = []scenario{
	{"fresh-clone", "make test in a fresh clone with an empty home", benchFreshClone},
	{"tree", "what there is to read", benchTree},
	{"doors", "tools over HTTP against a bare SDK server", benchHTTPTools},
	{"stdio", "process start to tools/list", benchStdio},
	{"pages", "a page of a long session against one of a short one", benchPages},
	{"search", "full-text search over a million entries", benchSearch},
	{"sockets", "audio WebSockets", benchSockets},
	{"follow", "a confirmed segment to a waiting reader", benchFollow},
	{"engine-files", "whole files against programs that run the same weights", benchFiles},
	{"engine-live", "words of live streams against those of whole files", benchLive},
	{"engine-delay", "how soon words come in a live stream", benchDelay},
	{"engine-streams", "live streams at once", benchStreams},
	{"engine-load", "loading the models, and memory", benchLoad},
	{"engine-judgement", "noise, other languages, confidence", benchJudgement},
	{"engine-silence", "streams in which nobody speaks", benchSilence},
	{"relay-load", "many sessions relayed to another provider", benchRelay},
	{"scribe-delay", "from a spoken word to its row in the transcript of a capture", benchScribeDelay},
	{"scribe-tokens", "tokens that a tail of the transcript costs an agent", benchScribeTokens},
	{"scribe-cli", "ParrotScribe's CLI behind the tools, against its own server", benchScribeCLI},
	{"scribe-pages", "polling a long capture against a short one", benchScribePages},
	{"scribe-silence", "`hearken listen` while nobody speaks", benchListen},
	{"act-audit", "the audit against a bare file", benchAudit},
	{"act-reminders", "many reminders due at once", benchReminders},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if child, ok := children[args[0]]; ok {
			return child(ctx, args[1:])
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	binary := flags.String("binary", "bin/hearken", "the program to measure")
	only := flags.String("only", "", "run only the scenarios that match this regular expression")
	quick := flags.Bool("quick", false, "short rounds, for a first look")
	page := flags.String("table", "docs/benchmarks.md", "the table to write")
	data := flags.String("json", "docs/benchmarks.json", "the numbers to write; a section that is not measured keeps its numbers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	path, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	if err := os.Setenv("HEARKEN_BIN", path); err != nil { // hubtest reads it
		return err
	}
	dir, err := os.MkdirTemp("", "hearken-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := readTable(*data)
	if err != nil {
		return err
	}
	var failed []string
	for _, s := range scenarios {
		if !wanted.MatchString(s.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, s.what)
		began := time.Now()
		t.clear(s.name)
		b := &bench{name: s.name, dir: dir, quick: *quick, table: t}
		if !b.run(ctx, s.run) {
			failed = append(failed, s.name)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, time.Since(began).Round(time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := t.write(*page, *data); err != nil {
		return err
	}
	t.print(os.Stdout)
	if len(failed) > 0 {
		return fmt.Errorf("not measured: %s", strings.Join(failed, ", "))
	}
	return nil
}
