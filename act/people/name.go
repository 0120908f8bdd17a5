package people

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/editdistance"
	"golang.org/x/text/unicode/norm"
)

const (
	maxNear    = 3  // similar names that an error suggests
	maxMatches = 5  // people that an error about an ambiguous name lists
	maxCompare = 64 // letters of a name that are compared
)

// meWords are how people speak of themselves.
var meWords = []string{"me", "myself", "私", "自分", "わたし"}

// honorifics follow a Japanese name without being part of it.
var honorifics = []string{"さん", "さま", "様", "くん", "君", "ちゃん", "先生"}

func isMe(to string) bool { return slices.Contains(meWords, fold(to)) }

// owner returns the owner's contact, nil if there is none.
func (l *lookup) owner() *hearken.Contact {
	if i := slices.IndexFunc(l.all, func(c hearken.Contact) bool { return c.Me }); i >= 0 {
		return &l.all[i]
	}
	return nil
}

// byName finds the one contact with a name: by full name or alias, else by a
// first name that only one contact has. It also returns warnings.
func (l *lookup) byName(to string) (*hearken.Contact, []string, error) {
	if isMe(to) {
		if c := l.owner(); c != nil {
			return c, nil, nil
		}
		return nil, nil, hearken.Errorf(hearken.UnknownRecipient, "The contact book does not say who the owner is.").
			WithTry(`hearken contacts import --me "YOUR NAME" FILE.vcf`)
	}
	book := foldAll(l.all)
	for _, name := range spellings(to) {
		if found := matchingContacts(book, func(e foldedContact) bool { return slices.Contains(e.names, name) }); len(found) > 0 {
			c, err := l.singleMatch(found)
			return c, nil, err
		}
	}
	for _, name := range spellings(to) {
		if found := matchingContacts(book, func(e foldedContact) bool { return e.first == name }); len(found) > 0 {
			c, err := l.singleMatch(found)
			if err != nil {
				return nil, nil, err
			}
			return c, []string{fmt.Sprintf("Only a first name was given: %s is the one contact that has it.", c.Name)}, nil
		}
	}
	if namesSeveral(to) {
		return nil, nil, hearken.Errorf(hearken.InvalidRecipient, "A message goes to one recipient.").WithTry("one call for each")
	}
	return nil, nil, unknownName(book, to)
}

// spellings returns the folded name, also without an honorific.
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

// namesSeveral reports whether more than one person seems to be named.
func namesSeveral(to string) bool {
	words := strings.Fields(strings.ToLower(to))
	return strings.ContainsAny(to, ",;&、，；＆") ||
		slices.ContainsFunc([]string{"and", "und", "et", "y"}, func(and string) bool { return slices.Contains(words, and) })
}

// A foldedContact is a contact with its names folded.
type foldedContact struct {
	*hearken.Contact
	names []string // the whole name, then the aliases
	first string   // the first word of the name
}

func foldAll(all []hearken.Contact) []foldedContact {
	out := make([]foldedContact, len(all))
	for i := range all {
		e := foldedContact{Contact: &all[i], names: []string{fold(all[i].Name)}}
		e.first, _, _ = strings.Cut(e.names[0], " ")
		for _, a := range all[i].Aliases {
			e.names = append(e.names, fold(a))
		}
		out[i] = e
	}
	return out
}

// matchingContacts returns the contacts for which is returns true.
func matchingContacts(book []foldedContact, is func(foldedContact) bool) []*hearken.Contact {
	var out []*hearken.Contact
	for _, e := range book {
		if is(e) {
			out = append(out, e.Contact)
		}
	}
	return out
}

// singleMatch returns the one contact that was found. If there are several, it
// chooses none.
func (l *lookup) singleMatch(found []*hearken.Contact) (*hearken.Contact, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	var who []string
	for _, c := range found[:min(len(found), maxMatches)] {
		who = append(who, l.masked(c))
	}
	if more := len(found) - len(who); more > 0 {
		who = append(who, fmt.Sprintf("and %d more", more))
	}
	return nil, hearken.Errorf(hearken.AmbiguousRecipient, "%d contacts match: %s.", len(found), strings.Join(who, ", ")).
		WithTry("ask which one is meant, then use the full name or the address")
}

// masked describes a contact so that the owner recognizes it, without
// revealing an address.
func (l *lookup) masked(c *hearken.Contact) string {
	kinds := []string{email, sms}
	if c.Prefer == sms || l.platform == sms {
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

// unknownName is the error for a name that nobody has. It suggests similar
// ones.
func unknownName(book []foldedContact, to string) error {
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	want := fold(to)
	limit := max(1, len([]rune(want))/3)
	for _, e := range book {
		d := distance(want, e.first, limit)
		for _, name := range e.names {
			d = min(d, distance(want, name, limit))
		}
		if d <= limit {
			all = append(all, candidate{e.Name, d})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.distance - b.distance })
	var near []string
	for _, c := range all {
		if len(near) < maxNear && !slices.Contains(near, c.name) {
			near = append(near, c.name)
		}
	}
	if len(near) == 0 {
		return hearken.Errorf(hearken.UnknownRecipient, "No contact has that name.").
			WithTry("an address, or hearken contacts import FILE.vcf")
	}
	return hearken.Errorf(hearken.UnknownRecipient, "No contact has that name. Similar names: %s.", strings.Join(near, ", ")).
		WithTry("ask who is meant, then use the full name")
}

// spokenNames returns what somebody may say to refer to a contact.
func spokenNames(c hearken.Contact) []string {
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

// plainLetters replaces letters that Unicode does not decompose, as people type
// them, and what stands between words.
var plainLetters = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"'", "", "’", "", "ʼ", "", ".", "", "-", " ", "‐", " ", "‑", " ", "・", " ",
)

// accentedScripts are the scripts whose accents people leave out. In others a
// mark makes another letter: か is not が.
var accentedScripts = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic}

// fold makes names comparable: it removes case, accents, width variants of
// letters, and punctuation between words.
func fold(name string) string {
	if isASCII(name) {
		return joinWords(strings.ToLower(name))
	}
	var b strings.Builder
	strip := false
	for _, r := range norm.NFKD.String(name) {
		if unicode.Is(unicode.Mn, r) {
			if strip {
				continue
			}
		} else {
			strip = unicode.In(r, accentedScripts...)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return joinWords(norm.NFC.String(b.String()))
}

// joinWords applies plainLetters and puts one space between words.
func joinWords(s string) string { return strings.Join(strings.Fields(plainLetters.Replace(s)), " ") }

// distance counts the letters that differ, are missing, extra or swapped. It
// returns more than limit as soon as the count exceeds it.
func distance(a, b string, limit int) int {
	return editdistance.Damerau(truncate([]rune(a)), truncate([]rune(b)), limit)
}

func truncate(r []rune) []rune { return r[:min(len(r), maxCompare)] }
