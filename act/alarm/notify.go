package alarm

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

const (
	attemptTimeout = 15 * time.Second // for one attempt
	cancelGrace    = time.Second      // for notifiers that ignore the timeout
	maxRetryAfter  = 30 * time.Second // the longest wait that a notifier may ask for
)

// retryDelays are the delays between attempts after temporary failures.
var retryDelays = []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second}

// A notifyResult holds the outcomes of all notifiers.
type notifyResult struct {
	names    []string
	outcomes []hearken.Outcome
	// postponed says that surely nobody was notified, because the clock was
	// closed between two attempts.
	postponed bool
}

// notifyAll calls all notifiers at the same time.
func (c *Clock) notifyAll(a *hearken.Action, at time.Time) notifyResult {
	n := Notice{ID: a.ID, Text: a.Reminder.Note, Due: at, Late: c.cfg.Now().Sub(at) > noticeableDelay, Zone: a.Reminder.Zone}
	r := notifyResult{outcomes: make([]hearken.Outcome, len(c.cfg.Notifiers))}
	var all sync.WaitGroup
	for i, notifier := range c.cfg.Notifiers {
		r.names = append(r.names, notifier.Name())
		all.Go(func() { r.outcomes[i] = c.notifyWith(i, n) })
	}
	all.Wait()
	r.postponed = len(r.outcomes) > 0 && c.closing.Err() != nil
	for _, o := range r.outcomes {
		r.postponed = r.postponed && o.Result == hearken.ResultTemporary
	}
	return r
}

// notifyWith calls one notifier and retries after temporary failures.
func (c *Clock) notifyWith(i int, n Notice) hearken.Outcome {
	out := hearken.Outcome{Result: hearken.ResultTemporary, Message: "The hub ended before it could notify you."}
	notifier, slot := c.cfg.Notifiers[i], c.notifierSlots[i]
	for try := 0; ; try++ {
		if !c.acquire(slot) {
			return out
		}
		out = c.attempt(notifier, n)
		<-slot
		if out.Result != hearken.ResultOK {
			c.cfg.Log.Warn("notification failed", "id", n.ID, "notifier", notifier.Name(), "result", string(out.Result), "error", out.Message)
		}
		if out.Result != hearken.ResultTemporary || try == len(retryDelays) || !c.sleep(max(retryDelays[try], min(out.After, maxRetryAfter))) {
			return out
		}
	}
}

// attempt calls a notifier once, in bounded time even if it ignores its
// context.
func (c *Clock) attempt(notifier Notifier, n Notice) hearken.Outcome {
	ctx, cancel := context.WithTimeout(c.ctx, attemptTimeout)
	defer cancel()
	done := make(chan hearken.Outcome, 1)
	go func() { done <- notifier.Notify(ctx, n) }()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
	}
	select {
	case out := <-done:
		return out
	case <-time.After(cancelGrace):
		return hearken.Outcome{Result: hearken.ResultUnknown, Message: "It did not answer in time."}
	}
}

// sleep waits and reports whether the clock is still open.
func (c *Clock) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.closing.Done():
		return false
	}
}

// failure says why the owner was not notified; nil if one notifier succeeded.
func (r notifyResult) failure() *hearken.Error {
	if len(r.outcomes) == 0 {
		return hearken.Errorf(hearken.ConnectorMissing, "No way to notify you of reminders is set up.")
	}
	code := hearken.ProviderRejected
	var reasons []string
	for i, o := range r.outcomes {
		switch {
		case o.Result == hearken.ResultOK:
			return nil
		case o.Result == hearken.ResultTemporary && code != hearken.OutcomeUnknown:
			code = hearken.ProviderTemporary
		case o.Result != hearken.ResultTemporary && o.Result != hearken.ResultPermanent:
			code = hearken.OutcomeUnknown
		}
		reasons = append(reasons, r.names[i]+": "+o.Message)
	}
	return &hearken.Error{Code: code, Message: strings.Join(reasons, " ")}
}

// A Notice is a reminder that is due, or something else that the owner should
// know.
type Notice struct {
	ID   string // the reminder's; the same for all its times
	Text string
	Due  time.Time
	Late bool   // the hub was off, or the computer asleep, when it was due
	Zone string // IANA name of the zone in which people read Due
	// Headline replaces the title of something that is no reminder.
	Headline string
}

// Title is the headline of the notification.
func (n Notice) Title() string {
	switch {
	case n.Headline != "":
		return n.Headline
	case n.Late:
		return "Late reminder"
	}
	return "Reminder"
}

// When says for a person when the reminder was due.
func (n Notice) When() string {
	zone, err := time.LoadLocation(n.Zone)
	if err != nil {
		zone = time.UTC
	}
	return schedule.Describe(n.Due, zone, "", 0)
}

// A Notifier notifies the owner in one way: on the desktop, by email. Its
// methods may be called concurrently.
type Notifier interface {
	// Name identifies it in settings and errors: desktop, email.
	Name() string
	// Notify notifies the owner now. It returns soon after ctx ends.
	Notify(ctx context.Context, n Notice) hearken.Outcome
}

// NotifyFunc makes a [Notifier] of a function.
func NotifyFunc(name string, notify func(ctx context.Context, n Notice) hearken.Outcome) Notifier {
	return notifierFunc{name, notify}
}

type notifierFunc struct {
	name   string
	notify func(ctx context.Context, n Notice) hearken.Outcome
}

func (f notifierFunc) Name() string { return f.name }

func (f notifierFunc) Notify(ctx context.Context, n Notice) hearken.Outcome { return f.notify(ctx, n) }
