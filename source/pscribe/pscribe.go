// Package pscribe lets ParrotScribe do the hearing on a Mac that has it: a
// [hearken.Scribe] over its command line program, pscribe.
//
// Nothing is kept here. Each call runs the program once (a wait runs it again
// and again), with an argument vector and never a shell, for at most
// [Config].Timeout; no call waits for another. What it prints is read into
// entries where it can be read, and passed on as it is in Raw where it cannot:
// no line is lost.
//
// A line number is ParrotScribe's segment number. An entry is shown when all
// entries before it are settled, so that somebody who goes on from
// [hearken.ScribePage].Next gets each confirmed entry exactly once, also when
// two people speak at the same time and the later segment is confirmed first.
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

// Config says how to reach the program. The zero value is good.
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
	poll    time.Duration    // between two looks of a Tail that waits
	now     func() time.Time // tells which unconfirmed entries are still to be confirmed
	runOnce func(ctx context.Context, args []string) (output, error)
}

// New makes a Scribe. It does not look whether the program is there, which
// may be installed later: [Find] does.
func New(cfg Config) *Scribe {
	s := &Scribe{
		path:    cmp.Or(cfg.Path, defaultPath),
		timeout: cmp.Or(cfg.Timeout, 10*time.Second),
		log:     cfg.Log,
		poll:    500 * time.Millisecond,
		now:     time.Now,
	}
	s.runOnce = s.exec
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Start begins or goes on with transcription.
func (s *Scribe) Start(ctx context.Context) (*hearken.ScribeStatus, error) {
	out, err := s.run(ctx, "start")
	if err != nil {
		return nil, err
	}
	return readStarted(out.words()), nil
}

// Stop pauses transcription.
func (s *Scribe) Stop(ctx context.Context) (*hearken.ScribeStatus, error) {
	out, err := s.run(ctx, "stop")
	if err != nil {
		return nil, err
	}
	status := readStatus(out.words())
	status.Running = false
	return status, nil
}

// New begins a new session.
func (s *Scribe) New(ctx context.Context) (*hearken.ScribeStatus, error) {
	out, err := s.run(ctx, "new")
	if err != nil {
		return nil, err
	}
	return readStarted(out.words()), nil
}

// Status tells what ParrotScribe says of itself.
func (s *Scribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	out, err := s.run(ctx, "status")
	if err != nil {
		return nil, err
	}
	return readStatus(out.words()), nil
}

// Sessions lists at most limit sessions, the newest first; 0 leaves the number
// to ParrotScribe. Lines that name no session come last, in the Raw of one
// without an id.
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
