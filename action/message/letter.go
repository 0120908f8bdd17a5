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

// maxSubject is what mail programs show of a subject.
const maxSubject = 60

// letter writes the mail, and returns it with its Message-ID. The id is made
// of the action's, so that whoever asks for it at the server or in a mailbox
// finds out what an unknown outcome was.
func (e *Email) letter(id string, m *hearken.Message) ([]byte, string, error) {
	_, domain, _ := strings.Cut(e.from.Address, "@")
	messageID := id + "@" + domain
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(e.from)
	if err := msg.To(m.Address); err != nil {
		return nil, "", fmt.Errorf("address mail: %w", err)
	}
	msg.Subject(subject(m.Text, cmp.Or(e.from.Name, e.from.Address)))
	msg.SetMessageIDWithValue(messageID)
	msg.SetDateWithValue(e.now())
	msg.SetBodyString(gomail.TypeTextPlain, lines(m.Text))
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, "", fmt.Errorf("write mail: %w", err)
	}
	return b.Bytes(), "<" + messageID + ">", nil
}

// lines ends every line in the one way.
func lines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// subject is the first words of the text, or whose message it is if it begins
// with none.
func subject(text, from string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(lines(text)), "\n")
	first = safetext.Line(first)
	if strings.IndexFunc(first, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0 {
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
