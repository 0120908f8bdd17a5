package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/files"
)

// recover continues every session that has a journal: an earlier hub was
// killed, or closed before it was done with them. It asks the store only for
// what a journal lacks, and continues without an answer.
func (h *Hub) recover() error {
	ids, err := listJournals(h.journalDir())
	if err != nil {
		return fmt.Errorf("read journals: %w", err)
	}
	for _, id := range ids {
		if err := h.recoverSession(id); err != nil {
			if !errors.Is(err, errDamaged) {
				return err
			}
			h.cfg.Log.Error("journal set aside", "session", id, "err", err)
		}
	}
	return errors.Join(h.sweepSpool(), h.sweepJournals())
}

// errDamaged marks a journal that cannot be read. It is set aside and not
// removed: a person may be able to read it.
var errDamaged = errors.New("damaged journal")

// damagedSuffix marks the file of a journal that was set aside.
const damagedSuffix = ".damaged"

func (h *Hub) recoverSession(id string) error {
	path := h.journalPath(id)
	head, segments, err := readJournal(path)
	if err != nil && !errors.Is(err, errDamaged) {
		return fmt.Errorf("read journal: %w", err) // it may be intact; leave it alone
	}
	if err != nil {
		if rerr := os.Rename(path, path+damagedSuffix); rerr != nil {
			return fmt.Errorf("set aside journal: %w", rerr)
		}
		return err
	}
	s := newSession(h, head.Session, head.Ticket)
	s.clock, s.forgotten, s.forgetFrom, s.toForget = head.Clock, head.Forgotten, head.ForgetFrom, head.ToForget
	s.segments = h.completeFromStore(id, segments)
	for _, at := range s.toForget { // the store may still have it
		s.dropForgottenLocked(at)
	}
	s.speakers = nextSpeaker(s.segments)
	s.backlog = remainingBacklog(head.Backlog, s.segments)
	if available := h.backlogEngines(s); !slices.ContainsFunc(s.engines, func(name string) bool { return h.provider(name) != nil }) && len(available) > 0 {
		s.engines = available // its own are no longer configured
	}
	for _, seg := range s.segments {
		s.info.SegmentCount = max(s.info.SegmentCount, seg.Line)
	}
	s.info.Epoch++
	s.markUnsavedLocked()
	h.sessions[id] = s
	if s.info.Status == hearken.Stopped {
		h.recoverStopped(s)
		return nil
	}
	s.journal.enqueue(s.headLocked())
	if head.Clock.IsZero() {
		return nil
	}
	origins := channelOrigins[:min(2, max(1, s.info.Config.Channels))]
	var spools []*spool
	starts, floors := make([]int64, len(origins)), make([]int64, len(origins))
	for i, o := range origins {
		sp := h.reopenSpool(s, o)
		starts[i] = position(max(s.forgotten, lastEnd(s.segments, o, false)))
		floors[i] = position(max(s.forgotten, lastEnd(s.segments, o, true)))
		needed := int64(math.MaxInt64)
		for _, span := range s.backlog {
			if span.Origin == o {
				starts[i], floors[i], needed = max(starts[i], span.To), max(floors[i], span.To), min(needed, span.From)
			}
		}
		lead := int64(replayLead)
		if sp.end() <= starts[i] {
			lead = 0 // nothing that follows needs it
		}
		sp.startAt(max(0, min(needed, starts[i]-lead)))
		spools = append(spools, sp)
	}
	lost, err := align(spools, starts)
	if err != nil {
		return err
	}
	for i, o := range origins {
		if lost[i] > 0 {
			end := spools[i].end()
			s.addEvent(hearken.EventGap, seconds(end-lost[i]), seconds(end), "[gap: %.1f s of audio was lost]", seconds(lost[i]))
		}
		s.addChannelLocked(o, spools[i], starts[i], floors[i])
		s.channels[i].nudge()
	}
	return nil
}

// recoverStopped continues a session that had stopped: it must be saved, and
// may have a backlog.
func (h *Hub) recoverStopped(s *session) {
	for _, o := range channelOrigins {
		sp := h.reopenSpool(s, o)
		c := s.newChannel(h.ctx, o, sp, sp.end())
		c.cancel()
		close(c.done)
		s.channels = append(s.channels, c)
	}
	s.phase = backlogged
	close(s.stopped)
	if len(s.backlog) == 0 {
		s.phase = ended
		s.removeSpools(s.channels)
		h.saveSoon(s)
	}
}

// remainingBacklog is what is left of a journal's backlog: words that came
// meanwhile are among the entries.
func remainingBacklog(backlog []backlogSpan, segments []hearken.Segment) []*backlogSpan {
	var left []*backlogSpan
	for _, span := range backlog {
		span.begin = span.From
		for i := range segments {
			seg := &segments[i]
			inside := seg.StartTime >= seconds(span.begin)-overlapSlack && seg.EndTime <= seconds(span.To)+overlapSlack
			if seg.Origin == span.Origin && inside {
				span.From = max(span.From, min(span.To, position(seg.EndTime)))
			}
		}
		if span.From < span.To {
			left = append(left, &span)
		}
	}
	return left
}

// align makes channels end together: a crash may have left one longer than the
// other. The longer one is cut, since the sender still has what was not
// acknowledged and sends it again. Audio whose words exist, before starts, is
// not cut; the other channel is then padded, and lost holds by how much.
func align(spools []*spool, starts []int64) (lost []int64, err error) {
	end := spools[0].end()
	for _, sp := range spools {
		end = min(end, sp.end())
	}
	for i, sp := range spools {
		end = max(end, sp.first(), starts[i])
	}
	lost = make([]int64, len(spools))
	for i, sp := range spools {
		if err := sp.cut(end); err != nil {
			return nil, err
		}
		if n := end - sp.end(); n > 0 {
			sp.append(make([]int16, n))
			lost[i] = n
		}
	}
	return lost, nil
}

// completeFromStore sorts the entries of a journal. If some are missing because
// the journal could not be written for a while, it asks the store for them.
func (h *Hub) completeFromStore(id string, segments []hearken.Segment) []hearken.Segment {
	byLine := func(a, b hearken.Segment) int { return a.Line - b.Line }
	slices.SortStableFunc(segments, byLine)
	segments = slices.CompactFunc(segments, func(a, b hearken.Segment) bool { return a.Line == b.Line })
	if n := len(segments); n == 0 || segments[n-1].Line == n {
		return segments
	}
	ctx, cancel := context.WithTimeout(h.ctx, 2*time.Second)
	defer cancel()
	have, err := h.cfg.Store.Segments(ctx, id, 1, segments[len(segments)-1].Line, true)
	if err != nil {
		h.cfg.Log.Warn("journal has holes and the store does not answer", "session", id, "err", err)
		return segments
	}
	for _, seg := range have {
		if i, ok := findLine(segments, seg.Line); !ok {
			segments = slices.Insert(segments, i, seg)
		}
	}
	return segments
}

// newSpool makes the spool of a session's channel.
func (h *Hub) newSpool(s *session, o hearken.Origin) *spool {
	var dir, archiveDir string
	if s.info.Config.KeepAudio {
		archiveDir = filepath.Join(h.audioDir(), s.id, string(o))
	}
	if !h.cfg.SpoolMemory || archiveDir != "" {
		dir = filepath.Join(h.spoolDir(), s.id, string(o))
	}
	return newSpool(dir, archiveDir, h.cfg.BufferChunks*frameSamples, int64(h.cfg.SpoolSeconds)*hearken.SampleRate)
}

// reopenSpool opens the spool that an earlier hub left, or a new one if it
// cannot be read.
func (h *Hub) reopenSpool(s *session, o hearken.Origin) *spool {
	sp := h.newSpool(s, o)
	old, err := openSpool(sp.dir, sp.archiveDir, sp.tailMax, sp.limit)
	if err != nil {
		h.cfg.Log.Error("spool not read; its audio is lost", "session", s.id, "err", err)
		return sp
	}
	return old
}

// sweepJournals removes what an earlier hub was writing when it was killed. Its
// words would outlast their session.
func (h *Hub) sweepJournals() error {
	entries, err := os.ReadDir(h.journalDir())
	for _, e := range entries {
		if left, _ := filepath.Match(files.TemporaryPattern, e.Name()); left {
			err = errors.Join(err, os.Remove(filepath.Join(h.journalDir(), e.Name())))
		}
	}
	return err
}

// sweepSpool removes the audio of sessions that no longer exist.
func (h *Hub) sweepSpool() error {
	entries, err := os.ReadDir(h.spoolDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read spool: %w", err)
	}
	for _, e := range entries {
		if h.sessions[e.Name()] == nil && hearken.ValidID(e.Name()) {
			if err := os.RemoveAll(filepath.Join(h.spoolDir(), e.Name())); err != nil {
				return fmt.Errorf("sweep spool: %w", err)
			}
		}
	}
	return nil
}
