package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
	"github.com/hearken-dev/hearken/live"
	"github.com/hearken-dev/hearken/mcpserver"
)

// The command line learns what failed from the parts of an error, not from its
// text.
func TestToolErrors(t *testing.T) {
	const text = "n is wrong. Try: list_sessions"
	meta := mcp.Meta{mcpserver.ErrorMeta: map[string]any{"code": "not_found", "message": "n is wrong.", "try": "list_sessions"}}
	for name, tt := range map[string]struct {
		err  error
		want hearken.Error
	}{
		"Result":   {resultError(&mcp.CallToolResult{Meta: meta}, text), hearken.Error{Code: hearken.NotFound, Message: "n is wrong.", Try: "hearken sessions"}},
		"OlderHub": {resultError(&mcp.CallToolResult{}, text), hearken.Error{Code: hearken.Invalid, Message: text}},
		"Call": {
			toolError(&jsonrpc.Error{Message: text, Data: []byte(`{"code":"not_found","try":"list_sessions","message":"n is wrong."}`)}),
			hearken.Error{Code: hearken.NotFound, Message: "n is wrong.", Try: "hearken sessions"},
		},
		"CallWithoutData": {toolError(&jsonrpc.Error{Message: text}), hearken.Error{Message: text}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := errors.AsType[*hearken.Error](tt.err)
			if !ok {
				t.Fatal(tt.err)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What evidence may use besides transcripts is found by type assertion: the hub
// must have this method.
var _ evidence.FinalUntil = (*live.Hub)(nil)
