package hearken

import (
	"context"
	"time"
)

// The types of audit records. Every step of an action is recorded, and
// everything that changes who may do what.
const (
	AuditProposed  = "action.proposed"
	AuditDecided   = "action.decided"
	AuditExecuting = "action.executing" // on disk before anything happens
	AuditResult    = "action.result"
	AuditUndone    = "action.undone"
	AuditFired     = "reminder.fired"
	AuditRefused   = "auth.refused" // wrong key, wrong PIN, no right
	AuditLimited   = "auth.limited"
	AuditKey       = "key.changed"
	AuditGrant     = "grant.changed"
	AuditOwner     = "owner.changed"
	AuditPaused    = "hub.paused"
	AuditHub       = "hub.state" // started, stopped
)

// An AuditRecord is one line of the audit. Fields that do not apply are empty.
type AuditRecord struct {
	Type      string   `json:"type"`
	Action    string   `json:"action,omitempty"`
	Principal string   `json:"key,omitempty"`
	Tool      string   `json:"tool,omitempty"`
	Target    string   `json:"target,omitempty"`
	Digest    string   `json:"digest,omitempty"`
	State     string   `json:"state,omitempty"`
	By        string   `json:"by,omitempty"`
	From      string   `json:"from,omitempty"`
	Grant     string   `json:"grant,omitempty"`
	Receipt   string   `json:"receipt,omitempty"`
	Error     string   `json:"error,omitempty"`
	Evidence  []string `json:"evidence,omitempty"` // arg=source:session/segment
	// When is the time of an appointment or reminder, or the end of a grant.
	When *time.Time `json:"when,omitempty"`
	// Texts are free texts by name. They are stored as an HMAC, never in the
	// clear, so that they can be forgotten.
	Texts map[string]string `json:"texts,omitempty"`
}

// An AuditHead is the end of an audit as a store remembers it. The store lies
// apart from the audit's files and keys, so it knows of records that somebody
// removed there.
type AuditHead struct {
	Name       string    `json:"name"`       // of the audit; a store may serve several hubs, each with its own
	Key        string    `json:"key"`        // the public key that verifies the checkpoint
	Checkpoint string    `json:"checkpoint"` // the newest one, signed
	SavedAt    time.Time `json:"savedAt"`
}

// An Audit is the tamper-evident record of everything that was requested,
// decided, done or refused. It may be used concurrently.
type Audit interface {
	// Append writes a record. It is on disk when Append returns without error.
	Append(ctx context.Context, r AuditRecord) error
}
