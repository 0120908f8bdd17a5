package people

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

const (
	maxNamesakes = 3 // contacts that a warning names beside the chosen one
	// nearLetters is how long one of two names must be for a difference of one
	// letter to make them similar. Of shorter names, half a contact book is
	// similar: Tom, Tim, Jim and Jan.
	nearLetters = 5
)

// titles stand in front of a given name without being part of it.
var titles = []string{"dr", "prof", "mr", "mrs", "ms", "miss", "sir", "herr", "frau", "ing", "mgr"}

// A callName is a name that people call a contact by.
type callName struct {
	text, folded string
	sound        string // the same for names that sound the same
}

// callNames returns what people call a contact: the given name, the aliases
// and the whole name.
func callNames(c *hearken.Contact) []callName {
	words := strings.FieldsFunc(c.Name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("-‐‑・", r) })
	for len(words) > 1 && slices.Contains(titles, fold(words[0])) {
		words = words[1:]
	}
	all := slices.Concat(words[:min(len(words), 1)], c.Aliases, []string{c.Name})
	out := make([]callName, 0, len(all))
	for _, name := range all {
		if folded := fold(name); folded != "" {
			out = append(out, callName{name, folded, soundOf(folded)})
		}
	}
	return out
}

// namesakes warns of contacts that share a name with the chosen one, or have a
// similar one: whoever spoke may have meant them.
func (l *lookup) namesakes(chosen *hearken.Contact, r Recipient) []string {
	mine := callNames(chosen)
	var called, same, similar []string
	for i := range l.all {
		other := &l.all[i]
		if other == chosen || l.book.hasAddress(other, r.Platform, r.Address) {
			continue
		}
		theirs := callNames(other)
		if name := sharedName(mine, theirs); name != "" {
			same = append(same, withAddress(other, r.Platform))
			if !slices.Contains(called, name) {
				called = append(called, name)
			}
		} else if similarNames(mine, theirs) {
			similar = append(similar, withAddress(other, r.Platform))
		}
	}
	var out []string
	if n := len(same); n > 0 {
		count, and := fmt.Sprint(n+1), ""
		if n == 1 {
			count, and = "two", "and "
		}
		out = append(out, fmt.Sprintf("You have %s contacts called %s: %s <%s>, which was chosen, %s%s.",
			count, strings.Join(called, " or "), chosen.Name, r.Address, and, listSome(same, maxNamesakes)))
	}
	switch room := maxNamesakes - len(same); {
	case len(similar) == 0 || room <= 0:
	case len(similar) == 1:
		out = append(out, fmt.Sprintf("You also have a contact with a similar name: %s.", similar[0]))
	default:
		out = append(out, fmt.Sprintf("You also have contacts with similar names: %s.", listSome(similar, room)))
	}
	return out
}

// sharedAddress warns if others have the address of the chosen contact.
func (l *lookup) sharedAddress(chosen *hearken.Contact, r Recipient) []string {
	var others []string
	for i := range l.all {
		c := &l.all[i]
		if c != chosen && fold(c.Name) != fold(chosen.Name) && l.book.hasAddress(c, r.Platform, r.Address) {
			others = append(others, c.Name)
		}
	}
	switch len(others) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("Your contact %s has the same address.", others[0])}
	}
	return []string{fmt.Sprintf("Your contacts %s have the same address.", listSome(others, maxNamesakes))}
}

// sharedName returns the first of a contact's names that another has too, as
// the contact book writes it; empty if there is none.
func sharedName(mine, theirs []callName) string {
	for _, a := range mine {
		if slices.ContainsFunc(theirs, func(b callName) bool { return a.folded == b.folded }) {
			return a.text
		}
	}
	return ""
}

// similarNames reports whether two contacts can be mistaken for each other: a
// name of theirs sounds the same or differs in one letter.
func similarNames(mine, theirs []callName) bool {
	for _, a := range mine {
		for _, b := range theirs {
			if a.sound == b.sound || isNear(a.folded, b.folded) {
				return true
			}
		}
	}
	return false
}

func isNear(a, b string) bool {
	return max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= nearLetters && distance(a, b, 1) <= 1
}

// sounds are letters that sound alike in the languages where names are spelled
// in several ways: Marc and Mark, Stefan and Stephan.
var sounds = strings.NewReplacer("sch", "s", "ph", "f", "ck", "k", "th", "t", "dt", "t", "c", "k", "q", "k", "x", "ks", "y", "i", "w", "v", "z", "s")

// soundOf returns a folded name as it sounds, roughly: without doubled letters,
// an h that nobody hears, and a final e.
func soundOf(folded string) string {
	words := strings.Fields(sounds.Replace(folded))
	for i, word := range words {
		var out []rune
		for j, r := range []rune(word) {
			if j > 0 && (r == 'h' || r == out[len(out)-1]) {
				continue
			}
			out = append(out, r)
		}
		if len(out) > 2 && out[len(out)-1] == 'e' {
			out = out[:len(out)-1]
		}
		words[i] = string(out)
	}
	return strings.Join(words, " ")
}

// withAddress returns a contact's name and an address, if possible one of the
// platform in question.
func withAddress(c *hearken.Contact, platform string) string {
	for _, kind := range []string{platform, email, sms} {
		if known := addresses(*c, kind); len(known) > 0 {
			return c.Name + " <" + known[0] + ">"
		}
	}
	return c.Name
}

// listSome writes a list as people do and counts what is beyond limit: a, b and
// 2 more.
func listSome(list []string, limit int) string {
	shown := slices.Clone(list[:min(len(list), limit)])
	if more := len(list) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	last := len(shown) - 1
	if last == 0 {
		return shown[0]
	}
	return strings.Join(shown[:last], ", ") + " and " + shown[last]
}
