package pipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxLine is the longest message that the relay forwards, in bytes.
const maxLine = 16 << 20

// A message is the part of a JSON-RPC message that the relay reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

// rejectionOf returns nil for a message that the hub can read. For any other line,
// which would make the hub close the connection, it returns the JSON-RPC error
// to answer with.
func rejectionOf(line []byte) []byte {
	reject := func(code int, text string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, text)
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
		return reject(-32600, fmt.Sprintf("Invalid request: a message may have at most %d bytes.", maxLine))
	case err != nil && !json.Valid(line):
		return reject(-32700, "Parse error: the message is not JSON.")
	case trimmed[0] == '[':
		return reject(-32600, "Invalid request: batches are not supported here. Send one message per line.")
	case err != nil || m.JSONRPC != "2.0" || m.Method == "" && m.Result == nil && m.Error == nil:
		return reject(-32600, "Invalid request: not a JSON-RPC 2.0 message.")
	case len(m.ID) > 0 && m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-':
		return reject(-32600, "Invalid request: an id is a string or a number.")
	}
	return nil
}

// A lineWriter lets several goroutines write whole lines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}
