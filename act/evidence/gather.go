package evidence

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// Entries further apart than this are not one utterance.
const pause = 15 * time.Second

// A spokenEntry is a confirmed entry with words.
type spokenEntry struct {
	session string
	seg     hearken.Segment // without its words
	cut
	timed   bool         // the times of its words were measured
	echo    bool         // of the other side's words
	claimed bool         // the agent cites it
	old     bool         // too old to be a request, and here only because of a claim
	open    bool         // the other side's words of that time are still to come
	of      *spokenEntry // what it translates

	row, at  int        // its position in near
	cutText  []sentence // see cutSentences
	cutStems [][]string // of each
}

// wall returns the time of a second on the session's clock.
func (s *spokenEntry) wall(at float64) time.Time {
	return s.seg.Timestamp.Add(time.Duration((at - s.seg.StartTime) * float64(time.Second)))
}

func (s *spokenEntry) begin() time.Time { return s.seg.Timestamp }
func (s *spokenEntry) end() time.Time   { return s.wall(s.seg.EndTime) }

// A stream is what one side of one session said, in order. Translations are a
// stream of their own.
type stream []*spokenEntry

// A conversation is everything that was said that an action may be about.
type conversation struct {
	near   []stream // the owner's side
	far    []stream // everybody else
	shown  stream   // unconfirmed words of everybody else
	around *around  // far and shown by time, before echoes were found
	quote  []token  // what the agent claims was said
	claim  *Claim
}

// gather loads what was said lately, and what the claim cites.
func (f *Finder) gather(ctx context.Context, q *Query) (*conversation, error) {
	r := &conversation{claim: q.Claim}
	since := q.Now.Add(-recent)
	claimed := ""
	if q.Claim != nil {
		r.quote = tokens(q.Claim.Quote)
		if hearken.ValidID(q.Claim.Session) {
			claimed = q.Claim.Session
		}
	}
	sessions, err := f.sessions(ctx, q.Now, claimed)
	if err != nil {
		return nil, err
	}
	for i := range sessions {
		s := &sessions[i]
		if !wasActive(s, since) && s.ID != claimed {
			continue
		}
		through := f.finalUntil(ctx, s) // before its entries are read
		entries, err := f.load(ctx, s.ID)
		if code := hearken.CodeOf(err); code == hearken.SessionNotFound || code == hearken.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		entries = choose(entries, s, since, r.markCited(entries, claimed == s.ID))
		for _, e := range entries {
			e.old = e.begin().Before(q.Now.Add(-claimable))
			e.open = e.open || e.seg.EndTime > through
		}
		r.add(s, entries)
		if err := f.interim(ctx, r, s); err != nil {
			return nil, err
		}
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
		{Since: now.Add(-2 * claimable).Truncate(time.Hour)}, // the same for a while, which is easier to cache
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

// through is the second up to which the far side's words are final.
func (f *Finder) finalUntil(ctx context.Context, s *hearken.Session) float64 {
	if t, ok := f.transcripts.(FinalUntil); ok {
		if seconds, ok := t.FinalUntil(ctx, s.ID, 0); ok {
			return seconds
		}
	}
	return math.Inf(1)
}

// interim adds what the far side of an active session says just now.
func (f *Finder) interim(ctx context.Context, r *conversation, s *hearken.Session) error {
	t, ok := f.transcripts.(Interim)
	if !ok || s.Status != hearken.Active {
		return nil
	}
	shown, err := t.Interim(ctx, s.ID)
	if code := hearken.CodeOf(err); code == hearken.SessionNotFound || code == hearken.NotFound {
		return nil
	}
	for i := range shown {
		if seg := &shown[i]; seg.Origin == hearken.System && seg.Spoken() {
			r.shown = append(r.shown, &spokenEntry{session: s.ID, seg: *seg, cut: cut{text: seg.Text, toks: timed(seg)}, timed: measured(seg)})
		}
	}
	return err
}

// load reads the entries of a session that hold confirmed words.
func (f *Finder) load(ctx context.Context, id string) ([]*spokenEntry, error) {
	var all []*spokenEntry
	var gaps []hearken.Segment
	err := f.transcripts.Segments(ctx, id, true, func(batch []hearken.Segment) error {
		for i := range batch {
			seg := &batch[i]
			if seg.EventKind() == hearken.EventGap {
				gaps = append(gaps, *seg)
			}
			if !seg.Spoken() || seg.Status != hearken.Confirmed && seg.Status != hearken.Translated {
				continue
			}
			s := &spokenEntry{session: id, seg: *seg, cut: f.cache.get(id, seg), timed: measured(seg), echo: seg.Echo}
			s.seg.Words = nil
			all = append(all, s)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b *spokenEntry) int { return cmp.Compare(a.seg.StartTime, b.seg.StartTime) })
	for _, e := range all {
		// Sound is missing, and perhaps the far side's.
		e.open = slices.ContainsFunc(gaps, func(g hearken.Segment) bool { return e.seg.StartTime < g.EndTime && g.StartTime < e.seg.EndTime })
	}
	return all, err
}

// markCited marks the entries that the agent cites, if they are in the cited
// session and contain what it quotes.
func (r *conversation) markCited(entries []*spokenEntry, named bool) bool {
	if !named {
		return false
	}
	var there []*spokenEntry
	for _, e := range entries {
		if len(r.claim.Segments) == 0 || slices.Contains(r.claim.Segments, e.seg.ID) {
			there = append(there, e)
		}
	}
	if len(there) == 0 || len(r.quote) > 0 && !r.quoted(there) {
		return false
	}
	for _, e := range there {
		e.claimed = true
	}
	return true
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
		if _, ok := within(all, plain(r.quote)); ok {
			return true
		}
	}
	return false
}

// choose returns what was said lately, and what was said around claimed
// entries. All of a recording counts as said when it was sent.
func choose(entries []*spokenEntry, s *hearken.Session, since time.Time, claimed bool) []*spokenEntry {
	lately := wasActive(s, since)
	var from, to time.Time // of what is claimed
	for _, e := range entries {
		if e.claimed && from.IsZero() {
			from = e.begin()
		}
		if e.claimed {
			to = e.end()
		}
	}
	var kept []*spokenEntry
	for _, e := range entries {
		// The far side's words near claimed ones may be where these came from.
		source := claimed && e.seg.Origin != hearken.Microphone && e.end().After(from.Add(-recent)) && e.begin().Before(to.Add(recent))
		if lately && (s.Config.Recorded || !e.end().Before(since)) || e.claimed || source {
			kept = append(kept, e)
		}
	}
	return kept
}

func wasActive(s *hearken.Session, since time.Time) bool {
	return s.Status == hearken.Active || s.StoppedAt != nil && !s.StoppedAt.Before(since)
}

// add sorts the entries of a session by who said them.
func (r *conversation) add(s *hearken.Session, entries []*spokenEntry) {
	trusted := s.Config.Capture && !s.Config.Recorded
	var near, far, nearT, farT stream
	originals := map[float64]*spokenEntry{} // the owner's own words by where they begin
	for _, e := range entries {
		own := trusted && e.seg.Origin == hearken.Microphone && !e.echo
		switch {
		case e.seg.Status == hearken.Confirmed && own:
			originals[e.seg.StartTime] = e
			near = append(near, e)
		case e.seg.Status == hearken.Confirmed:
			far = append(far, e)
		}
	}
	for _, e := range entries {
		if e.seg.Status != hearken.Translated {
			continue
		}
		if e.of = originals[e.seg.StartTime]; e.of != nil && e.seg.Origin == hearken.Microphone && !e.echo {
			nearT = append(nearT, e)
		} else {
			farT = append(farT, e)
		}
	}
	for _, st := range []stream{near, nearT} {
		if len(st) > 0 {
			r.near = append(r.near, st)
		}
	}
	for _, st := range []stream{far, farT} {
		if len(st) > 0 {
			r.far = append(r.far, st)
		}
	}
}
