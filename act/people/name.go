package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

const (
	maxNear    = 3  // names that an error suggests
	maxMatches = 5  // people that an ambiguous name lists
	maxCompare = 64 // letters of a name that are compared
)

// meWords are how people speak of themselves.
var meWords = []string{"me", "myself", "私", "自分", "わたし"}

// honorifics follow a Japanese name without being part of it.
var honorifics = []string{"さん", "さま", "様", "くん", "君", "ちゃん", "先生"}

func isMe(to string) bool { return slices.Contains(meWords, fold(to)) }

// owner is the contact that is the owner, nil if there is none.
func (s *search) owner() *hearken.Contact {
	for i := range s.all {
		if s.all[i].Me {
			return &s.all[i]
		}
	}
	return nil
}

// named finds the one contact of a name: by the whole name or an alias, else
// by a first name that only one has.
func (s *search) named(to string) (*hearken.Contact, []string, error) {
	if isMe(to) {
		if c := s.owner(); c != nil {
			return c, nil, nil
		}
		return nil, nil, hearken.Errorf(hearken.UnknownRecipient, "The contact book does not say who you are.").
			WithTry(`hearken contacts import --me "YOUR NAME" FILE.vcf`)
	}
	book := foldAll(s.all)
	for _, name := range spellings(to) {
		if found := matching(book, func(e entry) bool { return slices.Contains(e.names, name) }); len(found) > 0 {
			c, err := s.only(found)
			return c, nil, err
		}
	}
	for _, name := range spellings(to) {
		if found := matching(book, func(e entry) bool { return e.first == name }); len(found) > 0 {
			c, err := s.only(found)
			if err != nil {
				return nil, nil, err
			}
			return c, []string{fmt.Sprintf("Only a first name was given: %s is the one contact that has it.", c.Name)}, nil
		}
	}
	if several(to) {
		return nil, nil, hearken.Errorf(hearken.InvalidRecipient, "A message goes to one recipient.").WithTry("one call for each")
	}
	return nil, nil, unknown(book, to)
}

// spellings are the folded name, and the name without an honorific.
func spellings(to string) []string {
	name := fold(to)
	out := []string{name}
	for _, h := range honorifics {
		if bare, ok := strings.CutSuffix(name, h); ok && bare != "" {
			out = append(out, strings.TrimSpace(bare))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// several reports whether more than one person seems to be named.
func several(to string) bool {
	if strings.ContainsAny(to, ",;&、，；＆") {
		return true
	}
	for _, and := range []string{" and ", " und ", " et ", " y "} {
		if strings.Contains(" "+strings.ToLower(to)+" ", and) {
			return true
		}
	}
	return false
}

// An entry is a contact with its names folded.
type entry struct {
	*hearken.Contact
	names []string // the whole name, then the aliases
	first string   // the first word of the name
}

func foldAll(all []hearken.Contact) []entry {
	out := make([]entry, len(all))
	for i := range all {
		e := entry{Contact: &all[i], names: []string{fold(all[i].Name)}}
		e.first, _, _ = strings.Cut(e.names[0], " ")
		for _, a := range all[i].Aliases {
			e.names = append(e.names, fold(a))
		}
		out[i] = e
	}
	return out
}

// matching are those contacts of which a thing is true.
func matching(book []entry, is func(entry) bool) []*hearken.Contact {
	var out []*hearken.Contact
	for _, e := range book {
		if is(e) {
			out = append(out, e.Contact)
		}
	}
	return out
}

// only is the one that was found. Of several none is taken.
func (s *search) only(found []*hearken.Contact) (*hearken.Contact, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	var who []string
	for _, c := range found[:min(len(found), maxMatches)] {
		who = append(who, s.masked(c))
	}
	if more := len(found) - len(who); more > 0 {
		who = append(who, fmt.Sprintf("and %d more", more))
	}
	return nil, hearken.Errorf(hearken.AmbiguousRecipient, "%d matches: %s.", len(found), strings.Join(who, ", ")).
		WithTry("ask which one is meant, then the full name or the address")
}

// masked names a contact so that its owner knows who it is, and nobody learns
// an address.
func (s *search) masked(c *hearken.Contact) string {
	kinds := []string{email, sms}
	if c.Prefer == sms || s.platform == sms {
		kinds = []string{sms, email}
	}
	for _, kind := range kinds {
		if known := addresses(*c, kind); len(known) > 0 {
			return fmt.Sprintf("%s (%s %s)", c.Name, kind, mask(known[0]))
		}
	}
	return c.Name
}

// mask hides most of an address.
func mask(address string) string {
	if local, domain, ok := strings.Cut(address, "@"); ok {
		for _, first := range local {
			return string(first) + "***@" + domain
		}
	}
	if n := len(address); n > 4 {
		return "…" + address[n-2:]
	}
	return "…"
}

// unknown says that nobody has the name, and who has one like it.
func unknown(book []entry, to string) error {
	type candidate struct {
		name string
		far  int
	}
	var all []candidate
	want := fold(to)
	most := max(1, len([]rune(want))/3)
	for _, e := range book {
		far := distance(want, e.first, most)
		for _, name := range e.names {
			far = min(far, distance(want, name, most))
		}
		if far <= most {
			all = append(all, candidate{e.Name, far})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.far - b.far })
	var near []string
	for _, c := range all {
		if len(near) < maxNear && !slices.Contains(near, c.name) {
			near = append(near, c.name)
		}
	}
	if len(near) == 0 {
		return hearken.Errorf(hearken.UnknownRecipient, "Nobody of that name is in the contact book.").
			WithTry("an address, or hearken contacts import FILE.vcf")
	}
	return hearken.Errorf(hearken.UnknownRecipient, "Nobody of that name is in the contact book; near are %s.", strings.Join(near, ", ")).
		WithTry("ask who is meant, then the full name")
}

// Spoken are the ways in which somebody may have said who a contact is.
func Spoken(c hearken.Contact) []string {
	out := []string{c.Name}
	if first, rest, ok := strings.Cut(c.Name, " "); ok && first != "" && rest != "" {
		out = append(out, first)
	}
	out = slices.Concat(out, c.Aliases, c.Emails, c.Phones)
	if c.Me {
		out = append(out, meWords...)
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(out, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}
