package pipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxLine is the longest message that is carried to the hub.
const maxLine = 16 << 20

// refusal is the answer to a line that is no message for the hub, which would
// hang up on it; nil for one that is.
func refusal(line []byte) []byte {
	no := func(id json.RawMessage, code int, text string) []byte {
		if len(id) == 0 {
			id = json.RawMessage("null")
		}
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, text)
	}
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	trimmed := bytes.TrimSpace(line)
	switch err := json.Unmarshal(line, &m); {
	case len(line) > maxLine:
		return no(nil, -32600, fmt.Sprintf("Invalid request: a message may have at most %d bytes.", maxLine))
	case err != nil && !json.Valid(line):
		return no(nil, -32700, "Parse error: the message is not JSON.")
	case trimmed[0] == '[':
		return no(nil, -32600, "Invalid request: batches are not taken here; send one message a line.")
	case err != nil || m.JSONRPC != "2.0" || m.Method == "" && m.Result == nil && m.Error == nil:
		return no(nil, -32600, "Invalid request: not a JSON-RPC 2.0 message.")
	case len(m.ID) > 0 && m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-':
		return no(nil, -32600, "Invalid request: an id is a string or a number.")
	}
	return nil
}

// lines lets several goroutines write whole lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}
