package web

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"time"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act"
	"github.com/hearken-dev/hearken/safetext"
)

//go:embed undo.html
var undoHTML string

var undoTemplate = template.Must(template.New("undo").Parse(undoHTML))

// undoPolicy lets the undo page load the style sheet and send its form. It has no
// script.
const undoPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// An undoPage is what the page of an undo link says.
type undoPage struct {
	Title, Text string
	Try         string // what helps if the link does not work
	Facts       []undoFact
	Button      bool // offers to undo it
}

// An undoFact is one property of the action, fit to be shown.
type undoFact struct{ Name, Value string }

// undoPageOf describes an action that a grant allowed.
func undoPageOf(a *hearken.Action, names keyNames) undoPage {
	p := undoPage{Facts: undoFacts(a, names)}
	switch {
	case a.State == hearken.ActionUndone, a.State == hearken.ActionCancelled:
		p.Title, p.Text = "Undone", "This has been undone."
	case canUndo(a):
		p.Title, p.Button = "Done by your grant", true
		p.Text = "You can undo this until " + clockText(undoUntil(a), a) + ". It needs no PIN."
	case a.State == hearken.ActionDone:
		p.Title, p.Text = "Done by your grant", "What was sent cannot be undone."
	case a.State == hearken.ActionUnknown:
		p.Title, p.Text = "The result is unknown", "It is not known whether this happened, so it cannot be undone here. Check where it would have arrived."
	case a.State == hearken.ActionExecuting:
		p.Title, p.Text = "Being carried out", "Load this page again in a moment."
	default:
		p.Title, p.Text = "Nothing to undo", "This was not carried out."
	}
	return p
}

// undoFacts lists what a person needs to recognize an action.
func undoFacts(a *hearken.Action, names keyNames) []undoFact {
	list := []undoFact{{"What", act.Summary(a)}, {"When", act.TimeText(a)}}
	switch {
	case a.Appointment != nil:
		list = append(list, undoFact{"Where", a.Appointment.Location}, undoFact{"Description", a.Appointment.Description})
	case a.Message != nil:
		list = append(list, undoFact{"Text", a.Message.Text})
	}
	asker := "this computer"
	if a.Principal != act.Local {
		asker = names[a.Principal]
	}
	if asker == "" {
		asker = a.Principal
	}
	if a.Client != "" {
		asker = a.Client + ", " + asker
	}
	list = append(list, undoFact{"Asked by", asker}, undoFact{"Allowed", clockText(a.Decision.At, a)})
	shown := list[:0]
	for _, f := range list {
		if f.Value != "" {
			shown = append(shown, undoFact{f.Name, safetext.Marked(f.Value)})
		}
	}
	return shown
}

// clockText is a time, to the minute, in the zone in which people read the times
// of an action.
func clockText(t time.Time, a *hearken.Action) string {
	zone := "UTC"
	switch {
	case a.Appointment != nil:
		zone = a.Appointment.Zone
	case a.Reminder != nil:
		zone = a.Reminder.Zone
	}
	return momentOf(t.Truncate(time.Minute), zone).String()
}

func (h *Handler) writeUndoPage(w http.ResponseWriter, status int, p undoPage) {
	var content bytes.Buffer
	if err := undoTemplate.Execute(&content, p); err != nil {
		h.log.Error("undo page not written", "error", err)
		http.Error(w, "The hub could not do that.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", undoPolicy)
	// With no-referrer, browsers would send the form without its origin.
	w.Header().Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(content.Bytes()) // the browser may have gone
}
