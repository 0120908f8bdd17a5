package act

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
)

const (
	similarWindow = 7 * 24 * time.Hour
	maxSimilar    = 2   // warnings about similar messages
	maxEarlier    = 500 // earlier messages that are compared
	maxByLetter   = 400 // letters of texts that are compared letter by letter
)

// similarStates are the states of messages that the recipient has or may get.
var similarStates = []hearken.ActionState{
	hearken.ActionPending, hearken.ActionApproved, hearken.ActionExecuting, hearken.ActionUnknown, hearken.ActionDone,
}

// similarMessages warns if the same person, at any address, already has a
// message with much the same text. The newest come first.
//
// The warnings do not quote the earlier text: they would outlive it, and the
// earlier message may be another key's.
func (q *Queue) similarMessages(ctx context.Context, a *hearken.Action) ([]string, error) {
	addresses, err := q.book.AddressesOf(ctx, a.Message.Platform, a.Message.Address)
	if err != nil {
		return nil, err
	}
	earlier, err := q.cfg.Store.Actions(ctx, hearken.ActionFilter{
		Tool: hearken.MessageSend, States: similarStates, Since: a.CreatedAt.Add(-similarWindow), Limit: maxEarlier,
	})
	if err != nil {
		return nil, err
	}
	text := readWording(a.Message.Text)
	var out []string
	for i := range earlier {
		old := &earlier[i]
		if old.ID == a.ID || old.Message == nil || len(out) == maxSimilar {
			continue
		}
		samePerson := slices.ContainsFunc(addresses, func(known string) bool { return strings.EqualFold(known, old.Message.Address) })
		if samePerson && text.like(readWording(old.Message.Text)) {
			out = append(out, q.similarWarning(a, old))
		}
	}
	return out, nil
}

// similarWarning says what became of an earlier message.
func (q *Queue) similarWarning(a, old *hearken.Action) string {
	text := "much the same text"
	if strings.TrimSpace(old.Message.Text) == strings.TrimSpace(a.Message.Text) {
		text = "the same text"
	}
	begin, who := strings.ToUpper(text[:1])+text[1:], cmp.Or(old.Message.Name, "this address")
	if old.Message.Own {
		who = "yourself"
	}
	if !strings.EqualFold(old.Message.Address, a.Message.Address) {
		begin += " to " + old.Message.Address
		who += " (" + old.Message.Address + ")"
	}
	switch old.State {
	case hearken.ActionPending:
		return fmt.Sprintf("%s already waits for your approval (%s).", begin, old.ID)
	case hearken.ActionApproved, hearken.ActionExecuting:
		return fmt.Sprintf("%s is already approved and about to be sent (%s).", begin, old.ID)
	}
	at := old.CreatedAt
	if old.EndedAt != nil {
		at = *old.EndedAt
	}
	when := dayText(at.In(q.cfg.Zone), a.CreatedAt.In(q.cfg.Zone))
	if old.State == hearken.ActionUnknown {
		return fmt.Sprintf("%s may have been sent %s, which nobody knows for sure (%s).", begin, when, old.ID)
	}
	return fmt.Sprintf("You sent %s %s %s (%s).", who, text, when, old.ID)
}

// dayText says when something was within the last week.
func dayText(at, now time.Time) string {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC) }
	day := "on " + at.Format("Monday")
	switch days := int(date(now).Sub(date(at)).Hours() / 24); {
	case days <= 0:
		day = "today"
	case days == 1:
		day = "yesterday"
	case days >= 7:
		day = "on " + at.Format("2 January")
	}
	return day + at.Format(" at 15:04")
}

// A wording is a text without what makes no difference to a reader: case,
// punctuation, spaces, and variants of letters.
type wording struct {
	words   []string // sorted
	letters []rune   // the words in their order
	raw     string
}

// spaceless are scripts that put no space between words. There each letter
// counts as a word.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

func readWording(text string) wording {
	w := wording{raw: strings.TrimSpace(text)}
	var word []rune
	end := func() {
		if len(word) > 0 {
			w.words = append(w.words, string(word))
			w.letters = append(w.letters, word...)
			word = nil
		}
	}
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.In(r, spaceless...):
			end()
			word = append(word, r)
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			if len(word) > 0 && unicode.In(word[0], spaceless...) && !unicode.IsMark(r) {
				end()
			}
			word = append(word, r)
		case r == '\'', r == '’', unicode.Is(unicode.Cf, r): // part of the word
		default:
			end()
		}
	}
	end()
	slices.Sort(w.words)
	return w
}

// like reports whether two texts are much the same: at most one word in five
// differs, in any order, or one letter in eight. A short text may differ in one
// word or letter, and what is shorter still has to be the same. So "at 3" is
// like "at 4": which of them is right is for the owner to see.
func (w wording) like(other wording) bool {
	if len(w.words) == 0 || len(other.words) == 0 {
		return w.raw == other.raw // an emoji, say
	}
	if slices.Equal(w.letters, other.letters) {
		return true
	}
	letters, words := max(len(w.letters), len(other.letters)), max(len(w.words), len(other.words))
	if letters < 6 {
		return false
	}
	if words >= 3 && words-shared(w.words, other.words) <= max(1, words/5) {
		return true
	}
	limit := max(1, letters/8)
	return letters <= maxByLetter && editdistance.Damerau(w.letters, other.letters, limit) <= limit
}

// shared counts the words that two sorted lists have in common.
func shared(a, b []string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			a, b, n = a[1:], b[1:], n+1
		}
	}
	return n
}
