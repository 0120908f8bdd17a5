package upload

import (
	"context"
	"slices"

	"github.com/hearken-dev/hearken"
)

// handleEvents takes the hub's events until there are no more. The hub drops
// events that are not taken in time.
func (j *job) handleEvents() {
	defer close(j.eventsDone)
	events := j.in.Events()
	for ev := range events {
		if j.handleEvent(ev, len(events) >= cap(events)-1) {
			wake(j.newSegments)
		}
		wake(j.activity)
	}
}

// wake wakes a waiting goroutine, now or later.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// handleEvent records an event and reports whether it brought words. If full is
// set, the hub may have had to drop the next one.
func (j *job) handleEvent(ev hearken.InputEvent, full bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mayHaveMissed = j.mayHaveMissed || full
	switch ev.Kind {
	case hearken.InputFinal:
		j.finalUntil = max(j.finalUntil, ev.Seconds)
		j.lines[ev.Segment.Line] = true
		return j.addEntry(ev.Segment)
	case hearken.InputProgress:
		j.finalUntil = max(j.finalUntil, ev.Seconds)
	case hearken.InputDropped:
		j.dropped = true
	case hearken.InputError:
		j.cause = ev.Err
	case hearken.InputReplaced, hearken.InputClosed:
		j.endEvent = ev
	}
	return false
}

// readMissed reads the entries whose events may be lost.
func (j *job) readMissed(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.mayHaveMissed || j.cfg.Read == nil {
		return nil
	}
	all, err := j.cfg.Read(ctx, j.id)
	if err != nil {
		return err
	}
	for i := range all {
		if !j.lines[all[i].Line] {
			j.addEntry(&all[i])
		}
	}
	j.mayHaveMissed = false
	return nil
}

// addEntry records an entry and reports whether it brought words. A translation
// wants English entries, and others only if nobody translated them.
func (j *job) addEntry(s *hearken.Segment) bool {
	if s.Origin == hearken.EventOrigin {
		j.updateGaps(s)
		return false
	}
	j.finalUntil = max(j.finalUntil, s.EndTime)
	switch {
	case !s.Spoken():
		return false
	case j.request.Translate && s.Status == hearken.Translated:
		j.translated++
		j.pendingTranslation = nil
	case s.Status != hearken.Confirmed:
		return false
	case j.request.Translate && nameOf(s.Language) != "english":
		j.flushUntranslated()
		j.pendingTranslation = s
		return len(j.segments) > 0
	}
	j.flushUntranslated()
	j.segments = append(j.segments, *s)
	return true
}

// flushUntranslated adds a segment whose translation did not come.
func (j *job) flushUntranslated() {
	if j.pendingTranslation != nil {
		j.segments = append(j.segments, *j.pendingTranslation)
		j.pendingTranslation = nil
		j.untranslated++
	}
}

// updateGaps records which audio was not transcribed, and which was later.
func (j *job) updateGaps(s *hearken.Segment) {
	const slack = 0.01
	switch s.EventKind() {
	case hearken.EventGap:
		j.gaps = append(j.gaps, *s)
	case hearken.EventFilled:
		j.gaps = slices.DeleteFunc(j.gaps, func(g hearken.Segment) bool {
			return g.StartTime >= s.StartTime-slack && g.EndTime <= s.EndTime+slack
		})
	}
}
