package pscribe

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	maxOutput = 8 << 20  // bytes of standard output; a whole day of speech is less
	maxErrors = 64 << 10 // bytes of standard error
	// outputDelay is how long the output may stay open after the program ended
	// because another process holds it, such as a service that it started.
	outputDelay = time.Second
)

var (
	errTimeout = errors.New("time is over")
	errFlood   = errors.New("too much output")
	errKilled  = errors.New("killed")
)

// output is what the program printed, as valid UTF-8.
type output struct {
	stdout, stderr string
	exit           int
}

// message is what the program said to people, on either output.
func (o output) message() string {
	if strings.TrimSpace(o.stdout) != "" {
		return o.stdout
	}
	return o.stderr
}

// run runs one command to its end. It returns an error if the program failed.
func (s *Scribe) run(ctx context.Context, args ...string) (output, error) {
	began := time.Now()
	out, err := s.runOnce(ctx, args)
	if errors.Is(err, errKilled) && args[0] != "new" {
		out, err = s.runOnce(ctx, args) // macOS may kill a program that is replaced while it runs
	}
	s.log.DebugContext(ctx, "pscribe ran", "command", args[0], "duration", time.Since(began),
		"stdout_bytes", len(out.stdout), "stderr_bytes", len(out.stderr), "exit", out.exit, "failed", err != nil)
	if err != nil {
		return out, s.startFailure(args[0], err)
	}
	return out, failure(args[0], out)
}

// exec runs the program once. It fails if the program could not be run; the exit
// status is in the output.
func (s *Scribe) exec(ctx context.Context, args []string) (output, error) {
	path, err := Find(s.path)
	if err != nil {
		return output{}, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	stdout := &bounded{max: maxOutput, full: func() { cancel(errFlood) }}
	stderr := &bounded{max: maxErrors}
	var cmd *exec.Cmd
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		cmd = exec.CommandContext(ctx, path, args...)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		cmd.WaitDelay = outputDelay
		cmd.Env = append(os.Environ(), CallerVar+"=1")
		ownGroup(cmd)
		err = cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || pause(ctx, wait) != nil {
			break // otherwise it is being written right now
		}
	}
	if err == nil {
		err = cmd.Wait()
	}
	out := output{stdout: stdout.text(), stderr: stderr.text(), exit: -1}
	if cmd.ProcessState != nil {
		out.exit = cmd.ProcessState.ExitCode()
	}
	exited, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err != nil && ctx.Err() != nil:
		return out, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay): // it succeeded and left a service running
		return out, nil
	case ok && !exited.Exited():
		return out, errKilled
	case ok:
		return out, nil
	}
	return out, err
}

// pause waits for d. It returns an error if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bounded keeps the first max bytes and calls full if there are more.
type bounded struct {
	buf  bytes.Buffer
	max  int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.max-b.buf.Len())
	b.buf.Write(p[:n])
	if n < len(p) && b.full != nil {
		b.full()
	}
	return len(p), nil
}

// text is what was kept. Invalid UTF-8 becomes U+FFFD.
func (b *bounded) text() string {
	return strings.TrimPrefix(strings.ToValidUTF8(b.buf.String(), "\uFFFD"), "\uFEFF")
}
