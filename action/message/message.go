// Package message brings a person's words to other people: by email, by SMS,
// to ntfy, and to a webhook.
//
// The four connectors know only what they were configured with: where a
// message goes, apart from its address, is never an argument of a tool. What
// they tell of a failure is told in their own words, with the other side's
// numbers at most: a server's text reaches people and agents, and could be
// written for them. Nothing here logs, and no error holds a password, a token
// or the path of a webhook.
//
// How an attempt ended is decided by what was certain at that moment. A
// refusal before the other side had the message is temporary or permanent; no
// answer after it may have had it is unknown, and whoever reads that decides.
package message

import (
	"context"
	"fmt"
	"regexp"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// The names of the connectors, which are the platforms of messages.
const (
	PlatformEmail   = "email"
	PlatformSMS     = "sms"
	PlatformNtfy    = "ntfy"
	PlatformWebhook = "webhook"
)

// idForm is what may stand in a Message-ID and in a header.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// accepter is what all connectors have in common before they act.
type accepter interface {
	Accepts(m *hearken.Message) error
}

// open takes the message out of an action, or says why it cannot be sent.
func open(ctx context.Context, c accepter, a *hearken.Action) (*hearken.Message, *hearken.Outcome) {
	if err := ctx.Err(); err != nil {
		return nil, temporary("Nothing was sent: the attempt was stopped before it began")
	}
	if a.Message == nil {
		return nil, permanent("The action is not a message")
	}
	if !idForm.MatchString(a.ID) {
		return nil, permanent("The action's id cannot be used in a message")
	}
	if err := c.Accepts(a.Message); err != nil {
		return nil, permanent("%s", err.Error())
	}
	return a.Message, nil
}

// checkText refuses what would not arrive as it was approved.
func checkText(text string, most int, size func(string) int, unit string) error {
	if text == "" {
		return hearken.Errorf(hearken.Invalid, "The text is empty")
	}
	if !utf8.ValidString(text) {
		return hearken.Errorf(hearken.Invalid, "The text is not valid UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return hearken.Errorf(hearken.Invalid, "The text holds the control character U+%04X", r)
		}
	}
	if n := size(text); n > most {
		return hearken.Errorf(hearken.Invalid, "The text has %d %s; at most %d can be sent", n, unit, most)
	}
	return nil
}

func sizeBytes(s string) int { return len(s) }

// sizeUTF16 counts as telephone networks do.
func sizeUTF16(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func ok(receipt string) hearken.Outcome {
	return hearken.Outcome{Result: hearken.ResultOK, Receipt: receipt}
}

func temporary(format string, args ...any) *hearken.Outcome {
	return &hearken.Outcome{Result: hearken.ResultTemporary, Message: fmt.Sprintf(format, args...)}
}

func permanent(format string, args ...any) *hearken.Outcome {
	return &hearken.Outcome{Result: hearken.ResultPermanent, Message: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) *hearken.Outcome {
	return &hearken.Outcome{Result: hearken.ResultUnknown, Message: fmt.Sprintf(format, args...)}
}

// after adds the time that the other side asked to be left alone.
func after(o *hearken.Outcome, d time.Duration) *hearken.Outcome {
	o.After = d
	return o
}
