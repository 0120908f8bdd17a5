package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// rpcErrors turns the plain-text errors of the SDK's handlers into JSON-RPC
// ones. The code is JSON-RPC's own if it has one, else the HTTP status.
type rpcErrors struct {
	body   []byte // the message that was posted, if any
	status int    // of the plain-text error whose text is still to come
}

// deferText reports whether a header is that of a plain-text error. Its text follows.
func (e *rpcErrors) deferText(h http.Header, status int) bool {
	if status < 400 || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		return false
	}
	e.status = status
	return true
}

// finish writes the error with its text.
func (e *rpcErrors) finish(w *response, text string) {
	status := e.status
	e.status = 0
	id, valid := messageID(e.body)
	code := int64(status)
	if status == http.StatusBadRequest {
		switch {
		case e.body != nil && !valid:
			code, text = jsonrpc.CodeParseError, "Parse error: the message is not JSON."
		case strings.HasPrefix(text, "JSON RPC not handled") && id != nil:
			// The message itself was valid, so this is the answer to its call.
			status, code, text = http.StatusOK, jsonrpc.CodeMethodNotFound, "Method not found: "+messageMethod(e.body)
		default:
			code = jsonrpc.CodeInvalidRequest
		}
	}
	w.writeRPC(status, id, code, text, "")
}

// writeRPC answers with one JSON-RPC error.
func (w *response) writeRPC(status int, id json.RawMessage, code int64, message, try string) {
	w.Header().Set("Content-Type", "application/json")
	w.writeHeader(status)
	_, _ = w.ResponseWriter.Write(rpcError(id, code, message, try)) // the client may have gone
}

// rpcError encodes a JSON-RPC error. Without an id, the id is null.
func rpcError(id json.RawMessage, code int64, message, try string) []byte {
	e := jsonrpc.Error{Code: code, Message: message}
	if try != "" {
		e.Data, _ = json.Marshal(map[string]string{"try": try})
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	b, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, e})
	return b
}

// messageID returns the id of a message, nil if it has no valid one, and whether
// the message is JSON at all.
func messageID(body []byte) (id json.RawMessage, valid bool) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, json.Valid(body)
	}
	if len(m.ID) == 0 {
		return nil, true
	}
	switch c := m.ID[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return m.ID, true
	}
	return nil, true
}

func messageMethod(body []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(body, &m) // what is not a call has no method
	return m.Method
}
