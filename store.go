package hearken

import (
	"context"
	"time"
)

// A Store keeps sessions, keys and actions. All methods may be called
// concurrently. What does not exist is an [*Error] with the code
// [SessionNotFound] or [NotFound]; other failures are plain errors.
type Store interface {
	// Save writes the session, new or changed, and appends segments, all in one
	// transaction. A segment whose line is already stored is ignored, so a Save
	// may be repeated after a crash.
	Save(ctx context.Context, s *Session, segments []Segment) error
	// Session finds one session.
	Session(ctx context.Context, id string) (*Session, error)
	// Sessions lists sessions, newest first.
	Sessions(ctx context.Context, f SessionFilter) ([]Session, error)
	// Segments returns up to limit entries, starting at line, in the order of
	// their lines. It reads their words only if words is true.
	Segments(ctx context.Context, id string, line, limit int, words bool) ([]Segment, error)
	// Search finds entries in all sessions, newest first.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Delete removes a session with all its data. No byte of its text remains
	// in the store's files.
	Delete(ctx context.Context, id string) error
	// Forget removes what was said between two seconds of the session's clock,
	// as thoroughly as Delete does: every entry that overlaps them, except
	// events. Its line is not used again.
	Forget(ctx context.Context, id string, from, to float64) error

	// SaveNote writes the note of a session and replaces an earlier one.
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

	// SaveExposure records when a principal was last exposed to transcript
	// text. An earlier time than the recorded one is ignored.
	SaveExposure(ctx context.Context, principal string, at time.Time) error
	// Exposures returns those times by principal.
	Exposures(ctx context.Context) (map[string]time.Time, error)

	// SaveAuditHead records the end of an audit and replaces the earlier record
	// of the same name. It is on disk when SaveAuditHead returns.
	SaveAuditHead(ctx context.Context, h *AuditHead) error
	// AuditHeads lists these records by name.
	AuditHeads(ctx context.Context) ([]AuditHead, error)

	ActionStore

	// Close closes the store. No method may be called after it.
	Close() error
}

// A Key lets a remote client in. Its secret is shown once and never stored.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Hash      []byte     `json:"-"` // SHA-256 of the secret
	CreatedAt time.Time  `json:"createdAt"`
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	// Toolsets are the tools that the key may use; empty means all.
	Toolsets []string `json:"toolsets,omitempty"`
	// Approver says who may approve what the key requests: only the owner if it
	// is empty, or also the client if it is [ApproverClient].
	Approver string `json:"approver,omitempty"`
}

// A StoreOwner says whose actions a store holds. A hub compares it with its own
// data directory and PIN before it acts on what was approved.
type StoreOwner struct {
	DataDir string    `json:"dataDir"` // identifies the hub's data directory
	PIN     []byte    `json:"pin"`     // fingerprint of the owner's PIN; empty if none is set
	SavedAt time.Time `json:"savedAt"`
}

// ApproverClient lets the client that requests an action also approve it, by
// asking its user.
const ApproverClient = "client"
