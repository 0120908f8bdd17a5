package act

import (
	"fmt"

	"github.com/hearken-dev/hearken"
)

// A NoticeKind is what a [Notice] is about.
type NoticeKind string

const (
	NoticePending   NoticeKind = "pending"   // an action waits for a decision
	NoticeCollected NoticeKind = "collected" // a call has ended, and actions wait
	NoticeGranted   NoticeKind = "granted"   // a grant allowed an action, which has run
	NoticeRevoked   NoticeKind = "revoked"   // the hub has revoked grants
)

// A Notice is something that the owner should know soon.
type Notice struct {
	Kind        NoticeKind
	ID          string // of the action, if it is about one
	Title, Text string
	CanUndo     bool // see [Queue.UndoGranted]
}

func (q *Queue) notify(n Notice) { q.cfg.OnNotice(n) }

// notifyGranted tells the owner of an action that a grant allowed, if it has
// happened or may have.
func (q *Queue) notifyGranted(a *hearken.Action) {
	if a.Decision != nil && a.Decision.Grant != "" && (a.State == hearken.ActionDone || a.State == hearken.ActionUnknown) {
		q.notify(grantedNotice(a, q.canUndo(a)))
	}
}

func pendingNotice(a *hearken.Action) Notice {
	return Notice{Kind: NoticePending, ID: a.ID, Title: "Approval needed", Text: Summary(a) + "\nhearken approve " + a.ID}
}

func collectedNotice(n int) Notice {
	text := "One request from your call waits for your decision."
	if n > 1 {
		text = fmt.Sprintf("%d requests from your call wait for your decision.", n)
	}
	return Notice{Kind: NoticeCollected, Title: "After your call", Text: text + "\nhearken approve"}
}

// grantedNotice tells the owner what a grant allowed.
func grantedNotice(a *hearken.Action, canUndo bool) Notice {
	n := Notice{Kind: NoticeGranted, ID: a.ID, Title: "Done by your grant", Text: Summary(a)}
	switch {
	case a.State == hearken.ActionUnknown:
		n.Title = "A grant was used, with an unknown result"
	case canUndo:
		n.CanUndo = true
		n.Text += "\nTo undo it within a day: hearken undo " + a.ID
	}
	return n
}

func revokedNotice(n int) Notice {
	text := "A grant for messages was revoked. Messages to people now always ask you."
	if n > 1 {
		text = fmt.Sprintf("%d grants for messages were revoked. Messages to people now always ask you.", n)
	}
	return Notice{Kind: NoticeRevoked, Title: "Grants revoked", Text: text}
}
