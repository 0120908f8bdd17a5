package evidence

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// Entries further apart than this are not one utterance.
const pause = 15 * time.Second

// sessionLength is how long sessions last at most, but for those that are still
// active.
const sessionLength = 48 * time.Hour

// A conversation is everything that was said that an action may be about.
type conversation struct {
	near   []stream // the owner's side
	far    []stream // everybody else
	around *around  // far by time, before echoes were found
	claim  Claim
	quote  []string // what the agent claims was said
}

// gather loads what was said lately, and what the claim cites.
func (f *Finder) gather(ctx context.Context, q *Query) (*conversation, error) {
	r := &conversation{}
	if q.Claim != nil {
		r.claim, r.quote = *q.Claim, plain(tokens(q.Claim.Quote))
	}
	sessions, err := f.sessions(ctx, q.Now, r.claim.Session)
	if err != nil {
		return nil, err
	}
	since := q.Now.Add(-recent)
	for i := range sessions {
		s := &sessions[i]
		active := s.Status == hearken.Active || s.StoppedAt != nil && !s.StoppedAt.Before(since)
		cited := s.ID == r.claim.Session
		if !active && !cited {
			continue
		}
		lately := func(e *spokenEntry) bool {
			return active && (s.Config.Recorded || !e.end().Before(since)) // a recording was said when it was sent
		}
		said, err := f.load(ctx, s, func(e *spokenEntry) bool { return cited || lately(e) })
		if code := hearken.CodeOf(err); code == hearken.SessionNotFound || code == hearken.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if cited {
			said = r.cited(said, lately)
		}
		r.add(said)
	}
	r.findEchoes()
	return r, nil
}

// sessions lists the sessions that may matter: active ones, those of the last
// days, and if the claim cites another, all.
func (f *Finder) sessions(ctx context.Context, now time.Time, claimed string) ([]hearken.Session, error) {
	known := map[string]bool{}
	var out []hearken.Session
	for _, filter := range []hearken.SessionFilter{
		{Status: hearken.Active},
		{Since: now.Add(-sessionLength).Truncate(time.Hour)}, // the same for a while, which is easier to cache
		{},
	} {
		if filter == (hearken.SessionFilter{}) && (claimed == "" || known[claimed]) {
			break
		}
		list, err := f.transcripts.Sessions(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if !known[s.ID] {
				known[s.ID] = true
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// cited marks the entries that the agent cites, if they contain what it quotes.
// It returns these, those that were said lately, and the far side's around what
// is cited, which may be where the words came from.
func (r *conversation) cited(said []*spokenEntry, lately func(*spokenEntry) bool) []*spokenEntry {
	var there []*spokenEntry
	for _, e := range said {
		if len(r.claim.Segments) == 0 || slices.Contains(r.claim.Segments, e.seg.ID) {
			there = append(there, e)
		}
	}
	if len(r.quote) > 0 && !r.quoted(there) {
		there = nil
	}
	var from, to time.Time
	for i, e := range there {
		e.claimed = true
		if i == 0 {
			from = e.begin()
		}
		to = e.end()
	}
	return slices.DeleteFunc(said, func(e *spokenEntry) bool {
		source := len(there) > 0 && e.seg.Origin != hearken.Microphone && e.end().After(from.Add(-recent)) && e.begin().Before(to.Add(recent))
		return !e.claimed && !source && !lately(e)
	})
}

// quoted reports whether entries contain the agent's quote word by word.
func (r *conversation) quoted(entries []*spokenEntry) bool {
	for _, status := range []hearken.Status{hearken.Confirmed, hearken.Translated} {
		var all []string
		for _, e := range entries {
			if e.seg.Status == status {
				all = append(all, plain(e.toks)...)
			}
		}
		for i := 0; i+len(r.quote) <= len(all); i++ {
			if slices.Equal(all[i:i+len(r.quote)], r.quote) {
				return true
			}
		}
	}
	return false
}

// add sorts the entries of a session by who said them.
func (r *conversation) add(said []*spokenEntry) {
	var near, far, nearT, farT stream
	originals := map[float64]*spokenEntry{} // the owner's own words by where they begin
	for _, e := range said {
		switch own := e.here && e.seg.Origin == hearken.Microphone && !e.echo; {
		case e.seg.Status == hearken.Translated:
		case own:
			originals[e.seg.StartTime] = e
			near = append(near, e)
		default:
			far = append(far, e)
		}
	}
	for _, e := range said {
		if e.seg.Status != hearken.Translated {
			continue
		}
		if e.of = originals[e.seg.StartTime]; e.of != nil && e.seg.Origin == hearken.Microphone && !e.echo {
			nearT = append(nearT, e)
		} else {
			farT = append(farT, e)
		}
	}
	r.near = append(r.near, near, nearT) // words before their translation
	r.far = append(r.far, far, farT)
}
