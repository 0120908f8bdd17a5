package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hearken-dev/hearken"
)

// LogName is the file in the data directory that a detached hub logs to.
const LogName = "hub.log"

// maxLog is the size at which a detached hub's log is rotated; one old log stays.
const maxLog = 4 << 20

// ErrSpawn is wrapped by the error of [Spawn] when the process could not be
// started at all, for example in a sandbox.
var ErrSpawn = errors.New("cannot start a process")

// Spawn starts a detached hub and waits until it calls [Report]. The hub
// outlives this process. It has no terminal, and its standard error goes to a
// log in dir. If the hub could not start, Spawn returns the hub's own error.
func Spawn(ctx context.Context, dir, path string, args, env []string) error {
	log, err := openLog(dir)
	if err != nil {
		return fmt.Errorf("%w: log: %w", ErrSpawn, err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSpawn, err)
	}
	defer r.Close()

	cmd := detachedCommand(path, args)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, w, log
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSpawn, err)
	}
	go func() { _ = cmd.Wait() }() // reaps it if it ends before this process does

	defer context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the hub ended before it was ready; see %s", log.Name())
	}
	var failure hearken.Error
	if err := json.Unmarshal(line, &failure); err != nil {
		return fmt.Errorf("hub's report: %w", err)
	}
	if failure.Message != "" {
		return &failure
	}
	return nil
}

// Report tells the process that spawned this hub whether it started; err is nil
// if it did. It is called once. out is this process's standard output.
func Report(out io.WriteCloser, err error) {
	failure := &hearken.Error{}
	if err != nil {
		failure = SendableError(err)
	}
	line, _ := json.Marshal(failure)
	_, _ = out.Write(append(line, '\n')) // the process that spawned it may be gone
	out.Close()
}

func openLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, LogName)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".old") // a long log is better than none
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}
