package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// A Program is Hearken as people and agents use it: by its commands, and by
// the tools of the hub that runs.
type Program struct {
	Bin string   // the executable
	Env []string // the environment of every command
	URL string   // the address of the hub
}

// Run runs a command and returns its standard output.
func (p *Program) Run(ctx context.Context, args ...string) (string, error) {
	return p.run(ctx, p.Env, args)
}

// RunAs runs a command with the PIN in a file.
func (p *Program) RunAs(ctx context.Context, pinFile string, args ...string) (string, error) {
	return p.run(ctx, append(slices.Clip(p.Env), "OWNER_PIN_FILE="+pinFile), args)
}

func (p *Program) run(ctx context.Context, env, args []string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("hearken %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// Get runs a command with --json and decodes what it writes.
func (p *Program) Get(ctx context.Context, result any, args ...string) error {
	out, err := p.Run(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), result); err != nil {
		return fmt.Errorf("hearken %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Call calls a tool over HTTP, with a key unless it is empty, and decodes the
// structured result.
func (p *Program) Call(ctx context.Context, key, tool string, args, result any) error {
	return hubtest.Call(ctx, p.URL, key, tool, args, result)
}
