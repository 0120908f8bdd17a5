package pscribe

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	maxOutput = 8 << 20  // bytes of standard output; a whole day of speech is less
	maxErrors = 64 << 10 // bytes of standard error
	// drain is how long a program that has ended may keep its output open
	// through one that it left behind, such as a service.
	drain = time.Second
)

var (
	errTimeout = errors.New("time is over")
	errFlood   = errors.New("too much output")
)

// output is what the program said, as valid UTF-8.
type output struct {
	stdout, stderr string
	exit           int
}

// words are what the program said to people, on whichever channel.
func (o output) words() string {
	if strings.TrimSpace(o.stdout) != "" {
		return o.stdout
	}
	return o.stderr
}

// run runs one command to its end. A failure of the program is an error.
func (s *Scribe) run(ctx context.Context, args ...string) (output, error) {
	began := time.Now()
	out, err := s.runOnce(ctx, args)
	if errors.Is(err, errKilled) && args[0] != "new" {
		out, err = s.runOnce(ctx, args) // a program replaced while it runs may be killed for it
	}
	s.log.DebugContext(ctx, "pscribe ran", "command", args[0], "duration", time.Since(began),
		"stdout_bytes", len(out.stdout), "stderr_bytes", len(out.stderr), "exit", out.exit, "failed", err != nil)
	if err != nil {
		return out, s.startFailure(args[0], err)
	}
	return out, failure(args[0], out)
}

// exec is one run of the program. Its errors are those of running; the exit
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
		cmd.WaitDelay = drain
		ownGroup(cmd)
		err = cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || pause(ctx, wait) != nil {
			break // else it is being written at this moment
		}
	}
	if err == nil {
		err = cmd.Wait()
	}
	out := output{stdout: stdout.text(), stderr: stderr.text(), exit: -1}
	if cmd.ProcessState != nil {
		out.exit = cmd.ProcessState.ExitCode()
	}
	var exited *exec.ExitError
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return out, nil // it ended well and left a service behind
	case errors.As(err, &exited) && !exited.Exited():
		return out, errKilled
	case errors.As(err, &exited):
		return out, nil
	}
	return out, err
}

var errKilled = errors.New("killed")

// pause waits, unless ctx ends before.
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

// bounded keeps the first max bytes, and tells when there are more.
type bounded struct {
	buf  bytes.Buffer
	max  int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.max-b.buf.Len())
	b.buf.Write(p[:room])
	if room < len(p) && b.full != nil {
		b.full()
	}
	return len(p), nil
}

// text is what was kept. Bytes that are no UTF-8 become U+FFFD.
func (b *bounded) text() string {
	text := b.buf.String()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.TrimPrefix(text, "\uFEFF")
}
