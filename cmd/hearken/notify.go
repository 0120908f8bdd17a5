package main

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/act/alarm"
	"github.com/hearken-dev/hearken/action/message"
	"github.com/hearken-dev/hearken/web"
)

const (
	// noticeTimeout is how long a notification may take.
	noticeTimeout = 15 * time.Second
	desktopName   = "desktop"
)

// notifiers returns the ways to remind the owner, as REMIND_BY names them.
func (a *App) notifiers(messengers []hearken.Connector) ([]alarm.Notifier, error) {
	var out []alarm.Notifier
	for _, name := range a.cfg.RemindBy {
		if name == desktopName {
			out = append(out, alarm.NotifyFunc(name, func(ctx context.Context, n alarm.Notice) hearken.Outcome {
				return a.desktop.Show(ctx, n.Title(), noticeText(n))
			}))
			continue
		}
		i := slices.IndexFunc(messengers, func(m hearken.Connector) bool { return m.Name() == name })
		if i < 0 {
			return nil, badValue("REMIND_BY", strings.Join(a.cfg.RemindBy, ","), "ways that are configured ("+name+" is not)")
		}
		to := a.cfg.OwnerEmail
		switch m := messengers[i].(type) {
		case *message.Email:
			to = cmp.Or(to, m.Sender())
		case hearken.SingleTarget:
			to = m.Target()
		}
		out = append(out, messageNotifier(messengers[i], to))
	}
	return out, nil
}

// messageNotifier reminds the owner by a message.
func messageNotifier(messenger hearken.Connector, to string) alarm.Notifier {
	return alarm.NotifyFunc(messenger.Name(), func(ctx context.Context, n alarm.Notice) hearken.Outcome {
		return messenger.Do(ctx, &hearken.Action{
			ID: n.ID + "-" + n.Due.UTC().Format("20060102T150405"), Tool: hearken.MessageSend,
			Message: &hearken.Message{To: to, Address: to, Platform: messenger.Name(), Text: n.Title() + ": " + noticeText(n), Known: true},
		})
	})
}

// noticeText is the text of a reminder. If it is late, it says when it was due.
func noticeText(n alarm.Notice) string {
	if n.Late {
		return n.Text + "\n\nThis was due " + n.When() + "."
	}
	return n.Text
}

// noNotifier says why no reminder can reach the owner now; empty if one can.
func (a *App) noNotifier() string {
	if len(a.cfg.RemindBy) == 1 && a.cfg.RemindBy[0] == desktopName && !a.desktop.Available() {
		return "This computer has no desktop for notifications, so the reminder will appear only in the calendar. Set REMIND_BY to another way."
	}
	return ""
}

// notifyOwner tells the owner what the queue has to say. That an action waits is
// shown on the desktop only: the page and the terminal show it in full. What has
// happened without a question is told in every way that reminders use.
func (a *App) notifyOwner(n act.Notice) {
	for _, notifier := range a.notifierList {
		if n.Kind == act.NoticePending && notifier.Name() != desktopName {
			continue
		}
		a.running.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), noticeTimeout)
			defer cancel()
			text := n.Text + a.undoText(ctx, n)
			out := notifier.Notify(ctx, alarm.Notice{ID: cmp.Or(n.ID, "notice"), Headline: n.Title, Text: text, Due: a.now()})
			if out.Result != hearken.ResultOK {
				level := slog.LevelWarn
				if n.Kind == act.NoticePending {
					level = slog.LevelDebug // it waits on the page and at the terminal
				}
				a.log.Log(ctx, level, "owner not notified", "by", notifier.Name(), "about", string(n.Kind), "action", n.ID, "reason", out.Message)
			}
		})
	}
}

// undoText is the line with the link that undoes what a notice is about; empty if
// it cannot be undone or this hub serves no HTTP.
func (a *App) undoText(ctx context.Context, n act.Notice) string {
	if !n.CanUndo {
		return ""
	}
	server, err := a.Transports(ctx)
	if err != nil {
		return ""
	}
	return "\nor open " + server.URL() + web.UndoPath(a.stateKey, n.ID)
}
