package evidence

import (
	"context"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// A spokenEntry is a confirmed entry with words.
type spokenEntry struct {
	session  string
	seg      hearken.Segment // without its words
	toks     []token
	squashed string
	timed    bool         // the times of its words were measured
	echo     bool         // of the other side's words
	claimed  bool         // the agent cites it
	here     bool         // this computer captured it
	open     bool         // the other side's words of that time are lost or still to come
	of       *spokenEntry // what it translates
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

func (st stream) anyEcho() bool {
	return slices.ContainsFunc(st, func(e *spokenEntry) bool { return e.echo })
}

// joined reports whether b continues what a said.
func joined(a, b *spokenEntry) bool {
	same := a.seg.Speaker == nil || b.seg.Speaker == nil || *a.seg.Speaker == *b.seg.Speaker
	return same && b.begin().Sub(a.end()) <= pause
}

// load reads the entries of a session that hold confirmed words and are wanted.
func (f *Finder) load(ctx context.Context, s *hearken.Session, wanted func(*spokenEntry) bool) ([]*spokenEntry, error) {
	finalUntil, more := 0.0, false
	if t, ok := f.transcripts.(FinalUntil); ok {
		finalUntil, more = t.FinalUntil(s.ID) // before its entries are read
	}
	var all []*spokenEntry
	var gaps []hearken.Segment
	err := f.transcripts.Segments(ctx, s.ID, true, func(batch []hearken.Segment) error {
		for i := range batch {
			seg := &batch[i]
			if seg.EventKind() == hearken.EventGap && s.Config.Channels != 1 {
				gaps = append(gaps, *seg)
			}
			if !seg.Spoken() || seg.Status != hearken.Confirmed && seg.Status != hearken.Translated {
				continue
			}
			e := &spokenEntry{session: s.ID, seg: *seg, echo: seg.Echo, here: s.Config.Capture && !s.Config.Recorded, open: more && seg.EndTime > finalUntil}
			if wanted(e) {
				e.cut()
				all = append(all, e)
			}
		}
		return nil
	})
	for _, e := range all {
		// Audio is missing, and perhaps the other side's.
		e.open = e.open || slices.ContainsFunc(gaps, func(g hearken.Segment) bool { return e.seg.StartTime < g.EndTime && g.StartTime < e.seg.EndTime })
	}
	return all, err
}

// cut splits the text into tokens with their times: that of their word, if
// measured, else their share of the entry's time.
func (s *spokenEntry) cut() {
	seg := &s.seg
	s.toks = tokens(seg.Text)
	s.squashed = squash(s.toks)
	s.timed = len(seg.Words) > 0 && !seg.Estimated
	var at []float64
	for _, w := range seg.Words {
		for range tokens(w.Word) {
			at = append(at, w.StartTime)
		}
	}
	exact := s.timed && len(at) == len(s.toks)
	share := (seg.EndTime - seg.StartTime) / float64(max(len(s.toks), 1))
	for i := range s.toks {
		s.toks[i].at = seg.StartTime + float64(i)*share
		if exact {
			s.toks[i].at = at[i]
		}
	}
	seg.Words = nil
}
