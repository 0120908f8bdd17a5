package live

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"slices"

	"github.com/hearken-dev/hearken"
)

// handleEvents passes an engine's events to the session until they end.
func (c *channel) handleEvents(ctx context.Context, st hearken.Stream) error {
	var failed error
	for ev := range st.Events() {
		if ctx.Err() != nil {
			continue // abandoned: discard the rest
		}
		switch ev.Kind {
		case hearken.Partial:
			if c.backlog != nil {
				continue // readers see the live channel's text instead
			}
			ev.Segment.Origin = c.origin
			c.s.renumber(c.speakers, &ev.Segment, false)
			c.s.showInterim(ev.Segment)
		case hearken.Final:
			c.handleFinal(ev)
		case hearken.SpeechStarted:
			c.s.notify(hearken.InputEvent{Kind: hearken.InputSpeechStarted, Origin: c.origin, Seconds: ev.Time})
		case hearken.Progress:
			c.lag.Store(position(ev.Lag))
			c.advanceFinal(min(ev.FinalUntil, c.fed.Load()))
			c.notifyProgress()
			if lag := c.lagSeconds(); lag > minReportedLag {
				c.s.notify(hearken.InputEvent{Kind: hearken.InputLag, Seconds: lag})
			}
		case hearken.Failed:
			failed = cmp.Or(ev.Err, errors.New("the engine failed without a reason"))
		}
	}
	return failed
}

// notifyProgress tells the sender how far its words are final.
func (c *channel) notifyProgress() {
	if c.backlog == nil {
		c.s.notify(hearken.InputEvent{Kind: hearken.InputProgress, Origin: c.origin, Seconds: seconds(c.finalUntil.Load())})
	}
}

// endsInSilence reports whether the audio just before pos is silence, compared
// with the audio before it.
func (c *channel) endsInSilence(pos int64) bool {
	const (
		end    = 3 * hearken.SampleRate / 10
		window = hearken.SampleRate / 10
		silent = 50 // of samples: below this it is silent
	)
	pcm := make([]int16, 3*hearken.SampleRate)
	if err := copyAudio(c.spool, pos-int64(len(pcm)), pcm); err != nil {
		return true
	}
	var loudest int64
	for i := 0; i < len(pcm); i += window {
		loudest = max(loudest, meanPower(pcm[i:i+window]))
	}
	last := meanPower(pcm[len(pcm)-end:])
	return last < silent*silent || last < loudest/100
}

// minReportedLag is the lag in seconds from which the sender is told.
const minReportedLag = 1.0

// lagSeconds is how much audio the engine has yet to process, beyond what it
// always holds.
func (c *channel) lagSeconds() float64 {
	return seconds(max(0, c.spool.end()-c.fed.Load()) + c.lag.Load())
}

// handleFinal confirms a final segment, without the words that were confirmed
// before: a replay overlaps them.
func (c *channel) handleFinal(ev hearken.StreamEvent) {
	seg := ev.Segment
	seg.Origin = c.origin
	seg.StartTime = max(0, seg.StartTime) // some engines place the first word too early
	if seg.Status == "" {
		seg.Status = hearken.Confirmed
	}
	if c.backlog == nil {
		seg.ID = c.s.interimID(c.origin)
	}
	if seg.Status == hearken.Translated { // of the segment confirmed just before
		seg.ID = ""
		c.s.confirm(seg, finalInfo{})
		return
	}
	finalUntil := max(ev.FinalUntil, position(seg.EndTime))
	if cutOverlap(&seg, c.confirmed) {
		c.s.renumber(c.speakers, &seg, true)
		c.s.confirm(seg, finalInfo{ev.Endpoint, max(seconds(finalUntil), seconds(c.finalUntil.Load()))})
		c.confirmed = max(c.confirmed, seg.EndTime)
		if seg.Spoken() {
			c.floor = max(c.floor, position(seg.EndTime))
		}
	}
	c.advanceFinal(finalUntil)
}

// lastEnd is the latest end of an entry from one origin, or of one with words.
func lastEnd(segments []hearken.Segment, o hearken.Origin, withWords bool) float64 {
	var end float64
	for i := range segments {
		if segments[i].Origin == o && (!withWords || segments[i].Spoken()) {
			end = max(end, segments[i].EndTime)
		}
	}
	return end
}

// overlapSlack allows for engines that place a word slightly early.
const overlapSlack = 0.05

// cutOverlap removes the words before finalUntil from seg and reports whether
// any are left.
func cutOverlap(seg *hearken.Segment, finalUntil float64) bool {
	if seg.StartTime >= finalUntil-overlapSlack {
		return true
	}
	if seg.EndTime <= finalUntil+overlapSlack {
		return false
	}
	if len(seg.Words) == 0 || seg.Estimated {
		seg.StartTime = finalUntil
		return true // we cannot know which words are old
	}
	first := 0
	for first < len(seg.Words) && seg.Words[first].EndTime <= finalUntil+overlapSlack {
		first++
	}
	if first == len(seg.Words) {
		return false
	}
	if first > 0 {
		seg.Text = textAfter(seg.Text, seg.Words, first)
		seg.Words = seg.Words[first:]
	}
	seg.StartTime = max(finalUntil, seg.Words[0].StartTime)
	return true
}

// textAfter returns text without its first n words. It cuts the text itself
// because only that shows where the language has spaces.
func textAfter(text string, words []hearken.Word, n int) string {
	rest := text
	for _, w := range words[:n] {
		_, after, found := strings.Cut(rest, w.Word)
		if !found {
			var left []string
			for _, w := range words[n:] {
				left = append(left, w.Word)
			}
			return strings.Join(left, " ")
		}
		rest = after
	}
	return strings.TrimLeftFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("¿¡([\"'", r)
	})
}

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
