package hubtest

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

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/pipe"
)

// A Program is Hearken as people and agents use it: by its commands, and by
// the tools of the hub that runs.
type Program struct {
	Bin string   // the executable
	Env []string // the environment of every command
	URL string   // the address of the hub
}

// RunCommand runs a command and returns its standard output.
func (p *Program) RunCommand(ctx context.Context, args ...string) (string, error) {
	return p.RunWith(ctx, nil, args...)
}

// RunWith runs a command with more environment.
func (p *Program) RunWith(ctx context.Context, env []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = slices.Concat(p.Env, env), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("hearken %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// RunAs runs a command with the owner's PIN in a file.
func (p *Program) RunAs(ctx context.Context, pinFile string, args ...string) (string, error) {
	return p.RunWith(ctx, []string{"OWNER_PIN_FILE=" + pinFile}, args...)
}

// Get runs a command with --json and decodes its output.
func (p *Program) Get(ctx context.Context, result any, args ...string) error {
	out, err := p.RunCommand(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), result); err != nil {
		return fmt.Errorf("hearken %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Call calls a tool without a key and decodes its structured content.
func (p *Program) Call(ctx context.Context, tool string, args, result any) error {
	return p.CallAs(ctx, "", tool, args, result)
}

// CallAs calls a tool with a key, unless it is empty, and decodes its
// structured content.
func (p *Program) CallAs(ctx context.Context, key, tool string, args, result any) error {
	answer, err := p.ask(ctx, key, tool, args)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(answer.StructuredContent, result)
}

// CallText calls a tool that answers in text.
func (p *Program) CallText(ctx context.Context, tool string, args any) (string, error) {
	answer, err := p.ask(ctx, "", tool, args)
	if err != nil || len(answer.Content) == 0 {
		return "", err
	}
	return answer.Content[0].Text, nil
}

type toolResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
}

func (p *Program) ask(ctx context.Context, key, tool string, args any) (*toolResult, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	if args == nil {
		args = struct{}{}
	}
	reply, err := Post(ctx, http.DefaultClient, p.URL, header, Request(1, tool, args))
	var refused *RPCError
	switch {
	case errors.As(err, &refused):
		return nil, errors.New(refused.Message)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	var result toolResult
	if err := json.Unmarshal(reply, &result); err != nil {
		return nil, fmt.Errorf("%s: %w in %.200q", tool, err, reply)
	}
	if result.IsError {
		return nil, errors.New(result.Content[0].Text)
	}
	return &result, nil
}

// An RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// Request is a bare tools/call as it goes over the wire.
func Request(id any, tool string, args any) []byte {
	return RequestWith(id, map[string]any{"name": tool, "arguments": args})
}

// RequestWith is a tools/call with any parameters.
func RequestWith(id, params any) []byte {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	if err != nil {
		panic(fmt.Sprintf("encode call: %v", err)) // what tests send always encodes
	}
	return body
}

// A Reply is the answer to a [Request].
type Reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// Post sends a request to the hub at a URL and returns the result. The error
// is an [*RPCError] if the hub answered with one.
func Post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var reply Reply
	switch err := json.Unmarshal(data, &reply); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w in %.200q", resp.Status, err, data)
	case reply.Error != nil:
		return nil, reply.Error
	case resp.StatusCode != http.StatusOK || reply.Result == nil:
		return nil, fmt.Errorf("%s: %.200q", resp.Status, data)
	}
	return reply.Result, nil
}

// Control sends one request over the local socket of a data directory, as the
// owner's commands do, and decodes its result. A request of type []byte is sent
// as it is.
func Control(ctx context.Context, dir string, request, result any) error {
	line, raw := request.([]byte)
	if !raw {
		var err error
		if line, err = json.Marshal(request); err != nil {
			return err
		}
	}
	conn, _, err := pipe.Dial(ctx, dir, pipe.Hello{Want: pipe.WantControl})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("ask hub: %w", err)
	}
	var answer struct {
		Result json.RawMessage
		Error  *hearken.Error
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("hub's answer: %w", err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}
