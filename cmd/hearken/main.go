// Command hearken is the hub: it transcribes live speech, stores it, and gives
// people and agents access to what was said.
//
// Without a command it serves. With --stdio it is an MCP server on standard input
// and output, which connects to the hub of its data directory or starts one.
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
	"github.com/hearken-dev/hearken/source/pscribe"
)

// version is set by the build; see [versionString].
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, scribeArgs(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
	if len(p.args) > 0 && p.args[0] == "scribe" && os.Getenv(pscribe.CallerVar) != "" {
		return p.fail(hearken.Errorf(hearken.Invalid, "A hub ran this program as ParrotScribe's pscribe, but it is Hearken.").
			WithTry("set PSCRIBE_PATH to ParrotScribe's own pscribe, or SCRIBE_BACKEND=native"))
	}
	if slices.Equal(p.args, []string{"--stdio"}) {
		return p.fail(p.runStdio(ctx))
	}
	return p.fail(p.parse(ctx))
}

// runStdio is what agents start. To start fast, it parses no command line.
func (p *program) runStdio(ctx context.Context) error {
	if err := p.load(os.Getenv(configEnv), nil); err != nil {
		return err
	}
	return p.stdio(ctx)
}

// A usageError reports a command line that is wrong.
type usageError struct{ error }

// exitCode ends the program with a code and no message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// fail prints an error with what to try next, and returns the exit code.
func (p *program) fail(err error) int {
	var usage usageError
	var code exitCode
	switch e, ok := errors.AsType[*hearken.Error](err); {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled):
		return 130
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "hearken: %v\nTry: hearken --help\n", usage)
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

// versionString returns the release, or what the Go tool knows about the build.
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
