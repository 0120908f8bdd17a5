package mcpserver

import (
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Cached is how many servers are cached.
func (f *Factory) Cached() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent.Len()
}

// NewLimiterAt is a limiter for one key whose clock is the test's.
func NewLimiterAt(limit int) func(now time.Duration) (wait time.Duration) {
	r := &requestTimes{}
	return func(now time.Duration) time.Duration { return r.add(now, limit) }
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

// Tokens estimates how many tokens a text costs a model, never too low.
func Tokens(text string) int {
	n := 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			n++
		} else {
			n += 3
		}
	}
	return (n + 2) / 3
}

// read checks the arguments of a call that is not made.
func (t *tool) read(arguments []byte) (err error) {
	_, err = t.bind(arguments)
	return err
}
