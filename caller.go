package hearken

// A Transport is how an MCP client reaches the hub.
type Transport string

const (
	TransportStdio     Transport = "stdio"
	TransportHTTP      Transport = "http"
	TransportSSE       Transport = "sse"
	TransportWebSocket Transport = "ws"
)

// A Caller is who makes a request, and what the caller may do.
type Caller struct {
	// Principal is the id of a key, "local" for the user's processes on the
	// local socket, or "loopback" for those that come over HTTP without a key.
	Principal string
	// Toolsets are the toolsets that the caller may use. Empty is all of them.
	Toolsets []string
	// Approver is [ApproverClient] if the client may ask its user to approve;
	// see [Key].
	Approver string
	// Transport is how the caller's MCP messages arrive.
	Transport Transport

	// A process on the local socket brings its own settings along.
	Provider string // engine of sessions that name none; empty for the hub's
	Language string // language of such sessions; empty for the provider's
	APIKey   string // the caller's own key for Provider
	// Named says that a person named Provider. Otherwise it follows from a key
	// in the process's environment.
	Named bool
}

// ForCapture returns c for a session with this computer's own audio. A key alone
// chooses no engine for that.
func (c Caller) ForCapture() Caller {
	if !c.Named {
		c.Provider, c.APIKey = "", ""
	}
	return c
}
