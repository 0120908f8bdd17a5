package people

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
)

const (
	maxContacts = 20_000
	maxEach     = 20  // emails, phones and aliases kept of one contact
	maxWritten  = 200 // of these that are read
	maxName     = 200 // bytes of a name or an alias
	maxNotes    = 50
)

// ParseVCards reads contacts as phones and mail programs export them: vCard
// 2.1, 3.0 and 4.0. Numbers without a country code get callingCode, such as 49;
// if that is empty, they are left out. The notes tell the person who imports
// what was left out and why.
func ParseVCards(r io.Reader, callingCode string) ([]hearken.Contact, []string, error) {
	p := &parser{lines: newLineReader(r), callingCode: callingCode, seen: map[string]bool{}}
	return p.parse()
}

func (p *parser) parse() ([]hearken.Contact, []string, error) {
	for {
		more, err := p.next()
		switch {
		case err != nil:
			return nil, nil, err
		case !more && p.cards == 0:
			return nil, nil, hearken.Errorf(hearken.Invalid, "The file contains no vCard.")
		case !more:
			if p.omitted > 0 {
				p.notes = append(p.notes, fmt.Sprintf("%d more notes are not shown.", p.omitted))
			}
			return p.contacts, p.notes, nil
		case len(p.contacts) > maxContacts:
			return nil, nil, hearken.Errorf(hearken.Invalid, "The file contains more than %d contacts.", maxContacts)
		}
	}
}

// A parser reads the cards of a file.
type parser struct {
	lines       *lineReader
	callingCode string

	cards     int
	nextBegin int // the line of a card that began inside another; 0 if none
	contacts  []hearken.Contact
	seen      map[string]bool // ids
	notes     []string
	omitted   int // notes beyond maxNotes
}

// A card holds the properties of a vCard that matter here.
type card struct {
	fn, org, uid              string
	given, middle, family     string
	reading                   string // the whole name's pronunciation
	readingGiven, readingLast string
	nicknames                 []string
	emails, phones            []rankedAddress
	begin                     int  // the line it begins at
	group                     bool // not a person
	v21                       bool // version 2.1 escapes only ;
}

// A rankedAddress is an address or a number with its preference: 1 is the
// highest.
type rankedAddress struct {
	value string
	pref  int
}

// next reads the next card and reports whether there was one.
func (p *parser) next() (bool, error) {
	c := card{begin: p.nextBegin}
	p.nextBegin = 0
	for c.begin == 0 {
		l, err := p.lines.next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if l.is("BEGIN", "VCARD") {
			c.begin = l.at
		}
	}
	p.cards++
	if err := p.readCard(&c); err != nil {
		return false, err
	}
	p.add(&c)
	return true, nil
}

// readCard reads a card up to its end, or to where another one begins.
func (p *parser) readCard(c *card) error {
	before := ""
	for depth := 1; depth > 0; {
		l, err := p.lines.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		begins := l.is("BEGIN", "VCARD")
		switch {
		case errors.Is(err, io.EOF), begins && before != "AGENT":
			p.note(c.begin, "the card has no end")
			p.nextBegin = l.at
			return nil
		case begins: // a card within a card, as version 2.1 has it
			depth++
		case l.is("END", "VCARD"):
			depth--
		case depth == 1:
			c.addLine(l)
		}
		before = l.name
	}
	return nil
}

// addLine adds a property to the card.
func (c *card) addLine(l vcardLine) {
	if len(c.emails)+len(c.phones)+len(c.nicknames) > maxWritten {
		return
	}
	switch l.name {
	case "VERSION":
		c.v21 = strings.TrimSpace(l.text()) == "2.1"
	case "FN":
		c.fn = cmp.Or(c.fn, l.plain(c.v21))
	case "N":
		parts := append(l.parts(';', c.v21), "", "", "")
		c.family, c.given, c.middle = parts[0], parts[1], parts[2]
	case "NICKNAME":
		c.nicknames = append(c.nicknames, l.parts(',', c.v21)...)
	case "ORG":
		c.org = cmp.Or(c.org, strings.Join(l.parts(';', c.v21), " "))
	case "UID":
		c.uid = strings.TrimPrefix(l.plain(c.v21), "urn:uuid:")
	case "KIND", "X-ADDRESSBOOKSERVER-KIND":
		c.group = strings.EqualFold(l.plain(c.v21), "group")
	case "X-PHONETIC-FIRST-NAME":
		c.readingGiven = l.plain(c.v21)
	case "X-PHONETIC-LAST-NAME":
		c.readingLast = l.plain(c.v21)
	case "SOUND":
		if l.hasType("X-IRMC-N") {
			c.reading = strings.TrimSpace(strings.Join(l.parts(';', c.v21), " "))
		}
	case "EMAIL":
		c.emails = append(c.emails, rankedAddress{strings.TrimPrefix(l.plain(c.v21), "mailto:"), l.pref()})
	case "TEL":
		if l.hasType("FAX") || l.hasType("PAGER") {
			return
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(l.plain(c.v21), "tel:"), ";")
		c.phones = append(c.phones, rankedAddress{number, l.pref()})
	}
}

// add turns a card into a contact.
func (p *parser) add(c *card) {
	if c.group {
		return
	}
	out := hearken.Contact{Name: c.name()}
	for _, h := range byPref(c.emails) {
		address, _, why := parseEmail(h.value)
		p.addAddress(&out.Emails, address, c, h.value, why)
	}
	for _, h := range byPref(c.phones) {
		number, why := parsePhone(h.value, p.callingCode)
		p.addAddress(&out.Phones, number, c, h.value, why)
	}
	if out.Name == "" && len(out.Emails) > 0 {
		out.Name = out.Emails[0]
	}
	switch {
	case out.Name == "":
		p.note(c.begin, "the card has no name")
		return
	case len(out.Emails)+len(out.Phones) == 0:
		p.note(c.begin, out.Name+" has neither an email address nor a phone number that can be used")
		return
	}
	out.Aliases = c.aliases(out.Name)
	out.ID = contactID(c.uid, &out)
	if p.seen[out.ID] {
		p.note(c.begin, out.Name+" is in the file twice")
		return
	}
	p.seen[out.ID] = true
	p.contacts = append(p.contacts, out)
}

// addAddress adds an address to a contact, or a note why not.
func (p *parser) addAddress(to *[]string, address string, c *card, written, why string) {
	if why == "" && slices.ContainsFunc(*to, func(has string) bool { return sameAddress(has, address) }) {
		return
	}
	if why == "" && len(*to) >= maxEach {
		why = fmt.Sprintf("there are more than %d", maxEach)
	}
	if why != "" {
		p.note(c.begin, fmt.Sprintf("%q of %s was left out: %s", cleanName(written), cmp.Or(c.name(), "somebody"), why))
		return
	}
	*to = append(*to, address)
}

// note adds a note for the person who imports.
func (p *parser) note(at int, what string) {
	if len(p.notes) >= maxNotes {
		p.omitted++
		return
	}
	p.notes = append(p.notes, fmt.Sprintf("Line %d: %s.", at, strings.TrimSuffix(what, ".")))
}

// name returns the person's name.
func (c *card) name() string {
	return cmp.Or(cleanName(c.fn), cleanName(c.fullName()), cleanName(c.org))
}

// fullName joins the parts of the name in the order of its language.
func (c *card) fullName() string {
	parts := []string{c.given, c.middle, c.family}
	if isCJK(c.family) && isCJK(c.given) {
		parts = []string{c.family, c.middle, c.given}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// isCJK reports whether a name is written in Chinese, Japanese or Korean.
func isCJK(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// aliases returns other names of the person: nicknames, the name made of its
// parts, and its pronunciation.
func (c *card) aliases(name string) []string {
	all := append(slices.Clone(c.nicknames), c.fullName(), c.reading, strings.TrimSpace(c.readingLast+" "+c.readingGiven))
	for _, part := range []string{c.family, c.given} {
		if isCJK(part) {
			all = append(all, part)
		}
	}
	seen := map[string]bool{fold(name): true, "": true}
	var out []string
	for _, a := range all {
		a = cleanName(a)
		if seen[fold(a)] || len(out) >= maxEach {
			continue
		}
		seen[fold(a)] = true
		out = append(out, a)
	}
	return out
}

// cleanName makes a name safe to show on one line.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || safetext.ClassOf(r) != safetext.Visible:
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	for len(name) > maxName {
		r := []rune(name)
		name = strings.TrimSpace(string(r[:len(r)-max(1, (len(name)-maxName)/4)]))
	}
	return name
}

// byPref sorts the preferred ones first.
func byPref(h []rankedAddress) []rankedAddress {
	slices.SortStableFunc(h, func(a, b rankedAddress) int { return a.pref - b.pref })
	return h
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// contactID returns the card's own id, or one derived from its contents, so
// that the next import recognizes the contact.
func contactID(uid string, c *hearken.Contact) string {
	if idForm.MatchString(uid) {
		return uid
	}
	contents := strings.Join(slices.Concat([]string{fold(c.Name)}, c.Emails, c.Phones), "\n")
	sum := sha256.Sum256([]byte(cmp.Or(uid, contents)))
	return "card-" + hex.EncodeToString(sum[:8])
}
