package act

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/test/hubtest"
)

// An Agent calls tools over HTTP with a key.
type Agent struct {
	URL, Key string
	client   http.Client
}

// An Outcome is what an acting tool answers.
type Outcome struct {
	Status string `json:"status"`
	ID     string `json:"id"`
	Error  string `json:"error"`
}

// Code is the code in front of the error; empty if all is well.
func (o *Outcome) Code() hearken.Code {
	code, _, _ := strings.Cut(o.Error, ":")
	return hearken.Code(code)
}

// Call calls a tool. The error is an [*hubtest.RPCError] if the hub answered
// with one.
func (a *Agent) Call(ctx context.Context, tool string, args any) (*Outcome, error) {
	header := http.Header{"Authorization": {"Bearer " + a.Key}}
	result, err := hubtest.Post(ctx, &a.client, a.URL, header, hubtest.Request(1, tool, args))
	if err != nil {
		return nil, err
	}
	var got Outcome
	err = json.Unmarshal(result, &got)
	return &got, err
}
