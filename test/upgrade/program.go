package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
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
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/mcp", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s", tool, resp.Status, data)
	}
	var answer struct {
		Result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("%s: %w in %.200q", tool, err, data)
	}
	switch {
	case answer.Error != nil:
		return errors.New(tool + ": " + answer.Error.Message)
	case answer.Result.IsError:
		return fmt.Errorf("%s: %.200s", tool, data)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.StructuredContent, result)
}
