// Package pscribe is a [hearken.Scribe] for Macs with ParrotScribe. It uses
// ParrotScribe's command-line program, pscribe.
//
// It stores nothing. Each call runs the program once, and a wait repeatedly, for
// at most [Config].Timeout and without a shell. No call waits for another. What
// the program prints becomes entries. Lines that cannot be parsed are returned
// unchanged in Raw, so no line is lost.
//
// A line number is ParrotScribe's segment number. An entry is shown only when all
// entries before it are final. So a caller that continues from
// [hearken.ScribePage].Next gets each confirmed entry exactly once, even if two
// people speak at the same time and the later segment is confirmed first.
package pscribe

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/hearken-dev/hearken"
)

var _ hearken.Scribe = (*Scribe)(nil)

// Config says how to run the program. The zero value is useful.
type Config struct {
	Path    string        // a path, or a name to be found in PATH; "pscribe" if empty
	Timeout time.Duration // of one run; 10 s if zero
	Log     *slog.Logger  // nil for none
}

// A Scribe asks ParrotScribe. Its methods may be called concurrently.
type Scribe struct {
	path    string
	timeout time.Duration
	log     *slog.Logger
	poll    time.Duration    // between two reads of a Tail that waits
	now     func() time.Time // decides which unconfirmed entries may still be confirmed
	runOnce func(ctx context.Context, args []string) (output, error)
}

// New makes a Scribe. It does not check that the program exists, since it may be
// installed later; [Find] does.
func New(cfg Config) *Scribe {
	s := &Scribe{
		path:    cmp.Or(cfg.Path, defaultPath),
		timeout: cmp.Or(cfg.Timeout, 10*time.Second),
		log:     cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)),
		poll:    500 * time.Millisecond,
		now:     time.Now,
	}
	s.runOnce = s.exec
	return s
}

// Start begins or continues transcription.
func (s *Scribe) Start(ctx context.Context, _ hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return s.runForStatus(ctx, "start", readStarted)
}

// Stop pauses transcription.
func (s *Scribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	return s.runForStatus(ctx, "stop", func(message string) *hearken.ScribeStatus {
		status := readStatus(message)
		status.Running = false
		return status
	})
}

// New begins a new session.
func (s *Scribe) New(ctx context.Context, _ hearken.CaptureRequest) (*hearken.ScribeStatus, error) {
	return s.runForStatus(ctx, "new", readStarted)
}

// Status returns what ParrotScribe says about itself.
func (s *Scribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	return s.runForStatus(ctx, "status", readStatus)
}

func (s *Scribe) runForStatus(ctx context.Context, command string, read func(message string) *hearken.ScribeStatus) (*hearken.ScribeStatus, error) {
	out, err := s.run(ctx, command)
	if err != nil {
		return nil, err
	}
	return read(out.message()), nil
}

// Sessions lists at most limit sessions, the newest first; 0 means ParrotScribe's
// own limit. Lines that name no session come last, in the Raw of a session without
// an id.
func (s *Scribe) Sessions(ctx context.Context, limit int) ([]hearken.ScribeSession, error) {
	if limit < 0 {
		return nil, hearken.Errorf(hearken.Invalid, "The limit must be at least 1, not %d.", limit)
	}
	args := []string{"list"}
	if limit > 0 {
		args = append(args, "--limit", strconv.Itoa(limit))
	}
	out, err := s.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	sessions, rest := readList(out.stdout)
	if !slices.ContainsFunc(sessions, func(x hearken.ScribeSession) bool { return x.StartedAt.IsZero() }) {
		slices.SortStableFunc(sessions, func(a, b hearken.ScribeSession) int { return b.StartedAt.Compare(a.StartedAt) })
	}
	if limit > 0 && len(sessions) > limit {
		sessions = sessions[:limit]
	}
	if rest != "" {
		sessions = append(sessions, hearken.ScribeSession{Entries: -1, Raw: rest})
	}
	return sessions, nil
}
