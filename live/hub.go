package live

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
)

// A Hub owns every active session. All methods may be called concurrently.
type Hub struct{ cfg Config }

// Open recovers the sessions that an earlier hub left behind and returns a
// hub that goes on with them.
func Open(ctx context.Context, cfg Config) (*Hub, error) { panic("being written") }

// Close drains every session until ctx ends and leaves those that are not
// done for the next hub to recover.
func (h *Hub) Close(ctx context.Context) error { panic("being written") }

// Start makes a session after checking that its provider could serve it.
func (h *Hub) Start(ctx context.Context, req StartRequest) (*hearken.Session, error) {
	panic("being written")
}

// Stop drains a session and ends it. The session's own words are complete
// when it returns.
func (h *Hub) Stop(ctx context.Context, id string) (*hearken.Session, error) { panic("being written") }

// Session finds a session, active or stored.
func (h *Hub) Session(ctx context.Context, id string) (*hearken.Session, error) {
	panic("being written")
}

// Sessions lists sessions, newest first.
func (h *Hub) Sessions(ctx context.Context, f hearken.SessionFilter) ([]hearken.Session, error) {
	panic("being written")
}

// Status tells how a session is doing, from evidence.
func (h *Hub) Status(ctx context.Context, id string) (*Status, error) { panic("being written") }

// Read returns entries of a session, waiting for news if asked to.
func (h *Hub) Read(ctx context.Context, req ReadRequest) (*Page, error) { panic("being written") }

// Segments returns all entries of a session in order, in bounded batches.
func (h *Hub) Segments(ctx context.Context, id string, words bool, yield func([]hearken.Segment) error) error {
	panic("being written")
}

// Search finds entries in stored and active sessions.
func (h *Hub) Search(ctx context.Context, q hearken.Query) ([]hearken.Hit, error) {
	panic("being written")
}

// Delete stops a session if need be and removes every trace of it.
func (h *Hub) Delete(ctx context.Context, id string) error { panic("being written") }

// Forget removes what was said in the last d of a session and tells how many
// entries that were.
func (h *Hub) Forget(ctx context.Context, id string, d time.Duration) (int, error) {
	panic("being written")
}

// Rename gives a session a title.
func (h *Hub) Rename(ctx context.Context, id, title string) (*hearken.Session, error) {
	panic("being written")
}

// SaveNote keeps a markdown note with its session.
func (h *Hub) SaveNote(ctx context.Context, n hearken.Note) error { panic("being written") }

// Note finds a session's note.
func (h *Hub) Note(ctx context.Context, id string) (*hearken.Note, error) { panic("being written") }

// Attach makes the caller the sender of an active session. The same principal
// replaces its own earlier connection; another is refused.
func (h *Hub) Attach(ctx context.Context, id, principal string) (hearken.Input, error) {
	panic("being written")
}

// Ticket is the secret that lets its bearer send sound to one active session.
func (h *Hub) Ticket(id string) (string, error) { panic("being written") }

// CheckTicket reports whether ticket belongs to the active session id, and
// the principal that started it.
func (h *Hub) CheckTicket(id, ticket string) (principal string, ok bool) { panic("being written") }

// Active is the number of active sessions.
func (h *Hub) Active() int { panic("being written") }
