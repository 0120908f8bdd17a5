package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

// A stretch is a part of a session, in seconds of its clock.
type stretch struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// forgottenText is the text of the event that says what was forgotten.
func forgottenText(d time.Duration) string {
	return fmt.Sprintf("[the last %s were forgotten on request]", d)
}

// Forget deletes what was said in the last d of a session and returns the
// number of deleted entries. The session says so with an event. Other events
// stay.
func (h *Hub) Forget(ctx context.Context, id string, d time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	s := h.find(id)
	if s == nil {
		return h.forgetStored(ctx, id, d)
	}
	n, err := s.forgetLast(ctx, d)
	if errors.Is(err, errDropped) {
		return h.forgetStored(ctx, id, d)
	}
	if err == nil {
		s.endIfComplete() // the backlog may be empty now
	}
	return n, err
}

// errDropped says that a session is not in memory any more.
var errDropped = errors.New("the session was deleted, or saved and dropped")

// forgetLast is [Hub.Forget] for a session in memory.
func (s *session) forgetLast(ctx context.Context, d time.Duration) (int, error) {
	release, err := s.holdSaving(ctx) // nothing is written to the store meanwhile
	if err != nil {
		return 0, err
	}
	defer release()
	defer s.hub.dropCaches()
	if s.hub.find(s.id) != s {
		return 0, errDropped
	}
	n, err := s.forget(d)
	if hearken.CodeOf(err) != "" {
		return 0, err
	}
	if err != nil {
		return 0, hearken.Errorf(hearken.RepositoryError, "the disk refused to delete it: %w.", err).WithTry("again when the disk works")
	}
	return n, s.forgetElsewhere(ctx)
}

// forget removes what was said in the last d from memory, journal and spool, and
// returns how many entries it removed. Others still have to forget it; see
// [session.forgetElsewhere].
func (s *session) forget(d time.Duration) (n int, err error) {
	s.confirming.Lock() // nothing is confirmed meanwhile
	defer s.confirming.Unlock()
	s.mu.Lock()
	if s.phase == gone {
		s.mu.Unlock()
		return 0, notFound(s.id)
	}
	to := s.snapshotLocked().Duration
	from := max(0, to-d.Seconds())
	s.forgotten, s.forgetFrom = to, from // later results for it are ignored
	n = s.dropForgottenLocked(stretch{from, to})
	clear(s.interim)
	s.clipBacklogLocked(position(from))
	channels := s.channels
	for _, c := range channels {
		c.abandonStream()
		if untranscribed := max(c.finalUntil.Load(), position(lastEnd(s.segments, c.origin, true))); untranscribed < position(from) {
			s.addBacklogLocked(c.origin, untranscribed, position(from)) // this part is not forgotten
		}
		end := c.spool.end()
		c.fed.Store(end)
		c.finalUntil.Store(end)
	}
	s.addForgottenEventLocked(stretch{from, to}, d)
	s.toForget = append(s.toForget, stretch{from, to})
	records := []record{s.headLocked()}
	for i := range s.segments {
		records = append(records, record{Segment: &s.segments[i]})
	}
	s.mu.Unlock()

	err = s.journal.rewrite(records)
	for _, c := range channels {
		err = errors.Join(err, c.spool.discard(position(from)))
	}
	return n, err
}

// dropForgottenLocked removes the entries in a stretch from memory and returns
// how many there were.
func (s *session) dropForgottenLocked(at stretch) int {
	kept := slices.DeleteFunc(s.segments, func(seg hearken.Segment) bool {
		gone := seg.SaidBetween(at.From, at.To)
		if gone {
			delete(s.volatile, seg.Line)
		}
		return gone
	})
	n := len(s.segments) - len(kept)
	s.segments = kept
	return n
}

// addForgottenEventLocked adds the event that says what was forgotten. The
// caller writes it to the journal together with everything else, so that one is
// never without the other.
func (s *session) addForgottenEventLocked(at stretch, d time.Duration) {
	seg := hearken.Segment{
		ID: s.nextIDLocked(hearken.EventOrigin), Origin: hearken.EventOrigin, Status: hearken.Confirmed, Event: hearken.EventForgotten,
		Text: forgottenText(d), StartTime: at.From, EndTime: at.To, IsFinal: true, Durable: true,
	}
	s.completeLocked(&seg)
	s.segments = append(s.segments, seg)
	s.info.SegmentCount = seg.Line
	s.markUnsavedLocked()
	s.wakeReadersLocked()
	s.input.push(hearken.InputEvent{Kind: hearken.InputFinal, Origin: seg.Origin, Segment: new(seg)})
}

// forgetElsewhere removes from the store, and from all who quote it, what was
// forgotten in memory. What fails is kept in the journal and retried; see
// [Hub.save]. The caller holds saving.
func (s *session) forgetElsewhere(ctx context.Context) error {
	s.mu.Lock()
	todo := slices.Clone(s.toForget)
	s.mu.Unlock()
	for _, at := range todo {
		if err := s.hub.cfg.Store.Forget(ctx, s.id, at.From, at.To); err != nil && hearken.CodeOf(err) != hearken.SessionNotFound {
			return storeFailed(err)
		}
		if _, err := s.hub.onDeleted(ctx, s.id, at.From, at.To); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.toForget = s.toForget[len(todo):]
	s.journal.enqueue(s.headLocked())
	return nil
}

// retryForget completes what an earlier Forget could not.
func (s *session) retryForget(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	release, err := s.holdSaving(ctx)
	if err != nil {
		return err
	}
	defer release()
	s.mu.Lock()
	done := len(s.toForget) == 0 || s.phase == gone
	s.mu.Unlock()
	if done {
		return nil
	}
	defer s.hub.dropCaches()
	if err = s.forgetElsewhere(ctx); err != nil {
		s.mu.Lock()
		s.unsavedAt = s.hub.cfg.Now() // retry an interval from now
		s.mu.Unlock()
	}
	return err
}

// clipBacklogLocked removes everything from a position on from the backlog.
func (s *session) clipBacklogLocked(from int64) {
	clipped := map[*backlogSpan]bool{}
	for _, span := range s.backlog {
		if span.To > from {
			span.To = from
			clipped[span] = true
		}
	}
	s.backlog = slices.DeleteFunc(s.backlog, func(span *backlogSpan) bool { return span.From >= span.To })
	if s.backlogChannel != nil && clipped[s.backlogChannel.backlog] {
		s.backlogChannel.cancel() // the rest is transcribed anew
	}
}

// forgottenUntil is the position before which a live channel may not replay.
func (s *session) forgottenUntil() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return position(s.forgotten)
}
