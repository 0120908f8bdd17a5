package clock

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
)

const (
	patience = 15 * time.Second // for one attempt
	grace    = time.Second      // for who does not heed it
	maxAfter = 30 * time.Second // how long a notifier may ask to wait
)

// pauses are between the attempts of a notifier that fails for now.
var pauses = []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second}

// A telling is how all the notifiers did.
type telling struct {
	names    []string
	outcomes []hearken.Outcome
	// postponed says that surely nobody was told, because the clock was closed
	// between two attempts.
	postponed bool
}

// tell has all notifiers tell of a time, each for itself.
func (c *Clock) tell(a *hearken.Action, was time.Time) telling {
	n := Notice{ID: a.ID, Text: a.Reminder.Note, Due: was, Late: c.cfg.Now().Sub(was) > late, Zone: a.Reminder.Zone}
	t := telling{outcomes: make([]hearken.Outcome, len(c.cfg.Notifiers))}
	var all sync.WaitGroup
	for i, by := range c.cfg.Notifiers {
		t.names = append(t.names, by.Name())
		all.Go(func() { t.outcomes[i] = c.tellBy(i, n) })
	}
	all.Wait()
	t.postponed = len(t.outcomes) > 0 && c.stopped()
	for _, o := range t.outcomes {
		t.postponed = t.postponed && o.Result == hearken.ResultTemporary
	}
	return t
}

// tellBy has one notifier tell, again where it failed for now.
func (c *Clock) tellBy(i int, n Notice) hearken.Outcome {
	out := hearken.Outcome{Result: hearken.ResultTemporary, Message: "The hub ended before it could tell."}
	by, slot := c.cfg.Notifiers[i], c.slots[i]
	for try := 0; ; try++ {
		if !c.enter(slot) {
			return out
		}
		out = c.attempt(by, n)
		<-slot
		if out.Result != hearken.ResultOK {
			c.cfg.Log.Warn("reminder was not told", "id", n.ID, "notifier", by.Name(), "result", string(out.Result), "error", out.Message)
		}
		if out.Result != hearken.ResultTemporary || try == len(pauses) || !c.pause(max(pauses[try], min(out.After, maxAfter))) {
			return out
		}
	}
}

// attempt is one, of bounded time also where the notifier does not heed that.
func (c *Clock) attempt(by Notifier, n Notice) hearken.Outcome {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	done := make(chan hearken.Outcome, 1)
	go func() { done <- by.Notify(ctx, n) }()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case out := <-done:
		return out
	case <-timer.C:
		return hearken.Outcome{Result: hearken.ResultUnknown, Message: "It did not answer in time."}
	}
}

// pause waits and tells whether it could.
func (c *Clock) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// problem is why the owner was not reached, with its code in front; empty if
// one way did reach.
func (t telling) problem() string {
	if len(t.outcomes) == 0 {
		return string(hearken.ConnectorMissing) + ": No way to tell of reminders is set up."
	}
	code := hearken.ProviderRejected
	var reasons []string
	for i, o := range t.outcomes {
		switch {
		case o.Result == hearken.ResultOK:
			return ""
		case o.Result == hearken.ResultTemporary && code != hearken.OutcomeUnknown:
			code = hearken.ProviderTemporary
		case o.Result != hearken.ResultTemporary && o.Result != hearken.ResultPermanent:
			code = hearken.OutcomeUnknown
		}
		reasons = append(reasons, t.names[i]+": "+o.Message)
	}
	return string(code) + ": " + strings.Join(reasons, " ")
}
