package message

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	gomail "github.com/wneessen/go-mail"
)

// maxSubject is about what mail programs show of a subject.
const maxSubject = 60

// compose writes the email and returns it with its Message-ID. That is made of
// the action's id, so that a search on the server or in a mailbox shows whether
// an email of unknown outcome was sent.
func (e *Email) compose(id string, m *hearken.Message) (mail []byte, messageID string, err error) {
	_, domain, _ := strings.Cut(e.from.Address, "@")
	messageID = id + "@" + domain
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(e.from)
	if err := msg.To(m.Address); err != nil {
		return nil, "", fmt.Errorf("address mail: %w", err)
	}
	msg.Subject(subject(m.Text, cmp.Or(e.from.Name, e.from.Address)))
	msg.SetMessageIDWithValue(messageID)
	msg.SetDateWithValue(e.now())
	msg.SetBodyString(gomail.TypeTextPlain, normalizeNewlines(m.Text))
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, "", fmt.Errorf("write mail: %w", err)
	}
	return b.Bytes(), "<" + messageID + ">", nil
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func normalizeNewlines(text string) string { return newlines.Replace(text) }

// subject is the beginning of the text's first line. Without a letter or digit
// in it, the subject says who wrote.
func subject(text, from string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(normalizeNewlines(text)), "\n")
	first = safetext.Line(first)
	if !strings.ContainsFunc(first, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return "Message from " + from
	}
	if utf8.RuneCountInString(first) <= maxSubject {
		return first
	}
	cut := string([]rune(first)[:maxSubject])
	// Japanese and Chinese have no spaces to cut at.
	if i := strings.LastIndexByte(cut, ' '); i > maxSubject/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:-") + "…"
}

// isVisible reports whether s has nothing that ends a line or hides.
func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return safetext.ClassOf(r) != safetext.Visible })
}
