package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rendered is a tool's result whose JSON is written once. The SDK would encode a
// page of a transcript five times, which would be most of the cost of a call.
type rendered struct {
	*mcp.CallToolResult
	body []byte // the fields content and structuredContent, and those of an outcome
}

// placeholder is where the body goes in the JSON of a result without content.
var placeholder = []byte(`"content":[]`)

// renderResults makes the results of our tools [rendered].
func renderResults(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil {
			return res, err
		}
		if r, ok := res.(*mcp.CallToolResult); ok {
			switch data := r.StructuredContent.(type) {
			case json.RawMessage:
				return &rendered{r, renderBody(data)}, nil
			case outcomeJSON:
				return &rendered{r, renderOutcome(data)}, nil
			}
		}
		return res, nil
	}
}

// renderBody writes compact JSON twice: as structured content for clients that
// know output schemas, and as text for the others.
func renderBody(data []byte) []byte {
	b := make([]byte, 0, 2*len(data)+len(data)/4+80)
	b = append(b, `"content":[{"type":"text","text":"`...)
	for _, c := range data { // control characters are escaped already
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	b = append(b, `"}],"structuredContent":`...)
	return append(b, data...)
}

// renderOutcome also writes the fields of an object beside the content, where
// the contract of the action tools has them.
func renderOutcome(data []byte) []byte {
	members := data[1 : len(data)-1]
	return append(append(renderBody(data), ','), members...)
}

// MarshalJSON has the SDK encode the little that remains of the result, and
// inserts the body.
func (r *rendered) MarshalJSON() ([]byte, error) {
	rest := *r.CallToolResult
	rest.Content, rest.StructuredContent = []mcp.Content{}, nil
	frame, err := json.Marshal(&rest)
	if err != nil {
		return nil, err
	}
	before, after, ok := bytes.Cut(frame, placeholder)
	if !ok {
		return nil, fmt.Errorf("result without content: %s", frame)
	}
	return bytes.Join([][]byte{before, r.body, after}, nil), nil
}
