// Package pipe lets many processes of one person share one hub: it holds the
// rule of one hub per data directory and joins every other process to it.
//
// A hub takes the directory's lock ([Acquire]), listens on a local socket
// ([Listen]) and answers each connection's [Hello] ([Server]). Everybody else
// finds it with [Dial], or starts it with [Spawn], and then has a plain byte
// stream: MCP, one JSON message a line, or the hub's own control requests.
// [Relay] joins such a stream to a client's standard input and output and
// outlives a hub that dies.
package pipe

import "github.com/hearken-dev/hearken"

// Version is the version of the hello exchange.
const Version = 1

// What a connection is for.
const (
	WantMCP     = "mcp"     // MCP messages, one a line
	WantControl = "control" // the hub's own requests: keys, liveness
)

// A Hello is the first line that a process sends to the hub. It brings along
// what that process was configured with, so that a hub which somebody else
// started serves it as its own would.
type Hello struct {
	Hearken  int      `json:"hearken"` // [Version]
	Want     string   `json:"want,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Language string   `json:"language,omitempty"`
	Toolsets []string `json:"toolsets,omitempty"`
	APIKey   string   `json:"apiKey,omitempty"`
	Store    string   `json:"store,omitempty"` // what and where, without its password
}

// A Welcome is the hub's answer, one line as well: OK with where to find it,
// or the reason why not.
type Welcome struct {
	OK      bool     `json:"ok"`
	Version string   `json:"version,omitempty"`
	PID     int      `json:"pid,omitempty"`
	HTTP    string   `json:"http,omitempty"`
	Error   *Refusal `json:"error,omitempty"`
}

// A Refusal is a [hearken.Error] on the wire.
type Refusal struct {
	Code    hearken.Code `json:"code"`
	Message string       `json:"message"`
	Try     string       `json:"try,omitempty"`
}

// Refuse puts err on the wire.
func Refuse(err error) *Refusal {
	if e, ok := asError(err); ok {
		return &Refusal{Code: e.Code, Message: e.Message, Try: e.Try}
	}
	return &Refusal{Code: hearken.Invalid, Message: err.Error()}
}

// Err takes it off again.
func (r *Refusal) Err() error {
	return &hearken.Error{Code: r.Code, Message: r.Message, Try: r.Try}
}
