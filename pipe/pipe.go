// Package pipe lets all processes of a user share one hub: it makes sure that a
// data directory has only one, and connects every other process to it.
//
// A hub takes the directory's lock ([Acquire]), listens on a local socket
// ([Listen]) and answers each connection's [Hello] ([Server]). Other processes
// find it with [Dial], or start it with [Spawn]. They then have a plain byte
// stream: MCP, one JSON message per line, or the hub's own control requests.
// [Relay] connects such a stream to a client's standard input and output and
// survives a hub that dies.
package pipe

import (
	"errors"

	"github.com/hearken-dev/hearken"
)

// Version is the version of the hello exchange.
const Version = 1

// What a connection is for.
const (
	WantMCP     = "mcp"     // MCP messages, one per line
	WantControl = "control" // the hub's own requests: keys, liveness
)

// A Hello is the first line that a process sends to the hub. It carries that
// process's settings, because another process may have started the hub.
type Hello struct {
	Hearken  int      `json:"hearken"` // [Version]
	Want     string   `json:"want,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Language string   `json:"language,omitempty"`
	Toolsets []string `json:"toolsets,omitempty"`
	APIKey   string   `json:"apiKey,omitempty"`
	Named    bool     `json:"named,omitempty"` // a person named Provider; see [hearken.Caller]
	Store    string   `json:"store,omitempty"` // kind and address, without its password
}

// A Welcome is the hub's answer, one line as well: OK and where the hub is, or
// why it refused.
type Welcome struct {
	OK      bool           `json:"ok"`
	Version string         `json:"version,omitempty"`
	PID     int            `json:"pid,omitempty"`
	HTTP    string         `json:"http,omitempty"`
	Error   *hearken.Error `json:"error,omitempty"`
}

// SendableError returns err as an error that has JSON.
func SendableError(err error) *hearken.Error {
	if e, ok := errors.AsType[*hearken.Error](err); ok {
		return e
	}
	return &hearken.Error{Code: hearken.Invalid, Message: err.Error()}
}
