package act

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hearken-dev/hearken"
)

// An Agent calls tools over HTTP with a key.
type Agent struct {
	URL, Key string
	client   http.Client
}

// An Outcome is what an acting tool answers.
type Outcome struct {
	Status string `json:"status"`
	ID     string `json:"id"`
	Error  string `json:"error"`
}

// Code is the code in front of the error; empty if all is well.
func (o *Outcome) Code() hearken.Code {
	code, _, _ := strings.Cut(o.Error, ":")
	return hearken.Code(code)
}

// A RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// Call is a bare tools/call as it goes over the wire.
func Call(id any, tool string, args any) []byte {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		panic(fmt.Sprintf("encode call: %v", err)) // what tests send always encodes
	}
	return body
}

// An Answer is a JSON-RPC answer to a [Call].
type Answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *Outcome        `json:"result"`
	Err     *RPCError       `json:"error"`
}

// Call calls a tool. The error is an [*RPCError] if the hub answered with one.
func (a *Agent) Call(ctx context.Context, tool string, args any) (*Outcome, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+"/mcp", bytes.NewReader(Call(1, tool, args)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+a.Key)
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var got Answer
	if err := json.Unmarshal(data, &got); err != nil {
		return nil, fmt.Errorf("answer to %s: %w in %.200q", tool, err, data)
	}
	switch {
	case got.Err != nil:
		return nil, got.Err
	case got.Result == nil:
		return nil, fmt.Errorf("answer to %s: no result in %.200q", tool, data)
	}
	return got.Result, nil
}
