// Package ffmpeg runs the ffmpeg program for the sources that need it.
package ffmpeg

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// maxMessages is how many bytes of ffmpeg's messages are kept, the last ones.
const maxMessages = 64 << 10

// Find returns the path of the program; an empty name means ffmpeg in PATH.
func Find(program string) (string, error) { return exec.LookPath(cmp.Or(program, "ffmpeg")) }

// A Process is a running ffmpeg.
type Process struct {
	io.Reader // what it writes to its standard output
	cmd       *exec.Cmd
	messages  bytes.Buffer
}

// Start runs ffmpeg until it ends or ctx does. Stdin may be nil.
func Start(ctx context.Context, path string, stdin io.Reader, args ...string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, path, append([]string{"-nostdin", "-hide_banner"}, args...)...)}
	p.cmd.Stdin, p.cmd.Stderr = stdin, (*messageWriter)(p)
	p.cmd.WaitDelay = time.Second
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start ffmpeg: %w", err)
	}
	p.Reader = out
	return p, nil
}

// Wait waits for ffmpeg to end. Its output must have been read by then.
func (p *Process) Wait() error { return p.cmd.Wait() }

// Messages returns the last of what ffmpeg said. Call it after Wait.
func (p *Process) Messages() string { return strings.ToValidUTF8(p.messages.String(), "?") }

// LastMessage returns the last line, which says what went wrong. It is empty if
// ffmpeg said nothing.
func (p *Process) LastMessage() string {
	lines := strings.Split(strings.TrimSpace(p.Messages()), "\n")
	return lines[len(lines)-1]
}

// A messageWriter is a process as the writer of its messages.
type messageWriter Process

func (w *messageWriter) Write(b []byte) (int, error) {
	w.messages.Write(b)
	if over := w.messages.Len() - maxMessages; over > 0 {
		w.messages.Next(over)
	}
	return len(b), nil
}
