package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/act"
)

// actPIN is the owner's PIN of every hub that acts here.
const actPIN = "correct horse 7"

// An actingHub is a hub that has an owner, and agents with keys.
type actingHub struct {
	*hub
	b     *bench
	env   []string
	owner *act.Owner
	keys  []string
}

// startActing starts a hub on a fresh directory, at an address that it keeps
// when it is killed and started again, sets the PIN and makes keys.
func (b *bench) startActing(ctx context.Context, name string, keys int, env ...string) (*actingHub, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	port, err := quietPort()
	if err != nil {
		return nil, err
	}
	h := &actingHub{b: b, env: append([]string{"PORT=" + strconv.Itoa(port)}, env...), owner: &act.Owner{Dir: dir, PIN: actPIN}}
	if h.hub, err = b.startHub(ctx, dir, h.env...); err != nil {
		return nil, err
	}
	if err = h.owner.SetPIN(ctx); err == nil {
		h.keys, err = h.owner.Keys(ctx, keys)
	}
	if err != nil {
		h.stop()
		return nil, fmt.Errorf("%w: %s", err, h.logs)
	}
	return h, nil
}

// restart kills the hub and starts it again.
func (h *actingHub) restart(ctx context.Context) error {
	kill(h.cmd)
	next, err := h.b.startHub(ctx, h.dir, h.env...)
	if err != nil {
		return err
	}
	if next.url != h.url {
		next.stop()
		return fmt.Errorf("the hub moved from %s to %s", h.url, next.url)
	}
	h.hub = next
	return nil
}

// stillborn kills the hub, starts it, and kills it again before it is ready.
func (h *actingHub) stillborn(ctx context.Context, after time.Duration) error {
	kill(h.cmd)
	cmd := exec.CommandContext(ctx, h.b.binary, "serve")
	cmd.Env = append(h.b.env(h.dir), h.env...)
	if err := cmd.Start(); err != nil {
		return err
	}
	wait(ctx, after)
	kill(cmd)
	return nil
}

// command runs one of the program's commands beside the hub.
func (h *actingHub) command(ctx context.Context, env []string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, h.b.binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(append(h.b.env(h.dir), h.env...), env...), &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("hearken %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// records is the hub's audit, after it was verified.
func (h *actingHub) records(ctx context.Context) ([]hearken.AuditRecord, error) {
	if _, err := h.command(ctx, nil, "audit", "verify"); err != nil {
		return nil, err
	}
	out, err := h.command(ctx, nil, "audit", "export")
	if err != nil {
		return nil, err
	}
	var all []hearken.AuditRecord
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		var r hearken.AuditRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("audit: %w in %s", err, lines.Text())
		}
		all = append(all, r)
	}
	return all, nil
}

// quietPort finds a free port that no connection of somebody else is given
// while the hub is dead: it lies below those that systems hand out.
func quietPort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err == nil {
			defer l.Close()
			return l.Addr().(*net.TCPAddr).Port, nil
		}
	}
	return 0, fmt.Errorf("no free port below 32000")
}
