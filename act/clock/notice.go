package clock

import (
	"context"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/schedule"
)

// A Notice is a reminder that is due.
type Notice struct {
	ID   string // the reminder's; the same for all its times
	Text string
	Due  time.Time
	Late bool   // the hub was off, or the computer asleep, when it was due
	Zone string // IANA name of the zone in which people read Due
}

// Title is the headline of the notification.
func (n Notice) Title() string {
	if n.Late {
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
