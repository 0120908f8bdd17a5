package upload

import (
	"context"
	"slices"

	"github.com/hearken-dev/hearken"
)

// listen takes what the hub tells until there is no more. The hub waits for
// nobody: when its events are not taken in time, some are gone.
func (h *hearing) listen() {
	defer close(h.over)
	events := h.in.Events()
	for ev := range events {
		if h.note(ev, len(events) >= cap(events)-1) {
			signal(h.news)
		}
		signal(h.told)
	}
}

// signal wakes whoever waits, now or later.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// note remembers an event and tells whether it brought words. Crowded says that
// there was no room for another one.
func (h *hearing) note(ev hearken.InputEvent, crowded bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.crowded = h.crowded || crowded
	switch ev.Kind {
	case hearken.InputFinal:
		h.through = max(h.through, ev.Seconds)
		h.lines[ev.Segment.Line] = true
		return h.noteFinal(ev.Segment)
	case hearken.InputProgress:
		h.through = max(h.through, ev.Seconds)
	case hearken.InputDropped:
		h.dropped = true
	case hearken.InputError:
		h.cause = ev.Err
	case hearken.InputReplaced, hearken.InputClosed:
		h.end = ev
	}
	return false
}

// recover reads what may not have arrived. It was confirmed all the same.
func (h *hearing) recover(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.crowded || h.cfg.Read == nil {
		return nil
	}
	all, err := h.cfg.Read(ctx, h.id)
	if err != nil {
		return err
	}
	for i := range all {
		if !h.lines[all[i].Line] {
			h.noteFinal(&all[i])
		}
	}
	h.crowded = false
	return nil
}

// noteFinal takes an entry. Of a translation the English ones are wanted, and
// whatever nobody translated as it was said.
func (h *hearing) noteFinal(s *hearken.Segment) bool {
	if s.Origin == hearken.EventOrigin {
		h.noteHappening(s)
		return false
	}
	h.through = max(h.through, s.EndTime)
	switch {
	case !s.Spoken():
		return false
	case h.request.Translate && s.Status == hearken.Translated:
		h.translated++
		h.foreign = nil
	case s.Status != hearken.Confirmed:
		return false
	case h.request.Translate && nameOf(s.Language) != "english":
		h.flush()
		h.foreign = s
		return len(h.segments) > 0
	}
	h.flush()
	h.segments = append(h.segments, *s)
	return true
}

// flush takes what was said in another language and not translated.
func (h *hearing) flush() {
	if h.foreign != nil {
		h.segments = append(h.segments, *h.foreign)
		h.foreign = nil
		h.untranslated++
	}
}

// noteHappening remembers for which sound there are no words: the hub says so,
// and where it could make up for it later, that too.
func (h *hearing) noteHappening(s *hearken.Segment) {
	const slack = 0.01
	switch s.EventKind() {
	case hearken.EventGap:
		h.gaps = append(h.gaps, *s)
	case hearken.EventFilled:
		h.gaps = slices.DeleteFunc(h.gaps, func(g hearken.Segment) bool {
			return g.StartTime >= s.StartTime-slack && g.EndTime <= s.EndTime+slack
		})
	}
}
