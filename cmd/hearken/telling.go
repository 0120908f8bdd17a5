package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	alarm "github.com/hearken-dev/hearken/act/clock"
	"github.com/hearken-dev/hearken/action/message"
)

// notifiers are the ways in which the owner is told of a reminder.
func (a *App) notifiers(messengers []hearken.Connector) ([]alarm.Notifier, error) {
	var out []alarm.Notifier
	for _, way := range a.cfg.RemindBy {
		if way == "desktop" {
			out = append(out, alarm.NotifyFunc(way, func(ctx context.Context, n alarm.Notice) hearken.Outcome {
				return a.desktop.Show(ctx, n.Title(), noticeText(n))
			}))
			continue
		}
		var by hearken.Connector
		for _, m := range messengers {
			if m.Name() == way {
				by = m
			}
		}
		if by == nil {
			return nil, badValue("REMIND_BY", strings.Join(a.cfg.RemindBy, ","), "ways that are configured ("+way+" is not)")
		}
		to := a.cfg.OwnerEmail
		switch by := by.(type) {
		case *message.Email:
			to = cmp.Or(to, by.Sender())
		case hearken.SingleTarget:
			to = by.Target()
		}
		out = append(out, letter(by, to))
	}
	return out, nil
}

// asked tells the owner on the screen that something waits. What it is stands
// on the page and in the terminal, where it can be read in full and decided.
func (a *App) asked(action *hearken.Action) {
	if !slices.Contains(a.cfg.RemindBy, "desktop") {
		return
	}
	a.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), askedTimeout)
		defer cancel()
		if out := a.desktop.Show(ctx, "Approval needed", act.Summary(action)+"\nhearken approve "+action.ID); out.Result != hearken.ResultOK {
			a.log.Debug("the owner was not told on the screen", "action", action.ID, "reason", out.Message)
		}
	})
}

// askedTimeout is how long the screen may take.
const askedTimeout = 5 * time.Second

// unheard says why the owner could not be told of a reminder now; empty if
// there is a way.
func (a *App) unheard() string {
	if len(a.cfg.RemindBy) == 1 && a.cfg.RemindBy[0] == "desktop" && !a.desktop.Available() {
		return "This computer has no desktop for notifications, so the reminder will appear only in the calendar. Set REMIND_BY to another way."
	}
	return ""
}

// noticeText is what the owner reads, with the time of one that comes late.
func noticeText(n alarm.Notice) string {
	if n.Late {
		return n.Text + "\n\nThis was due " + n.When() + "."
	}
	return n.Text
}

// letter tells the owner of a reminder by a message.
func letter(by hearken.Connector, to string) alarm.Notifier {
	return alarm.NotifyFunc(by.Name(), func(ctx context.Context, n alarm.Notice) hearken.Outcome {
		return by.Do(ctx, &hearken.Action{
			ID: n.ID + "-" + n.Due.UTC().Format("20060102T150405"), Tool: hearken.MessageSend,
			Message: &hearken.Message{To: to, Address: to, Platform: by.Name(), Text: n.Title() + ": " + noticeText(n), Known: true},
		})
	})
}
