package hearken

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// A Code identifies a kind of failure for programs.
type Code string

// The errors of sessions, and general ones.
const (
	SessionNotFound          Code = "session_not_found"
	SessionAlreadyStopped    Code = "session_already_stopped"
	SessionAlreadyActive     Code = "session_already_active"
	ProviderConnectionFailed Code = "provider_connection_failed"
	ProviderNotConfigured    Code = "provider_not_configured"
	APIKeyMissing            Code = "api_key_missing"
	AudioWebSocketClosed     Code = "audio_websocket_closed"
	BufferOverflow           Code = "buffer_overflow"
	RepositoryError          Code = "repository_error"

	Invalid      Code = "invalid"      // the caller's input is wrong
	Unauthorized Code = "unauthorized" // no key, or a wrong one
	Forbidden    Code = "forbidden"    // a key, but not for this
	NotFound     Code = "not_found"    // something other than a session
	Busy         Code = "busy"         // too much at the moment; try later
	Undecodable  Code = "undecodable"  // audio that cannot be decoded
	RateLimited  Code = "rate_limited" // too many requests in too short a time
)

// The errors of actions. Agents see the code in front of a colon.
const (
	ApprovalPending      Code = "approval_pending"
	ActionWasDenied      Code = "denied"
	ApprovalExpired      Code = "approval_expired"
	ApprovalMismatch     Code = "approval_mismatch"
	AmbiguousRecipient   Code = "ambiguous_recipient"
	UnknownRecipient     Code = "unknown_recipient"
	InvalidRecipient     Code = "invalid_recipient"
	InvalidTime          Code = "invalid_time"
	InvalidRepeat        Code = "invalid_repeat"
	DurationOutOfRange   Code = "duration_out_of_range"
	TimeInPast           Code = "time_in_past"
	ScopeDenied          Code = "scope_denied"
	PolicyDenied         Code = "policy_denied"
	DailyLimit           Code = "daily_limit"
	AuditUnavailable     Code = "audit_unavailable"
	ConnectorMissing     Code = "connector_not_configured"
	ProviderTemporary    Code = "provider_temporary"
	ProviderRejected     Code = "provider_rejected"
	OutcomeUnknown       Code = "outcome_unknown"
	ActionsPaused        Code = "paused"
	ActionWasCancelled   Code = "cancelled"
	ActionCannotBeUndone Code = "cannot_undo"
)

var rpcNumbers = map[Code]int64{
	SessionNotFound: -32001, SessionAlreadyStopped: -32002, ProviderNotConfigured: -32003, APIKeyMissing: -32004,
	Invalid: -32602, Unauthorized: 401, Forbidden: 403, RateLimited: 429,
}

// RPC returns the code's number as a JSON-RPC error.
func (c Code) RPC() int64 { return cmp.Or(rpcNumbers[c], -32000) }

// An Error is a failure that a person or an agent sees: a code, a plain
// sentence, and optionally what to try. Its JSON is what programs get.
type Error struct {
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message"`
	Try     string `json:"try,omitempty"` // a command or a step, without the word "Try"
	Err     error  `json:"-"`             // the cause; not shown, but found by errors.Is and As
}

// Errorf returns an [Error]. A %w in the format keeps the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithTry sets what to try next.
func (e *Error) WithTry(format string, args ...any) *Error {
	e.Try = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string {
	if e.Try == "" {
		return e.Message
	}
	stop := ""
	if !strings.HasSuffix(e.Message, ".") && !strings.HasSuffix(e.Message, "?") {
		stop = "."
	}
	return e.Message + stop + " Try: " + e.Try
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [Error] in err's chain, or an empty one.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
