package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
)

// closeTimeout is how long a hub may drain when it ends.
const closeTimeout = 10 * time.Second

// A client is a command's connection to the hub: the one that runs, or one
// within this process for as long as the command takes. Both are spoken to in
// the same way.
type client struct {
	conn    net.Conn
	own     *App // nil if another process is the hub
	session *mcp.ClientSession
}

// errOwn tells that this process has become the hub.
var errOwn = errors.New("this process is the hub")

// join connects to the hub for what the hello wants.
func (p *program) join(ctx context.Context, want string) (*client, error) {
	hello := p.hello()
	hello.Want, hello.Toolsets = want, nil
	c := &client{}
	conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, hello, func(ctx context.Context) (err error) {
		if c.own, err = p.open(ctx, Options{Brief: true}); err != nil {
			return err
		}
		return errOwn
	})
	if errors.Is(err, errOwn) {
		conn, err = c.own.connect(ctx, hello)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.conn = conn
	return c, nil
}

// hello is what this process brings along to the hub.
func (p *program) hello() pipe.Hello {
	c := p.cfg
	h := pipe.Hello{Want: pipe.WantMCP, Toolsets: c.Toolsets, Language: c.DefaultLanguage, Store: c.storeName()}
	if first := c.TranscriptionProvider[0]; c.sources["transcription-provider"] != "default" || first != "local" {
		h.Provider = strings.Join(c.TranscriptionProvider, ",")
		h.APIKey = map[string]string{"deepgram": c.DeepgramAPIKey, "openai": c.OpenaiAPIKey}[first] // for nobody else
	}
	return h
}

// tools connects for calling tools.
func (p *program) tools(ctx context.Context) (*client, error) {
	c, err := p.join(ctx, pipe.WantMCP)
	if err != nil {
		return nil, err
	}
	me := &mcp.Implementation{Name: "hearken-cli", Version: versionString()}
	c.session, err = mcp.NewClient(me, nil).Connect(ctx, &mcp.IOTransport{Reader: c.conn, Writer: keepOpen{c.conn}, MaxLineLength: -1}, nil)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("connect to hub: %w", err)
	}
	return c, nil
}

func (c *client) close() {
	if c.session != nil {
		_ = c.session.Close() // the hub may have hung up first
	}
	if c.conn != nil {
		c.conn.Close()
	}
	if c.own != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := c.own.Close(ctx); err != nil {
			c.own.log.Warn("hub not closed", "error", err)
		}
	}
}

// call calls a tool and reads its result.
func call[Out any](ctx context.Context, c *client, tool string, args map[string]any) (out Out, err error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return out, toolError(err)
	}
	var text string
	if len(res.Content) > 0 {
		if t, ok := res.Content[0].(*mcp.TextContent); ok {
			text = t.Text
		}
	}
	if res.IsError {
		return out, resultError(res, text)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("read result of %s: %w", tool, err)
	}
	return out, nil
}

// errorParts are the parts of an error as the hub sends them to programs.
type errorParts struct {
	Code    hearken.Code `json:"code"`
	Message string       `json:"message"`
	Try     string       `json:"try"`
}

// resultError returns the error of a failed tool result. Hubs of earlier
// versions send only its text.
func resultError(res *mcp.CallToolResult, text string) error {
	parts := errorParts{Code: hearken.Invalid, Message: text}
	if meta, err := json.Marshal(res.Meta[mcpserver.ErrorMeta]); err == nil {
		_ = json.Unmarshal(meta, &parts) // without it the text still stands
	}
	return &hearken.Error{Code: parts.Code, Message: parts.Message, Try: commandFor(parts.Try)}
}

// toolError returns the error of a call that failed as a whole.
func toolError(err error) error {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return err
	}
	parts := errorParts{Message: rpc.Message}
	_ = json.Unmarshal(rpc.Data, &parts) // without it the message still stands
	return &hearken.Error{Code: parts.Code, Message: parts.Message, Try: commandFor(parts.Try)}
}

// commandFor turns advice for agents into advice for people.
func commandFor(try string) string {
	return strings.NewReplacer(
		"list_sessions", "hearken sessions", "search_transcripts", "hearken search",
		"get_transcription", "hearken show", "start_transcription", "hearken serve").Replace(try)
}

// control asks the hub itself, without MCP.
func control[Out any](ctx context.Context, p *program, req controlRequest) (out Out, err error) {
	c, err := p.join(ctx, pipe.WantControl)
	if err != nil {
		return out, err
	}
	defer c.close()
	return ask[Out](c.conn, req)
}

// ask sends one control request and reads its result.
func ask[Out any](conn net.Conn, req controlRequest) (out Out, err error) {
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return out, fmt.Errorf("ask hub: %w", err)
	}
	var res controlResult
	if err := json.NewDecoder(conn).Decode(&res); err != nil {
		return out, fmt.Errorf("hub's answer: %w", err)
	}
	if res.Error != nil {
		return out, res.Error.Err()
	}
	return out, json.Unmarshal(res.Result, &out)
}
