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
	"github.com/hearken-dev/hearken/act/people"
	"github.com/hearken-dev/hearken/schedule"
)

// The longest texts, in characters.
const (
	maxLine = 500   // a title, a place, a note
	maxText = 20000 // a message, a description
)

// resolve makes an action of a request: names become addresses and times an
// instant in a zone, so that what a person is asked about is what will be
// done. It also returns what somebody should have said.
func (d *Queue) resolve(ctx context.Context, req Request) (*hearken.Action, []evidence.Arg, error) {
	now := d.cfg.Now().UTC()
	a := &hearken.Action{
		ID: hearken.NewActionID(req.Tool), Tool: req.Tool, Principal: req.Principal, Client: clean(req.Client, 80),
		State: hearken.ActionPending, CreatedAt: now, ExpiresAt: now.Add(d.cfg.Approval),
	}
	var said []evidence.Arg
	var err error
	switch {
	case req.Tool == hearken.CalendarCreate && req.Calendar != nil:
		said, err = d.resolveCalendar(ctx, a, req.Calendar)
	case req.Tool == hearken.MessageSend && req.Message != nil:
		said, err = d.resolveMessage(ctx, a, req.Message)
	case req.Tool == hearken.ReminderCreate && req.Reminder != nil:
		said, err = d.resolveReminder(a, req.Reminder)
	default:
		err = hearken.Errorf(hearken.Invalid, "There is no tool %q that acts.", req.Tool)
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

func (d *Queue) resolveCalendar(ctx context.Context, a *hearken.Action, in *CalendarArgs) ([]evidence.Arg, error) {
	if len(d.cfg.Calendars) == 0 {
		return nil, missing("calendar")
	}
	for name, text := range map[string]string{"title": in.Title, "location": in.Location} {
		if err := oneLine(name, text, name == "title"); err != nil {
			return nil, err
		}
	}
	if err := fits("description", in.Description, maxText); err != nil {
		return nil, err
	}
	start, err := schedule.ParseTime(in.Start, d.cfg.Zone, a.CreatedAt)
	if err != nil {
		return nil, err
	}
	length, err := schedule.Length(in.Minutes)
	if err != nil {
		return nil, err
	}
	calendar := d.cfg.Calendars[0]
	a.Connector, a.Target = calendar.Name(), calendar.Name()
	a.Appointment = &hearken.Appointment{
		Title: in.Title, Start: start, Zone: d.cfg.Zone.String(), Duration: length,
		Description: in.Description, Location: in.Location,
	}
	if hint, ok := calendar.(conflicts); ok {
		a.Warnings = append(a.Warnings, overlaps(ctx, hint, a.Appointment)...)
	}
	said := []evidence.Arg{{Name: "title", Value: in.Title}}
	if strings.TrimSpace(in.Description) != "" {
		said = append(said, evidence.Arg{Name: "description", Value: in.Description})
	}
	if strings.TrimSpace(in.Location) != "" {
		said = append(said, evidence.Arg{Name: "location", Value: in.Location})
	}
	return said, nil
}

func (d *Queue) resolveMessage(ctx context.Context, a *hearken.Action, in *MessageArgs) ([]evidence.Arg, error) {
	if strings.TrimSpace(in.Text) == "" {
		return nil, hearken.Errorf(hearken.Invalid, "text is required.")
	}
	if err := fits("text", in.Text, maxText); err != nil {
		return nil, err
	}
	var offered []string
	for _, m := range d.cfg.Messengers {
		offered = append(offered, m.Name())
	}
	to, err := d.book.Resolve(ctx, in.To, in.Platform, offered)
	if err != nil {
		return nil, err
	}
	a.Connector, a.Target = to.Platform, to.Platform+":"+strings.ToLower(to.Address)
	a.Message = &hearken.Message{
		To: in.To, Name: to.Name, Address: to.Address, Platform: to.Platform, Text: in.Text, Known: to.Known,
	}
	if c, ok := d.connector(a).(hearken.MessageChecker); ok {
		if err := c.Accepts(a.Message); err != nil { // before a person is asked
			return nil, hearken.Errorf(hearken.Invalid, "%s", err.Error())
		}
	}
	a.Warnings = append(a.Warnings, to.Warnings...)
	written, err := d.cfg.Store.Actions(ctx, hearken.ActionFilter{
		Tool: a.Tool, Target: a.Target, States: []hearken.ActionState{hearken.ActionDone}, Limit: 1,
	})
	if err != nil {
		return nil, err
	}
	if len(written) == 0 {
		a.Warnings = append(a.Warnings, "Nothing was sent to this address before.")
	}
	return []evidence.Arg{recipient(in.To, to), {Name: "text", Value: in.Text}}, nil
}

// recipient is what somebody should have said of a message's recipient: the
// name or the address.
func recipient(asked string, to people.Recipient) evidence.Arg {
	return evidence.Arg{Name: "to", Value: to.Address, Spoken: slices.Concat([]string{asked}, to.Spoken), Kind: evidence.Address}
}

func (d *Queue) resolveReminder(a *hearken.Action, in *ReminderArgs) ([]evidence.Arg, error) {
	if len(d.cfg.Reminders) == 0 {
		return nil, missing("reminder")
	}
	if err := oneLine("note", in.Note, true); err != nil {
		return nil, err
	}
	at, err := schedule.ParseTime(in.Time, d.cfg.Zone, a.CreatedAt)
	if err != nil {
		return nil, err
	}
	rule, warning, err := schedule.ParseRepeat(in.Repeat, at, d.cfg.Zone)
	if err != nil {
		return nil, err
	}
	if first, ok := schedule.Next(rule, at, d.cfg.Zone, at.Add(-1)); ok {
		at = first // "every Monday", asked for on a Friday
	}
	if warning != "" {
		a.Warnings = append(a.Warnings, warning)
	}
	if d.cfg.NoNotifier != nil {
		if why := d.cfg.NoNotifier(); why != "" {
			a.Warnings = append(a.Warnings, why)
		}
	}
	a.Connector, a.Target = d.cfg.Reminders[0].Name(), d.cfg.Reminders[0].Name()
	a.Reminder = &hearken.Reminder{At: at, Zone: d.cfg.Zone.String(), Note: in.Note, Repeat: rule}
	return []evidence.Arg{{Name: "note", Value: in.Note}}, nil
}

// digest is what a person's decision is about.
func digest(a *hearken.Action) string {
	arguments, err := json.Marshal([]any{a.Tool, a.Connector, a.Target, a.Appointment, a.Message, a.Reminder})
	if err != nil {
		panic(fmt.Sprintf("digest: %v", err)) // plain structs always encode
	}
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}

func missing(what string) error {
	return hearken.Errorf(hearken.ConnectorMissing, "This hub has no %s.", what).WithTry("hearken config")
}

// oneLine checks a text that stands on one line.
func oneLine(name, text string, required bool) error {
	if required && strings.TrimSpace(text) == "" {
		return hearken.Errorf(hearken.Invalid, "%s is required.", name)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return hearken.Errorf(hearken.Invalid, "%s has line breaks or control characters.", name)
	}
	return fits(name, text, maxLine)
}

func fits(name, text string, most int) error {
	if !utf8.ValidString(text) {
		return hearken.Errorf(hearken.Invalid, "%s is not valid UTF-8.", name)
	}
	if n := utf8.RuneCountInString(text); n > most {
		return hearken.Errorf(hearken.Invalid, "%s has at most %d characters, not %d.", name, most, n)
	}
	return nil
}

// clean makes a name from outside fit to be shown.
func clean(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return name
}
