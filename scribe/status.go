package scribe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
)

// Consent is what is said whenever something is being recorded.
const Consent = "Recording: everybody on the call should know that it is transcribed."

// unseenFor is how long nobody may ask before that is worth a word.
const unseenFor = 5 * time.Minute

// goesOn is what is said of every capture.
const goesOn = "It goes on until it is stopped, also when whoever started it has left."

// Status tells what is captured, and from evidence how its session is doing.
func (s *Scribe) Status(ctx context.Context) (*hearken.ScribeStatus, error) {
	select {
	case <-s.resumed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	unseen := s.look()
	s.mu.Lock()
	c, last, trouble := s.now, s.last, s.trouble
	s.mu.Unlock()
	st := &hearken.ScribeStatus{Running: c != nil, Session: last}
	if c != nil {
		c.mu.Lock()
		st.Session, st.Since = c.place.session, c.place.since
		c.mu.Unlock()
		if st.Notes = c.sound.Notes(); !slices.ContainsFunc(st.Notes, asksConsent) {
			st.Notes = append([]string{Consent}, st.Notes...)
		}
		if unseen >= unseenFor {
			st.Notes = append(st.Notes, fmt.Sprintf("Nobody has asked about it for %.0f minutes.", unseen.Minutes()))
		}
		st.Notes = append(st.Notes, goesOn)
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
	if trouble != "" {
		st.Notes = append(st.Notes, trouble)
	}
	about, err := s.cfg.Hub.Status(ctx, st.Session)
	switch {
	case hearken.CodeOf(err) == hearken.SessionNotFound: // deleted since
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
			st.Notes = append(st.Notes, "The capture ended with an earlier hub.")
		}
		st.Notes = append(st.Notes, "The last words are still to come.")
	}
	if st.Running {
		switch about.Health {
		case "provider_trouble":
			st.Notes = append(st.Notes, "The speech engine does not answer; the sound waits for it.")
		case "storage_trouble":
			st.Notes = append(st.Notes, "The transcript cannot be written to disk at the moment.")
		case "lagging":
			st.Notes = append(st.Notes, fmt.Sprintf("The speech engine is %.0f s behind.", about.Lag))
		case "waiting_for_audio":
			if st.Length > 0 {
				st.Notes = append(st.Notes, "No sound has come for a while.")
			}
		}
	}
	return st, nil
}

// look notes that somebody looks, and tells how long nobody has.
func (s *Scribe) look() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	unseen := now.Sub(s.seen)
	s.seen = now
	return unseen
}

// asksConsent reports whether a note says what [Consent] says.
func asksConsent(note string) bool { return strings.Contains(note, "on the call should know") }

// Levels are how loud each channel is now, from 0 to 1: none if nothing is
// captured.
func (s *Scribe) Levels() []float64 {
	if c := s.current(); c != nil {
		return c.sound.Levels()
	}
	return nil
}

// Sessions lists the captures of this computer, the newest first.
func (s *Scribe) Sessions(ctx context.Context, limit int) ([]hearken.ScribeSession, error) {
	found, err := s.captures(ctx, hearken.SessionFilter{}, limit)
	if err != nil {
		return nil, err
	}
	running := ""
	if c := s.current(); c != nil {
		c.mu.Lock()
		running = c.place.session
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
// them. It looks further back until there are enough, since stores do not know
// a capture from another session.
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
			if all[i].Config.Capture && (limit == 0 || len(found) < limit) {
				found = append(found, all[i])
			}
		}
		if len(found) == limit || f.Limit == 0 || len(all) < f.Limit {
			return found, nil
		}
		f.Limit *= 4
	}
}
