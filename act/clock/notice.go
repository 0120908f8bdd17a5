package clock

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

// A Notice is what the owner is told of.
type Notice struct {
	ID   string // the reminder's; the same for all its times
	Text string
	Due  time.Time
	Late bool   // the hub was off, or the computer asleep, when it was due
	Zone string // IANA name of the clock by which Due is read
}

// Title is the line over a notice's text.
func (n Notice) Title() string {
	if n.Late {
		return "Late reminder"
	}
	return "Reminder"
}

// When is when the notice was due, for a person.
func (n Notice) When() string {
	zone, err := time.LoadLocation(n.Zone)
	if err != nil {
		zone = time.UTC
	}
	return schedule.Describe(n.Due, zone, "", 0)
}

// A Notifier tells the owner of a reminder on one way: on the screen, by mail.
// Its methods may be called concurrently.
type Notifier interface {
	// Name is how settings and errors call it: desktop, email.
	Name() string
	// Notify tells the owner now, and returns soon after the context ends.
	Notify(ctx context.Context, n Notice) hearken.Outcome
}

// NotifyFunc makes a function a [Notifier].
func NotifyFunc(name string, notify func(ctx context.Context, n Notice) hearken.Outcome) Notifier {
	return way{name, notify}
}

type way struct {
	name   string
	notify func(ctx context.Context, n Notice) hearken.Outcome
}

func (w way) Name() string { return w.name }

func (w way) Notify(ctx context.Context, n Notice) hearken.Outcome { return w.notify(ctx, n) }
