// Command hearken is the speech-to-action hub: it hears, remembers, and lets
// agents and people at what was said.
//
// Without a command it serves; with --stdio it is an MCP server on standard
// input and output that joins the hub of its data directory, or starts it.
// See docs/configuration.md for every setting.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/hearken-dev/hearken"
)

// version is set by the build; see [versionString].
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C does not wait
	code := run(ctx, asScribe(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program: what it would exit with is returned.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
	if slices.Equal(p.args, []string{"--stdio"}) {
		return p.fail(p.quickly(ctx))
	}
	return p.fail(p.parse(ctx))
}

// quickly is what nearly every agent starts: it needs no command line parsed.
func (p *program) quickly(ctx context.Context) error {
	if err := p.load(os.Getenv(configEnv), nil); err != nil {
		return err
	}
	return p.stdio(ctx)
}

// A usageError is a command line that could not be understood.
type usageError struct {
	err error
	try string
}

func (e *usageError) Error() string { return e.err.Error() }

// exitCode ends the program quietly with a code.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// fail tells a person what went wrong, and what to do next.
func (p *program) fail(err error) int {
	var usage *usageError
	var code exitCode
	switch e, ok := errors.AsType[*hearken.Error](err); {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled):
		return 130
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "hearken: %v\nTry: %s\n", usage.err, usage.try)
		return 2
	case ok && e.Try != "":
		fmt.Fprintf(p.stderr, "hearken: %s\nTry: %s\n", e.Message, e.Try)
	case ok:
		fmt.Fprintf(p.stderr, "hearken: %s\n", e.Message)
	default:
		fmt.Fprintf(p.stderr, "hearken: %v\n", err)
	}
	return 1
}

// versionString is the release, or what the Go tool knows about the build.
func versionString() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}
