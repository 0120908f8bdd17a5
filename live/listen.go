package live

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken"
)

// listen takes an engine's events to the session until there are no more.
func (c *channel) listen(ctx context.Context, st hearken.Stream) error {
	var failed error
	for ev := range st.Events() {
		if ctx.Err() != nil {
			continue // abandoned: what still comes out is not wanted
		}
		switch ev.Kind {
		case hearken.Partial:
			if c.debt != nil {
				continue // what is said now is shown there
			}
			ev.Segment.Origin = c.origin
			c.s.renumber(c.speakers, &ev.Segment, false)
			c.s.show(ev.Segment)
		case hearken.Final:
			c.final(ev)
		case hearken.SpeechStarted:
			c.s.tell(hearken.InputEvent{Kind: hearken.InputSpeechStarted, Origin: c.origin, Seconds: ev.Time})
		case hearken.Progress:
			c.lag.Store(position(ev.Lag))
			c.dealtWith(min(ev.FinalUntil, c.fed.Load()))
			c.tellProgress()
			if lag := c.behind(); lag > lagTold {
				c.s.tell(hearken.InputEvent{Kind: hearken.InputLag, Seconds: lag})
			}
		case hearken.Failed:
			failed = ev.Err
			if failed == nil {
				failed = errors.New("the engine failed without saying why")
			}
		}
	}
	return failed
}

// tellProgress tells the sender how far its words are final.
func (c *channel) tellProgress() {
	if c.debt == nil {
		c.s.tell(hearken.InputEvent{Kind: hearken.InputProgress, Origin: c.origin, Seconds: seconds(c.through.Load())})
	}
}

// quiet reports whether the sound just before pos is silence, measured by what
// came before: then nobody was interrupted.
func (c *channel) quiet(pos int64) bool {
	const (
		end    = 3 * hearken.SampleRate / 10
		window = hearken.SampleRate / 10
		hush   = 50 // of samples: what a quiet room is below
	)
	pcm := make([]int16, 3*hearken.SampleRate)
	if err := fillFrom(c.spool, pos-int64(len(pcm)), pcm); err != nil {
		return true
	}
	var loudest int64
	for i := 0; i < len(pcm); i += window {
		loudest = max(loudest, loudness(pcm[i:i+window]))
	}
	last := loudness(pcm[len(pcm)-end:])
	return last < hush*hush || last < loudest/100
}

// lagTold is how many seconds an engine must be behind before the sender is
// told.
const lagTold = 1.0

// behind is how many seconds of sound the engine has yet to deal with, beyond
// what it always holds.
func (c *channel) behind() float64 {
	return seconds(max(0, c.spool.end()-c.fed.Load()) + c.lag.Load())
}

// final confirms what an engine says is final, without what was confirmed
// before: a replay overlaps what came before it.
func (c *channel) final(ev hearken.StreamEvent) {
	seg := ev.Segment
	seg.Origin = c.origin
	seg.StartTime = max(0, seg.StartTime) // some engines place the first word early
	if seg.Status == "" {
		seg.Status = hearken.Confirmed
	}
	if c.debt == nil {
		seg.ID = c.s.utterance(c.origin)
	}
	if seg.Status == hearken.Translated { // of what was confirmed just before
		seg.ID = ""
		c.s.confirm(seg, heard{})
		return
	}
	through := max(ev.FinalUntil, position(seg.EndTime))
	if cutOverlap(&seg, c.confirmed) {
		c.s.renumber(c.speakers, &seg, true)
		c.s.confirm(seg, heard{ev.Endpoint, max(seconds(through), seconds(c.through.Load()))})
		c.confirmed = max(c.confirmed, seg.EndTime)
		if seg.Spoken() {
			c.floor = max(c.floor, position(seg.EndTime))
		}
	}
	c.dealtWith(through)
}

// lastEnd is the latest end of an entry from one origin.
func lastEnd(segments []hearken.Segment, o hearken.Origin) float64 {
	var end float64
	for i := range segments {
		if segments[i].Origin == o {
			end = max(end, segments[i].EndTime)
		}
	}
	return end
}

// lastWord is the latest end of an entry with words from one origin.
func lastWord(segments []hearken.Segment, o hearken.Origin) float64 {
	var end float64
	for i := range segments {
		if segments[i].Origin == o && segments[i].Spoken() {
			end = max(end, segments[i].EndTime)
		}
	}
	return end
}

// overlapSlack forgives engines that place a word a little early.
const overlapSlack = 0.05

// cutOverlap takes the words before through out of seg and tells whether
// anything is left.
func cutOverlap(seg *hearken.Segment, through float64) bool {
	if seg.StartTime >= through-overlapSlack {
		return true
	}
	if seg.EndTime <= through+overlapSlack {
		return false
	}
	if len(seg.Words) == 0 || seg.Estimated {
		seg.StartTime = through
		return true // no way to tell which words are the old ones
	}
	first := 0
	for first < len(seg.Words) && seg.Words[first].EndTime <= through+overlapSlack {
		first++
	}
	if first == len(seg.Words) {
		return false
	}
	if first > 0 {
		seg.Text = textAfter(seg.Text, seg.Words, first)
		seg.Words = seg.Words[first:]
	}
	seg.StartTime = max(through, seg.Words[0].StartTime)
	return true
}

// textAfter is a text without its first n words. It is cut out of the text,
// which knows better than we do where its language has spaces.
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
