package live

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	// backlogEvery is how often the hub looks for audio that is due.
	backlogEvery = 5 * time.Second
	// backlogMaxAge is how long audio without an engine is kept after its
	// session stopped.
	backlogMaxAge = 24 * time.Hour
	// skipAheadAfter is how far behind a session may be after an outage before
	// it skips ahead to live audio and puts the rest into the backlog.
	skipAheadAfter = 30 * hearken.SampleRate
)

// A backlogSpan is a stretch of a session's audio that no engine could
// transcribe yet. Its audio stays in the spool until one has. The session
// meanwhile continues without it, or has stopped.
type backlogSpan struct {
	Origin hearken.Origin `json:"source"`
	From   int64          `json:"from"`
	To     int64          `json:"to"`

	begin   int64         // From, before any of it was transcribed
	missing int64         // samples of it that were lost before an engine got them
	wait    time.Duration // since the last failure
	retryAt time.Time     // the next attempt is not before this
}

// addBacklogLocked adds a stretch to the backlog.
func (s *session) addBacklogLocked(o hearken.Origin, from, to int64) {
	s.backlog = append(s.backlog, &backlogSpan{Origin: o, From: from, To: to, begin: from})
	s.journal.enqueue(s.headLocked())
}

// backlogSecondsLocked is the length of the backlog.
func (s *session) backlogSecondsLocked() float64 {
	var sum int64
	for _, span := range s.backlog {
		sum += span.To - span.From
	}
	return seconds(sum)
}

// skipAhead lets a channel that is far behind after an outage continue with
// live audio, if its engine is hardly faster than real time. The audio in
// between becomes backlog. It returns the position at which the channel
// continues.
func (c *channel) skipAhead(p hearken.Provider, start int64) int64 {
	end := c.spool.end()
	if p.Capabilities().Pace <= 0 || !c.failed || end-start <= skipAheadAfter {
		return start
	}
	at := c.quietestPoint(end)
	c.s.mu.Lock()
	c.s.addBacklogLocked(c.origin, c.replayFrom(), at)
	c.s.mu.Unlock()
	c.finalUntil.Store(at)
	c.floor, c.confirmed = at, seconds(at)
	c.s.addEvent(hearken.EventGap, seconds(start), seconds(at), "[gap: %.1f s of audio is waiting to be transcribed]", seconds(at-start))
	return at
}

// quietestPoint is the quietest position shortly before end. A cut there is
// unlikely to split a word.
func (c *channel) quietestPoint(end int64) int64 {
	const window = hearken.SampleRate / 20
	pcm := make([]int16, 3*hearken.SampleRate)
	from := end - int64(len(pcm))
	if err := copyAudio(c.spool, from, pcm); err != nil {
		return end
	}
	best, lowest := len(pcm), int64(-1)
	for i := 0; i+window <= len(pcm); i += window {
		power := meanPower(pcm[i : i+window])
		if lowest < 0 || power <= lowest {
			best, lowest = i+window/2, power
		}
	}
	return from + int64(best)
}

// meanPower is the mean power of samples.
func meanPower(pcm []int16) int64 {
	var sum int64
	for _, v := range pcm {
		sum += int64(v) * int64(v)
	}
	return sum / int64(max(1, len(pcm)))
}

// backlogWorkers is how many spans are transcribed at a time. Live audio comes
// first, but one long span must not delay all others.
const backlogWorkers = 4

// backlogLoop transcribes the backlog, one span per session at a time.
func (h *Hub) backlogLoop() {
	h.every(backlogEvery, func() {
		for _, s := range h.list() {
			for span := s.nextBacklog(); span != nil && h.ctx.Err() == nil; span = s.nextBacklog() {
				h.transcribeBacklog(s, span)
			}
		}
	})
}

// nextBacklog returns a span that may be tried now, or nil.
func (s *session) nextBacklog() *backlogSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase > backlogged || s.backlogChannel != nil {
		return nil
	}
	now := s.hub.cfg.Now()
	for _, span := range s.backlog {
		if !now.Before(span.retryAt) {
			return span
		}
	}
	return nil
}

// transcribeBacklog tries the session's engines in turn on one span.
func (h *Hub) transcribeBacklog(s *session, span *backlogSpan) {
	c := s.newBacklogChannel(h.ctx, span)
	if c == nil {
		return
	}
	var err error
	for _, name := range h.backlogEngines(s) {
		if err = c.stream(c.ctx, name); err == nil || c.ctx.Err() != nil {
			break
		}
	}
	c.cancel()
	close(c.done)
	s.backlogDone(c, span, err)
}

// backlogEngines are the engines that may transcribe a session's backlog: its
// own, then the hub's. A session that used only offline engines gets no others,
// and one with this computer's own audio only those meant for that.
func (h *Hub) backlogEngines(s *session) []string {
	names, more := slices.Clone(s.engines), h.cfg.Chain
	if s.info.Config.Capture {
		more = h.cfg.Captures
	}
	private := !slices.ContainsFunc(s.engines, func(name string) bool { return !h.offline(name) })
	for _, name := range more {
		if !slices.Contains(names, name) && (!private || h.offline(name)) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return h.provider(name) == nil })
}

// newBacklogChannel makes a channel that ends where the span does. It returns
// nil if the span no longer exists.
func (s *session) newBacklogChannel(ctx context.Context, span *backlogSpan) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.channels, func(c *channel) bool { return c.origin == span.Origin })
	if i < 0 || s.backlogChannel != nil || !slices.Contains(s.backlog, span) {
		return nil
	}
	c := s.newChannel(ctx, span.Origin, s.channels[i].spool, span.From)
	c.backlog, c.limit = span, span.To
	c.finish.Store(true)
	s.backlogChannel = c
	return c
}

// backlogDone removes a span that was transcribed, or schedules the next
// attempt.
func (s *session) backlogDone(c *channel, span *backlogSpan, err error) {
	h := s.hub
	s.mu.Lock()
	s.backlogChannel = nil
	i := slices.Index(s.backlog, span)
	if i < 0 || c.ctx.Err() != nil && h.ctx.Err() != nil {
		s.mu.Unlock() // forgotten, or left for the next hub
		return
	}
	writeOff := err != nil && s.info.StoppedAt != nil && h.cfg.Now().Sub(*s.info.StoppedAt) > backlogMaxAge
	span.From = max(span.From, min(c.replayFrom(), span.To))
	span.missing += c.missing
	if err != nil && !writeOff {
		span.wait = min(max(2*span.wait, 10*time.Second), maxReturnWait)
		span.retryAt = h.cfg.Now().Add(jitter(span.wait))
		s.mu.Unlock()
		h.cfg.Log.Info("backlog still waits for an engine", "session", s.id, "seconds", seconds(span.To-span.From), "err", err)
		return
	}
	s.backlog = slices.Delete(s.backlog, i, i+1)
	transcribed := span.To - span.begin - span.missing
	s.info.Config.OutOfOrder = s.info.Config.OutOfOrder || transcribed > 0
	s.journal.enqueue(s.headLocked())
	s.markUnsavedLocked()
	s.mu.Unlock()
	if writeOff {
		s.addEvent(hearken.EventGap, seconds(span.From), seconds(span.To), "[gap: %.1f s of audio was never transcribed]", seconds(span.To-span.From))
	} else if transcribed > 0 {
		s.addEvent(hearken.EventFilled, seconds(span.begin), seconds(span.To), "[%.1f s of audio was transcribed later]", seconds(transcribed))
	}
	s.trimSpool(c)
	s.endIfComplete()
}

// trimSpool drops audio that neither the channel nor the backlog needs.
func (s *session) trimSpool(c *channel) {
	s.mu.Lock()
	pos := int64(math.MaxInt64)
	for _, live := range s.channels {
		if live.origin == c.origin {
			pos = live.finalUntil.Load()
		}
	}
	for _, span := range s.backlog {
		if span.Origin == c.origin {
			pos = min(pos, span.From)
		}
	}
	s.mu.Unlock()
	c.spool.trim(pos - replayLead)
}

// endIfComplete ends a stopped session whose backlog is empty.
func (s *session) endIfComplete() {
	s.mu.Lock()
	if s.phase != backlogged || len(s.backlog) > 0 {
		s.mu.Unlock()
		return
	}
	s.phase = ended
	channels := s.channels
	s.mu.Unlock()
	s.removeSpools(channels)
	s.hub.save(s)
}

// removeSpools removes the session's spooled audio, or archives it if it is to
// be kept.
func (s *session) removeSpools(channels []*channel) {
	var err error
	for _, c := range channels {
		err = errors.Join(err, c.spool.remove())
	}
	if err != nil {
		s.hub.cfg.Log.Warn("spool not removed", "session", s.id, "err", err)
	}
}
