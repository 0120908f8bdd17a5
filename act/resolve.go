package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/act/evidence"
	"github.com/hearken-dev/hearken/safetext"
	"github.com/hearken-dev/hearken/schedule"
)

// The longest texts, in characters.
const (
	maxLine = 500   // a title, a location, a note
	maxText = 20000 // a message, a description
)

// resolve turns a request into an action: names become addresses and times
// become instants in a zone, so that what a person approves is what is done. It
// also returns the arguments that somebody should have said.
func (q *Queue) resolve(ctx context.Context, req Request) (*hearken.Action, []evidence.Arg, error) {
	now := q.cfg.Now().UTC()
	a := &hearken.Action{
		ID: hearken.NewActionID(req.Tool), Tool: req.Tool, Principal: req.Principal, Client: shortLine(req.Client, 80),
		State: hearken.ActionPending, CreatedAt: now, ExpiresAt: now.Add(q.cfg.Approval),
	}
	var said []evidence.Arg
	var err error
	switch {
	case req.Tool == hearken.CalendarCreate && req.Calendar != nil:
		said, err = q.resolveCalendar(ctx, a, req.Calendar)
	case req.Tool == hearken.MessageSend && req.Message != nil:
		said, err = q.resolveMessage(ctx, a, req.Message)
	case req.Tool == hearken.ReminderCreate && req.Reminder != nil:
		said, err = q.resolveReminder(a, req.Reminder)
	default:
		err = hearken.Errorf(hearken.Invalid, "There is no action %q.", req.Tool)
	}
	if err != nil {
		return nil, nil, err
	}
	a.Digest = digest(a)
	a.IdempotencyKey = a.Digest
	if req.IdempotencyKey != "" {
		a.IdempotencyKey = "client:" + req.IdempotencyKey
	}
	return a, said, nil
}

func (q *Queue) resolveCalendar(ctx context.Context, a *hearken.Action, in *CalendarArgs) ([]evidence.Arg, error) {
	if len(q.cfg.Calendars) == 0 {
		return nil, notConfigured("calendar")
	}
	for name, text := range map[string]string{"title": in.Title, "location": in.Location} {
		if err := checkLine(name, text, name == "title"); err != nil {
			return nil, err
		}
	}
	if err := checkLength("description", in.Description, maxText); err != nil {
		return nil, err
	}
	start, err := schedule.ParseTime(in.Start, q.cfg.Zone, a.CreatedAt)
	if err != nil {
		return nil, err
	}
	length, err := schedule.Length(in.Minutes)
	if err != nil {
		return nil, err
	}
	calendar := q.cfg.Calendars[0]
	a.Connector, a.Target = calendar.Name(), calendar.Name()
	a.Appointment = &hearken.Appointment{
		Title: in.Title, Start: start, Zone: q.cfg.Zone.String(), Duration: length,
		Description: in.Description, Location: in.Location,
	}
	if hint, ok := calendar.(conflictFinder); ok {
		a.Warnings = append(a.Warnings, conflictWarnings(ctx, hint, a.Appointment)...)
	}
	said := []evidence.Arg{
		{Name: "title", Value: in.Title}, {Name: "description", Value: in.Description}, {Name: "location", Value: in.Location},
	}
	return slices.DeleteFunc(said, func(arg evidence.Arg) bool { return strings.TrimSpace(arg.Value) == "" }), nil
}

func (q *Queue) resolveMessage(ctx context.Context, a *hearken.Action, in *MessageArgs) ([]evidence.Arg, error) {
	if strings.TrimSpace(in.Text) == "" {
		return nil, hearken.Errorf(hearken.Invalid, "text is required.")
	}
	if err := checkLength("text", in.Text, maxText); err != nil {
		return nil, err
	}
	var offered []string
	for _, m := range q.cfg.Messengers {
		offered = append(offered, m.Name())
	}
	to, err := q.book.Resolve(ctx, in.To, in.Platform, offered)
	if err != nil {
		return nil, err
	}
	a.Connector, a.Target = to.Platform, to.Platform+":"+strings.ToLower(to.Address)
	a.Message = &hearken.Message{
		To: in.To, Name: to.Name, Address: to.Address, Platform: to.Platform, Text: in.Text, Known: to.Known, Own: to.Own,
	}
	if c, ok := q.connector(a).(hearken.MessageChecker); ok {
		if err := c.Accepts(a.Message); err != nil { // before anybody is asked
			return nil, hearken.Errorf(hearken.Invalid, "%s", err.Error())
		}
	}
	a.Warnings = append(a.Warnings, to.Warnings...)
	sent, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{
		Tool: a.Tool, Target: a.Target, States: []hearken.ActionState{hearken.ActionDone}, Limit: 1,
	})
	if err != nil {
		return nil, err
	}
	if len(sent) == 0 {
		a.Warnings = append(a.Warnings, "This is the first message to this address.")
	}
	return []evidence.Arg{
		{Name: "to", Value: to.Address, Spoken: slices.Concat([]string{in.To}, to.Spoken), Kind: evidence.Address},
		{Name: "text", Value: in.Text},
	}, nil
}

func (q *Queue) resolveReminder(a *hearken.Action, in *ReminderArgs) ([]evidence.Arg, error) {
	if len(q.cfg.Reminders) == 0 {
		return nil, notConfigured("reminder")
	}
	if err := checkLine("note", in.Note, true); err != nil {
		return nil, err
	}
	at, err := schedule.ParseTime(in.Time, q.cfg.Zone, a.CreatedAt)
	if err != nil {
		return nil, err
	}
	rule, warning, err := schedule.ParseRepeat(in.Repeat, at, q.cfg.Zone)
	if err != nil {
		return nil, err
	}
	if first, ok := schedule.Next(rule, at, q.cfg.Zone, at.Add(-1)); ok {
		at = first // "every Monday", requested on a Friday
	}
	for _, text := range []string{warning, q.cfg.NoNotifier()} {
		if text != "" {
			a.Warnings = append(a.Warnings, text)
		}
	}
	a.Connector, a.Target = q.cfg.Reminders[0].Name(), q.cfg.Reminders[0].Name()
	a.Reminder = &hearken.Reminder{At: at, Zone: q.cfg.Zone.String(), Note: in.Note, Repeat: rule}
	return []evidence.Arg{{Name: "note", Value: in.Note}}, nil
}

// digest identifies what a decision is about.
func digest(a *hearken.Action) string {
	arguments, err := json.Marshal([]any{a.Tool, a.Connector, a.Target, a.Appointment, a.Message, a.Reminder})
	if err != nil {
		panic(fmt.Sprintf("digest: %v", err)) // plain structs always encode
	}
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}

func notConfigured(what string) error {
	return hearken.Errorf(hearken.ConnectorMissing, "This hub has no %s set up.", what).WithTry("hearken config")
}

// checkLine checks a text of one line.
func checkLine(name, text string, required bool) error {
	if required && strings.TrimSpace(text) == "" {
		return hearken.Errorf(hearken.Invalid, "%s is required.", name)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return hearken.Errorf(hearken.Invalid, "%s contains line breaks or control characters.", name)
	}
	return checkLength(name, text, maxLine)
}

func checkLength(name, text string, limit int) error {
	if !utf8.ValidString(text) {
		return hearken.Errorf(hearken.Invalid, "%s is not valid UTF-8.", name)
	}
	if n := utf8.RuneCountInString(text); n > limit {
		return hearken.Errorf(hearken.Invalid, "%s may have at most %d characters, not %d.", name, limit, n)
	}
	return nil
}

// shortLine makes a text from outside safe to show on one short line.
func shortLine(text string, limit int) string {
	return safetext.Clip(safetext.Marked(safetext.Line(text)), limit)
}
