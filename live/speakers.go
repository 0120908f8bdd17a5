package live

import (
	"slices"

	"github.com/hearken-dev/hearken"
)

// speakers maps the speaker numbers of one stream to those of the session. An
// engine counts from 0 on every connection and cannot recognise the speakers of
// the one before, so a new stream's speakers get the next free numbers.
type speakers map[int]int

// renumber replaces an engine's speaker numbers by the session's. A segment
// that is not final keeps only known ones: engines change their minds.
func (s *session) renumber(m speakers, seg *hearken.Segment, final bool) {
	seg.Speaker = s.speaker(m, seg.Speaker, final)
	seg.Words = slices.Clone(seg.Words) // the engine may still use its own
	for i := range seg.Words {
		seg.Words[i].Speaker = s.speaker(m, seg.Words[i].Speaker, final)
	}
}

func (s *session) speaker(m speakers, n *int, final bool) *int {
	if n == nil {
		return nil
	}
	if known, ok := m[*n]; ok {
		return &known
	}
	if !final {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.speakers
	s.speakers++
	m[*n] = number
	return &number
}

// nextSpeaker is the first free number after these entries.
func nextSpeaker(segments []hearken.Segment) int {
	next := 0
	count := func(n *int) {
		if n != nil {
			next = max(next, *n+1)
		}
	}
	for i := range segments {
		count(segments[i].Speaker)
		for _, w := range segments[i].Words {
			count(w.Speaker)
		}
	}
	return next
}
