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
	"github.com/hearken-dev/hearken/action/reminder"
)

// notifiers are the ways in which the owner is told of a reminder.
func (a *App) notifiers(messengers []hearken.Connector) ([]alarm.Notifier, error) {
	var out []alarm.Notifier
	for _, way := range a.cfg.RemindBy {
		if way == "desktop" {
			out = append(out, screen{a.desktop})
			continue
		}
		var by hearken.Connector
		for _, m := range messengers {
			if m.Name() == way {
				by = m
			}
		}
		if by == nil {
			return nil, badValue("REMIND_BY", strings.Join(a.cfg.RemindBy, ","), "ways that are set up; "+way+" is not")
		}
		to := cmp.Or(a.cfg.OwnerEmail, a.cfg.SMTPFrom)
		if placed, ok := by.(interface{ Place() string }); ok {
			to = placed.Place()
		}
		out = append(out, letter{by, to})
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
		if out := a.desktop.Show(ctx, "An agent asks you", act.What(action)+"\nhearken approve "+action.ID); out.Result != hearken.ResultOK {
			a.log.Debug("the owner was not told on the screen", "action", action.ID, "reason", out.Message)
		}
	})
}

// askedTimeout is how long the screen may take.
const askedTimeout = 5 * time.Second

// screen tells the owner of a reminder on the screen.
type screen struct{ *reminder.Desktop }

func (s screen) Notify(ctx context.Context, n alarm.Notice) hearken.Outcome {
	title := "Reminder"
	if n.Late {
		title += " of " + n.Due.Format("15:04, 2 January")
	}
	return s.Show(ctx, title, n.Text)
}

// letter tells the owner of a reminder by a message.
type letter struct {
	by hearken.Connector
	to string
}

func (l letter) Name() string { return l.by.Name() }

func (l letter) Notify(ctx context.Context, n alarm.Notice) hearken.Outcome {
	text := "Reminder: " + n.Text
	if n.Late {
		text += "\n\nThis was due at " + n.Due.Format("15:04 on 2 January") + ", while the hub was not running."
	}
	return l.by.Do(ctx, &hearken.Action{
		ID: n.ID + "-" + n.Due.UTC().Format("20060102T150405"), Tool: hearken.MessageSend,
		Message: &hearken.Message{To: l.to, Address: l.to, Platform: l.by.Name(), Text: text, Known: true},
	})
}
