package hearken

import (
	"context"
	"time"
)

// A Store keeps sessions and their segments. All methods may be called
// concurrently. What is not there is reported as an [*Error] with
// [SessionNotFound] or [NotFound]; everything else that fails is a plain error.
type Store interface {
	// Save writes the session's own row, new or changed, and appends segments
	// in one transaction. Segments are identified by their line: one that is
	// already there is left as it is, so a Save may be repeated after a crash.
	Save(ctx context.Context, s *Session, segments []Segment) error
	// Session finds one session.
	Session(ctx context.Context, id string) (*Session, error)
	// Sessions lists sessions, newest first.
	Sessions(ctx context.Context, f SessionFilter) ([]Session, error)
	// Segments returns up to limit entries from line on, in the order of their
	// lines, with their words only if asked for.
	Segments(ctx context.Context, id string, line, limit int, words bool) ([]Segment, error)
	// Search finds entries in all sessions, newest first.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Delete removes a session with everything that belongs to it, so that no
	// byte of its text is left in the store's files.
	Delete(ctx context.Context, id string) error
	// Forget removes the entries whose line is at or after the given one, as
	// thoroughly as Delete does. Later entries get higher lines all the same.
	Forget(ctx context.Context, id string, line int) error

	// SaveNote keeps one note for its session, in place of an earlier one.
	SaveNote(ctx context.Context, n *Note) error
	// Note finds a session's note.
	Note(ctx context.Context, session string) (*Note, error)

	// SaveKey writes a key, new or changed.
	SaveKey(ctx context.Context, k *Key) error
	// Keys lists all keys, oldest first, revoked ones included.
	Keys(ctx context.Context) ([]Key, error)

	// SaveOwner records whose actions the store holds. It replaces the record
	// of an earlier owner.
	SaveOwner(ctx context.Context, o *StoreOwner) error
	// Owner finds that record; [NotFound] if there is none.
	Owner(ctx context.Context) (*StoreOwner, error)

	ActionStore

	// Close releases the store. No method may be called after it.
	Close() error
}

// A Key lets a client in. The secret itself is shown once and never stored.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Hash      []byte     `json:"-"` // SHA-256 of the secret
	CreatedAt time.Time  `json:"createdAt"`
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	// Toolsets limits what the key may use; empty is everything.
	Toolsets []string `json:"toolsets,omitempty"`
	// Approver is who may approve what the key asks for: the owner alone if
	// it is empty, or [ApproverClient].
	Approver string `json:"approver,omitempty"`
}

// A StoreOwner says whose actions a store holds. A hub compares it with its own
// data directory and PIN before it acts on what was approved.
type StoreOwner struct {
	DataDir string    `json:"dataDir"` // identifies the hub's data directory
	PIN     []byte    `json:"pin"`     // fingerprint of the owner's PIN; empty if none is set
	SavedAt time.Time `json:"savedAt"`
}

// ApproverClient lets the client that asks for an action also approve it, by
// asking whoever sits before it.
const ApproverClient = "client"
