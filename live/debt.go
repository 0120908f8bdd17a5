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
	// fillEvery is how often somebody looks for debts.
	fillEvery = 5 * time.Second
	// oweFor is how long sound is kept that no engine took after its session
	// had stopped.
	oweFor = 24 * time.Hour
	// jumpAfter is how far behind a session may be after an outage before it
	// goes on with what is said now and owes the rest.
	jumpAfter = 30 * hearken.SampleRate
)

// A debt is a stretch of a session's sound whose words are still to come,
// though the session went on without them or has stopped: no engine was there.
// Its sound stays in the spool until one is.
type debt struct {
	Origin hearken.Origin `json:"source"`
	From   int64          `json:"from"`
	To     int64          `json:"to"`

	begin   int64         // From, before anything of it was paid
	missing int64         // of it, what was gone before an engine could have it
	wait    time.Duration // after the last failure
	again   time.Time     // not before
}

// oweLocked notes that the words of a stretch are still to come.
func (s *session) oweLocked(o hearken.Origin, from, to int64) {
	s.debts = append(s.debts, &debt{Origin: o, From: from, To: to, begin: from})
	s.journal.post(s.headLocked())
}

// owedLocked is how many seconds of sound wait for their words.
func (s *session) owedLocked() float64 {
	var sum int64
	for _, d := range s.debts {
		sum += d.To - d.From
	}
	return seconds(sum)
}

// jump has a live channel go on with what is said now when it is far behind
// after an outage and its engine takes old sound hardly faster than new. It
// returns where the channel goes on.
func (c *channel) jump(p hearken.Provider, start int64) int64 {
	paced, ok := p.(hearken.Paced)
	end := c.spool.end()
	if !ok || paced.Pace() <= 0 || !c.lost || end-start <= jumpAfter {
		return start
	}
	at := c.quietPlace(end)
	c.s.mu.Lock()
	c.s.oweLocked(c.origin, c.unheard(), at)
	c.s.mu.Unlock()
	c.through.Store(at)
	c.floor, c.confirmed = at, seconds(at)
	c.s.note(hearken.EventGap, seconds(start), seconds(at), "[gap: %.1f s of audio is waiting to be transcribed]", seconds(at-start))
	return at
}

// quietPlace is where the sound just before end is quietest, so that a cut
// there is unlikely to go through a word.
func (c *channel) quietPlace(end int64) int64 {
	const window = hearken.SampleRate / 20
	pcm := make([]int16, 3*hearken.SampleRate)
	from := end - int64(len(pcm))
	if err := fillFrom(c.spool, from, pcm); err != nil {
		return end
	}
	best, least := len(pcm), int64(-1)
	for i := 0; i+window <= len(pcm); i += window {
		power := loudness(pcm[i : i+window])
		if least < 0 || power <= least {
			best, least = i+window/2, power
		}
	}
	return from + int64(best)
}

// loudness is the mean power of some sound.
func loudness(pcm []int16) int64 {
	var sum int64
	for _, v := range pcm {
		sum += int64(v) * int64(v)
	}
	return sum / int64(max(1, len(pcm)))
}

// fills is how many debts are paid at a time: those who speak now come first,
// but one long debt must not hold up all others.
const fills = 4

// fillLoop pays debts, one at a time for a session.
func (h *Hub) fillLoop() {
	h.every(fillEvery, func() {
		for _, s := range h.list() {
			for d := s.nextDebt(); d != nil && h.ctx.Err() == nil; d = s.nextDebt() {
				h.pay(s, d)
			}
		}
	})
}

// nextDebt is a debt that may be tried now.
func (s *session) nextDebt() *debt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase > owing || s.fill != nil {
		return nil
	}
	now := s.hub.cfg.Now()
	for _, d := range s.debts {
		if !now.Before(d.again) {
			return d
		}
	}
	return nil
}

// pay has the session's engines, one after the other, listen to a debt.
func (h *Hub) pay(s *session, d *debt) {
	c := s.newFill(h.ctx, d)
	if c == nil {
		return
	}
	var err error
	for _, name := range h.payers(s) {
		if err = c.stream(c.ctx, name); err == nil || c.ctx.Err() != nil {
			break
		}
	}
	c.cancel()
	close(c.done)
	s.paid(c, d, err)
}

// payers are the engines that may listen to what a session owes: its own, and
// then the hub's, for who has to repair something may choose another. But what
// was never to leave this computer does not leave it now.
func (h *Hub) payers(s *session) []string {
	names := slices.Clone(s.engines)
	private := !slices.ContainsFunc(s.engines, func(name string) bool { return !h.offline(name) })
	for _, name := range h.cfg.Chain {
		if !slices.Contains(names, name) && (!private || h.offline(name)) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return h.provider(name) == nil })
}

// offline reports whether an engine keeps what it hears on this computer.
func (h *Hub) offline(name string) bool {
	_, ok := h.provider(name).(hearken.Offline)
	return ok
}

// newFill makes a channel that ends where the debt does; nil if the debt is
// gone by now.
func (s *session) newFill(ctx context.Context, d *debt) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.channels, func(c *channel) bool { return c.origin == d.Origin })
	if i < 0 || s.fill != nil || !slices.Contains(s.debts, d) {
		return nil
	}
	c := s.newChannel(ctx, d.Origin, s.channels[i].spool, d.From)
	c.debt, c.limit = d, d.To
	c.finish.Store(true)
	s.fill = c
	return c
}

// paid settles a debt, or notes when to try again.
func (s *session) paid(c *channel, d *debt, err error) {
	h := s.hub
	s.mu.Lock()
	s.fill = nil
	i := slices.Index(s.debts, d)
	if i < 0 || c.ctx.Err() != nil && h.ctx.Err() != nil {
		s.mu.Unlock() // forgotten, or the next hub goes on with it
		return
	}
	writeOff := err != nil && s.info.StoppedAt != nil && h.cfg.Now().Sub(*s.info.StoppedAt) > oweFor
	d.From = max(d.From, min(c.unheard(), d.To))
	d.missing += c.missing
	if err != nil && !writeOff {
		d.wait = min(max(2*d.wait, 10*time.Second), maxReturnWait)
		d.again = h.cfg.Now().Add(jitter(d.wait))
		s.mu.Unlock()
		h.cfg.Log.Info("old sound still waits for an engine", "session", s.id, "seconds", seconds(d.To-d.From), "err", err)
		return
	}
	s.debts = slices.Delete(s.debts, i, i+1)
	heard := d.To - d.begin - d.missing
	s.info.Config.OutOfOrder = s.info.Config.OutOfOrder || heard > 0
	s.journal.post(s.headLocked())
	s.dirtyLocked()
	s.mu.Unlock()
	if writeOff {
		s.note(hearken.EventGap, seconds(d.From), seconds(d.To), "[gap: %.1f s of audio was never transcribed]", seconds(d.To-d.From))
	} else if heard > 0 {
		s.note(hearken.EventFilled, seconds(d.begin), seconds(d.To), "[%.1f s of audio was transcribed later]", seconds(heard))
	}
	s.trim(c)
	s.clear()
}

// trim lets the spool go of what neither its channel nor a debt needs.
func (s *session) trim(c *channel) {
	s.mu.Lock()
	pos := int64(math.MaxInt64)
	for _, live := range s.channels {
		if live.origin == c.origin {
			pos = live.through.Load()
		}
	}
	for _, d := range s.debts {
		if d.Origin == c.origin {
			pos = min(pos, d.From)
		}
	}
	s.mu.Unlock()
	c.spool.trim(pos - replayLead)
}

// clear ends a stopped session that owes nothing any more.
func (s *session) clear() {
	s.mu.Lock()
	if s.phase != owing || len(s.debts) > 0 {
		s.mu.Unlock()
		return
	}
	s.phase = ended
	channels := s.channels
	s.mu.Unlock()
	s.removeSpools(channels)
	s.hub.save(s)
}

// removeSpools lets go of sound that nothing needs any more; where it is to be
// kept it goes there.
func (s *session) removeSpools(channels []*channel) {
	var errs []error
	for _, c := range channels {
		errs = append(errs, c.spool.remove())
	}
	if err := errors.Join(errs...); err != nil {
		s.hub.cfg.Log.Warn("spool not removed", "session", s.id, "err", err)
	}
}
