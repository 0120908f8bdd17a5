// Package evidence finds what was really said about an action, in the hub's
// own transcripts: an agent's word for it is only a hint.
package evidence

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// Transcripts are the sessions to look in.
type Transcripts interface {
	Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error)
	Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error
}

// A Claim is what an agent says the words behind an action are.
type Claim struct {
	Session  string
	Segments []string
	Quote    string
}
