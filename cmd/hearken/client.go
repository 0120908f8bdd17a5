package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/mcpserver"
	"github.com/hearken-dev/hearken/pipe"
)

// closeTimeout is how long a hub may take to finish its sessions when it ends.
const closeTimeout = 10 * time.Second

// A client is a command's connection to the hub: the running one, or one in
// this process that lasts as long as the command.
type client struct {
	conn      net.Conn
	inProcess *App // nil if another process is the hub
	session   *mcp.ClientSession
}

// errInProcess says that this process has become the hub.
var errInProcess = errors.New("this process is the hub")

// connect connects to the hub for the given purpose, [pipe.WantMCP] or
// [pipe.WantControl]. If no hub is running, it opens one in this process.
func (p *program) connect(ctx context.Context, want string) (*client, error) {
	hello := p.commandHello(want)
	c := &client{}
	conn, _, err := pipe.DialOrStart(ctx, p.cfg.DataDir, hello, func(ctx context.Context) (err error) {
		if c.inProcess, err = p.open(ctx, Options{Brief: true}); err != nil {
			return err
		}
		return errInProcess
	})
	if errors.Is(err, errInProcess) {
		conn, err = c.inProcess.connect(ctx, hello)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.conn = conn
	return c, nil
}

// hello returns the settings that an MCP client of this process sends to the
// hub.
func (p *program) hello() pipe.Hello {
	c := p.cfg
	h := pipe.Hello{Want: pipe.WantMCP, Toolsets: c.Toolsets, Language: c.DefaultLanguage, Store: c.storeName()}
	if first := c.TranscriptionProvider[0]; c.providerNamed() || first != "local" {
		h.Provider, h.Named = strings.Join(c.TranscriptionProvider, ","), c.providerNamed()
		h.APIKey = c.apiKey(first) // for this client only
	}
	return h
}

// captureRequest returns how this process wants this computer's audio
// transcribed: as the command says, or as the settings do.
func (p *program) captureRequest(provider, language string) hearken.CaptureRequest {
	c := p.cfg
	if provider == "" && c.providerNamed() {
		provider = strings.Join(c.TranscriptionProvider, ",")
	}
	first, _, _ := strings.Cut(provider, ",")
	return hearken.CaptureRequest{Provider: provider, Language: cmp.Or(language, c.DefaultLanguage), APIKey: c.apiKey(first)}
}

// commandHello is the hello of a command, which may use every tool.
func (p *program) commandHello(want string) pipe.Hello {
	h := p.hello()
	h.Want, h.Toolsets = want, nil
	return h
}

// connectTools connects to the hub to call tools.
func (p *program) connectTools(ctx context.Context) (*client, error) {
	c, err := p.connect(ctx, pipe.WantMCP)
	if err != nil {
		return nil, err
	}
	me := &mcp.Implementation{Name: "hearken-cli", Version: versionString()}
	c.session, err = mcp.NewClient(me, nil).Connect(ctx, &mcp.IOTransport{Reader: c.conn, Writer: nopWriteCloser{c.conn}, MaxLineLength: -1}, nil)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("connect to hub: %w", err)
	}
	return c, nil
}

// nopWriteCloser leaves the connection open: its reader closes it.
type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

func (c *client) close() {
	if c.session != nil {
		_ = c.session.Close() // the hub may have hung up first
	}
	if c.conn != nil {
		c.conn.Close()
	}
	if c.inProcess != nil {
		if err := c.inProcess.closeInTime(); err != nil {
			c.inProcess.log.Warn("hub not closed", "error", err)
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

// resultError returns the error of a failed tool result. Hubs of earlier
// versions send only its text.
func resultError(res *mcp.CallToolResult, text string) error {
	e := hearken.Error{Code: hearken.Invalid, Message: text}
	if meta, err := json.Marshal(res.Meta[mcpserver.ErrorMeta]); err == nil {
		_ = json.Unmarshal(meta, &e) // otherwise the text remains
	}
	return adviseUser(&e)
}

// toolError returns the error of a call that failed as a whole.
func toolError(err error) error {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return err
	}
	e := hearken.Error{Message: rpc.Message}
	_ = json.Unmarshal(rpc.Data, &e) // otherwise the message remains
	return adviseUser(&e)
}

// adviseUser replaces the tools that an error tells agents to try by the
// commands that do the same.
func adviseUser(err error) error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		e.Try = strings.NewReplacer(
			"list_sessions", "hearken sessions", "search_transcripts", "hearken search",
			"get_transcription", "hearken show", "start_transcription", "hearken serve",
			"pscribe_start", "hearken scribe start", "pscribe_sessions", "hearken scribe list").Replace(e.Try)
	}
	return err
}

// control sends one control request to the hub and returns its result. It waits
// for the result even if ctx ends: the hub carries the request out anyway.
func control[Out any](ctx context.Context, p *program, req controlRequest) (out Out, err error) {
	c, err := p.connect(ctx, pipe.WantControl)
	if err != nil {
		return out, err
	}
	defer c.close()
	return sendControl[Out](context.WithoutCancel(ctx), c.conn, req)
}

// ownerControl is control with the owner's PIN, which it asks for if one is set.
func ownerControl[Out any](ctx context.Context, p *program, req controlRequest) (out Out, err error) {
	set, err := control[bool](ctx, p, controlRequest{Op: "owner.set"})
	if err != nil {
		return out, err
	}
	if set {
		if req.PIN, err = p.pin(); err != nil {
			return out, err
		}
	}
	return control[Out](ctx, p, req)
}

// sendControl sends one control request and waits for its result. If ctx ends
// meanwhile, the connection is of no further use.
func sendControl[Out any](ctx context.Context, conn net.Conn, req controlRequest) (out Out, err error) {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	defer stop()
	var res controlResult
	if err = json.NewEncoder(conn).Encode(req); err == nil {
		err = json.NewDecoder(conn).Decode(&res)
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		return out, fmt.Errorf("ask hub: %w", err)
	case res.Error != nil:
		return out, res.Error
	}
	return out, json.Unmarshal(res.Result, &out)
}
