package scribe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Consent is part of every status while something is being recorded.
const Consent = "Recording: everybody on the call should know that it is transcribed."

// unattendedAfter is how long nobody asks before the status mentions it.
const unattendedAfter = 5 * time.Minute

// runsUntilStopped is part of every status of a running capture.
const runsUntilStopped = "It runs until somebody stops it, even if the client that started it disconnects."

// Status reports what is being captured and how its session is doing.
func (s *Scribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	select {
	case <-s.resumed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	unattended := s.markAsked()
	s.mu.Lock()
	c, last, failure := s.running, s.last, s.failure
	s.mu.Unlock()
	st := &hearken.ScribeStatus{Running: c != nil, Session: last}
	if c != nil {
		c.mu.Lock()
		st.Session, st.Since = c.dest.session, c.dest.since
		c.mu.Unlock()
		st.Levels = c.audio.Levels()
		if st.Notes = c.audio.Notes(); !slices.ContainsFunc(st.Notes, asksConsent) {
			st.Notes = append([]string{Consent}, st.Notes...)
		}
		if unattended >= unattendedAfter {
			st.Notes = append(st.Notes, fmt.Sprintf("Nobody has asked about it for %.0f minutes.", unattended.Minutes()))
		}
		st.Notes = append(st.Notes, runsUntilStopped)
	}
	if st.Session == "" {
		found, err := s.captures(ctx, hearken.SessionFilter{}, 1)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return st, nil
		}
		st.Session = found[0].ID
	}
	if failure != "" {
		st.Notes = append(st.Notes, failure)
	}
	about, err := s.cfg.Hub.Status(ctx, st.Session)
	switch {
	case hearken.CodeOf(err) == hearken.SessionNotFound: // deleted meanwhile
		if !st.Running {
			st.Session = ""
		}
		return st, nil
	case err != nil:
		return nil, err
	}
	st.Since = about.Session.StartedAt
	st.Length = time.Duration(about.Session.Duration * float64(time.Second))
	if !st.Running && about.Session.Status == hearken.Active {
		if last == "" {
			st.Notes = append(st.Notes, "The capture ended when an earlier hub stopped.")
		}
		st.Notes = append(st.Notes, "The last words are still being transcribed.")
	}
	if st.Running {
		st.Engine, st.Language = about.Engine, about.Session.Language
		if s.cfg.Hearing != nil {
			st.Notes = append(st.Notes, s.cfg.Hearing(about))
		}
		switch about.Health {
		case "provider_trouble":
			st.Notes = append(st.Notes, "The speech engine does not respond. The audio is kept until it does.")
		case "storage_trouble":
			st.Notes = append(st.Notes, "The transcript cannot be written to disk at the moment.")
		case "lagging":
			st.Notes = append(st.Notes, fmt.Sprintf("The speech engine is %.0f s behind.", about.Lag))
		case "waiting_for_audio":
			if st.Length > 0 {
				st.Notes = append(st.Notes, "No audio has arrived for a while.")
			}
		}
	}
	return st, nil
}

// markAsked records that somebody asks for the state, and returns how long nobody
// had.
func (s *Scribe) markAsked() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	unattended := now.Sub(s.lastAsked)
	s.lastAsked = now
	return unattended
}

// asksConsent reports whether a note says what [Consent] says.
func asksConsent(note string) bool { return strings.Contains(note, "on the call should know") }

// Sessions lists the captures of this computer, the newest first.
func (s *Scribe) Sessions(ctx context.Context, limit int) ([]hearken.ScribeSession, error) {
	found, err := s.captures(ctx, hearken.SessionFilter{}, limit)
	if err != nil {
		return nil, err
	}
	running := ""
	if c := s.current(); c != nil {
		c.mu.Lock()
		running = c.dest.session
		c.mu.Unlock()
	}
	list := make([]hearken.ScribeSession, len(found))
	for i := range found {
		list[i] = hearken.ScribeSession{
			ID: found[i].ID, StartedAt: found[i].StartedAt, Entries: found[i].SegmentCount, Running: found[i].ID == running,
			Length: time.Duration(found[i].Duration * float64(time.Second)),
		}
	}
	return list, nil
}

// captures finds the newest captures among all sessions; limit 0 is all of
// them. A capture that was transcribed again counts once. It looks further back
// until there are enough, since stores do not know a capture from another
// session.
func (s *Scribe) captures(ctx context.Context, f hearken.SessionFilter, limit int) ([]hearken.Session, error) {
	if limit > 0 {
		f.Limit = max(32, 2*limit)
	}
	for {
		all, err := s.cfg.Hub.Sessions(ctx, f)
		if err != nil {
			return nil, err
		}
		var found []hearken.Session
		for i := range all {
			if c := &all[i].Config; c.Capture && !c.Recorded && (limit == 0 || len(found) < limit) {
				found = append(found, all[i])
			}
		}
		if len(found) == limit || f.Limit == 0 || len(all) < f.Limit {
			return found, nil
		}
		f.Limit *= 4
	}
}
