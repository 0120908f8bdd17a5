package mcpserver

import (
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Kept is how many servers are kept ready.
func (f *Factory) Kept() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent.Len()
}

// NewLimiterAt is a limiter for one key whose clock is the test's.
func NewLimiterAt(limit int) func(now time.Duration) (wait time.Duration) {
	r := &ring{}
	return func(now time.Duration) time.Duration { return r.take(now, limit) }
}

// OutputSchemas are the full schemas of what the tools return, by name. Clients
// get only an outline of them.
func OutputSchemas() map[string]*jsonschema.Schema {
	schemas := map[string]*jsonschema.Schema{}
	for _, t := range tools() {
		if t.output != nil {
			schemas[t.Name] = t.output
		}
	}
	return schemas
}

// read checks the arguments of a call that is not made.
func (t *tool) read(arguments []byte) (err error) {
	if t.perform != nil {
		_, err = t.perform(arguments)
		return err
	}
	_, err = t.bind(arguments)
	return err
}
