// Package message sends messages to other people: by email, by SMS, to ntfy and
// to a webhook.
//
// The server that a connector talks to comes from the settings, never from the
// arguments of a tool. A failure is described in our own words, with the
// server's numbers at most: a server's text could be written to mislead the
// people and agents who read it. Nothing here logs, and no error holds a
// password, a token or the path of a webhook.
//
// The outcome says only what is certain. A refusal before the server had the
// message is temporary or permanent. If the connection was lost after the
// server may have had it, the outcome is unknown, and nothing sends it again.
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

// idForm is what an action's id may be, to be used in a Message-ID or a header.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// messageOf returns an action's message, or why it cannot be sent.
func messageOf(ctx context.Context, c hearken.MessageChecker, a *hearken.Action) (*hearken.Message, *hearken.Outcome) {
	if err := ctx.Err(); err != nil {
		return nil, temporary("Nothing was sent: the attempt was canceled before it began")
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

// checkText refuses a text that would not arrive as it was approved. Its size
// is in the unit in which the service counts.
func checkText(text string, size, limit int, unit string) error {
	if text == "" {
		return hearken.Errorf(hearken.Invalid, "The text is empty")
	}
	if !utf8.ValidString(text) {
		return hearken.Errorf(hearken.Invalid, "The text is not valid UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return hearken.Errorf(hearken.Invalid, "The text contains the control character U+%04X", r)
		}
	}
	if size > limit {
		return hearken.Errorf(hearken.Invalid, "The text has %d %s; at most %d can be sent", size, unit, limit)
	}
	return nil
}

// sizeUTF16 counts as phone networks do.
func sizeUTF16(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func success(receipt string) hearken.Outcome {
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

// retryAfter adds how long the other side asked to wait.
func retryAfter(o *hearken.Outcome, d time.Duration) *hearken.Outcome {
	o.After = d
	return o
}
