// Command bench measures what docs/benchmarks.md promises, on this machine and
// against the real program, and writes the table. Numbers that can be are
// ratios of two things measured in turns within one run, because machines are
// noisy; the spread over the rounds stands beside each.
//
//	go run ./bench              everything
//	go run ./bench -only doors  what matches
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A measurement fills some rows of the table.
type measurement struct {
	name string
	what string
	run  func(ctx context.Context, b *bench) error
}

var measurements = []measurement{
	{"fresh-clone", "make test in a fresh clone with an empty home", measureFreshClone},
	{"doors", "tools over HTTP against a bare SDK server", measureDoors},
	{"stdio", "process start to tools/list", measureStdio},
	{"pages", "a page of a long session against one of a short one", measurePages},
	{"search", "full-text search over a million entries", measureSearch},
	{"sockets", "audio WebSockets", measureSockets},
	{"follow", "a confirmed segment to a waiting reader", measureFollow},
	{"engine-files", "whole files against programs that run the same weights", measureFiles},
	{"engine-live", "words of live streams against those of whole files", measureLive},
	{"engine-delay", "how soon words come in a live stream", measureDelay},
	{"engine-streams", "live streams at once", measureStreams},
	{"engine-load", "loading the models, and memory", measureLoad},
	{"engine-judgement", "noise, other languages, confidence", measureJudgement},
	{"engine-silence", "listening to nobody", measureSilence},
	{"relay-cuts", "a provider's connection cut again and again", measureCuts},
	{"relay-kills", "the hub killed while somebody speaks", measureKills},
	{"relay-load", "many sessions relayed to another provider", measureRelay},
	{"scribe-delay", "from what this computer hears to the rows of its transcript", measureScribeDelay},
	{"scribe-tokens", "what a tail of the transcript costs an agent", measureScribeTokens},
	{"scribe-cli", "ParrotScribe's CLI behind the tools, against its own server", measureScribeCLI},
	{"scribe-pages", "polling a long capture against a short one", measureScribePages},
	{"scribe-silence", "`hearken listen` while nobody speaks", measureListen},
	{"act-kills", "the hub killed while agents act", measureActKills},
	{"act-race", "twenty owners decide about the same action", measureActRace},
	{"act-limit", "requests of one key under flood", measureActLimit},
	{"act-audit", "the audit against a bare file", measureActAudit},
	{"act-reminders", "many reminders due at once", measureActReminders},
	{"act-injection", "strangers in a call, and an agent with a shell, want something done", measureInjection},
}

// bench is what measurements share.
type bench struct {
	binary string // the program under test
	dir    string // for data directories; removed at the end
	quick  bool
	rows   *rows
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) > 0 {
		switch args[0] {
		case bareCommand:
			return serveBare(ctx, args[1:])
		case runnerCommand:
			return serveRunner(ctx, args[1:])
		case loadCommand:
			return serveLoad(ctx)
		case silenceCommand:
			return serveSilence(ctx, args[1:])
		case standInCommand:
			return serveStandIn(ctx, args[1:])
		case bareRelayCommand:
			return serveBareRelay(ctx, args[1:])
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	binary := flags.String("binary", "bin/hearken", "the program to measure")
	only := flags.String("only", "", "measure only what matches this regular expression")
	quick := flags.Bool("quick", false, "short rounds, for a first look")
	table := flags.String("table", "docs/benchmarks.md", "the table to write")
	data := flags.String("json", "docs/benchmarks.json", "the numbers to write, and to keep where nothing new was measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	which, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, err := os.MkdirTemp("", "hearken-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rows, err := readRows(*data)
	if err != nil {
		return err
	}
	b := &bench{binary: *binary, dir: dir, quick: *quick, rows: rows}
	var failed []string
	for _, m := range measurements {
		if !which.MatchString(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", m.name, m.what)
		begun := time.Now()
		rows.begin(m.name)
		if err := m.run(ctx, b); err != nil {
			fmt.Fprintf(os.Stderr, "%s failed: %v\n", m.name, err)
			failed = append(failed, m.name)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", m.name, time.Since(begun).Round(time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	rows.sort(slices.Collect(func(yield func(string) bool) {
		for _, m := range measurements {
			if !yield(m.name) {
				return
			}
		}
	}))
	if err := rows.write(*table, *data); err != nil {
		return err
	}
	rows.print(os.Stdout)
	if len(failed) > 0 {
		return fmt.Errorf("not measured: %s", strings.Join(failed, ", "))
	}
	return nil
}
