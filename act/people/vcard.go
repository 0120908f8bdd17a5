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
)

const (
	maxContacts = 20_000
	maxEach     = 20  // addresses, numbers and aliases of one contact
	maxWritten  = 200 // those that are looked at
	maxName     = 200 // bytes of a name or an alias
	maxNotes    = 50
)

// ParseVCards reads contacts as telephones and mail programs export them:
// vCard 2.1, 3.0 and 4.0. Numbers without a country's code get the calling
// code given, such as 49; without one they are left out. The notes say what
// was left out and why, for the person who imports.
func ParseVCards(r io.Reader, callingCode string) ([]hearken.Contact, []string, error) {
	p := &parser{lines: newLines(r), callingCode: callingCode, seen: map[string]bool{}}
	return p.parse()
}

func (p *parser) parse() ([]hearken.Contact, []string, error) {
	for {
		more, err := p.card()
		switch {
		case err != nil:
			return nil, nil, err
		case !more && p.cards == 0:
			return nil, nil, hearken.Errorf(hearken.Invalid, "There is no vCard in the file.")
		case !more:
			if p.left > 0 {
				p.notes = append(p.notes, fmt.Sprintf("%d more were left out.", p.left))
			}
			return p.contacts, p.notes, nil
		case len(p.contacts) > maxContacts:
			return nil, nil, hearken.Errorf(hearken.Invalid, "The file holds more than %d contacts.", maxContacts)
		}
	}
}

// A parser reads the cards of a file.
type parser struct {
	lines       *lines
	callingCode string

	cards    int
	begun    int // the line of a card that began within another
	contacts []hearken.Contact
	seen     map[string]bool // ids
	notes    []string
	left     int // notes that are not told one by one
}

// A card is what matters of a vCard.
type card struct {
	fn, org, uid          string
	given, middle, family string
	sound                 string // the name's reading, in one piece
	soundGiven, soundLast string
	nicknames             []string
	emails, phones        []handle
	begin                 int  // the line it begins at
	group                 bool // not a person
	old                   bool // version 2.1: no escapes but of ;
}

// A handle is an address or a number, and how much it is preferred: 1 the most.
type handle struct {
	value string
	pref  int
}

// card reads the next card, and reports whether there was one.
func (p *parser) card() (bool, error) {
	c := card{begin: p.begun}
	p.begun = 0
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
	if err := p.fill(&c); err != nil {
		return false, err
	}
	p.add(&c)
	return true, nil
}

// fill reads a card up to its end, or to where another one begins.
func (p *parser) fill(c *card) error {
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
			p.begun = l.at
			return nil
		case begins: // a card within a card, as version 2.1 has it
			depth++
		case l.is("END", "VCARD"):
			depth--
		case depth == 1:
			c.take(l)
		}
		before = l.name
	}
	return nil
}

// take keeps what a line says.
func (c *card) take(l line) {
	if len(c.emails)+len(c.phones)+len(c.nicknames) > maxWritten {
		return
	}
	switch l.name {
	case "VERSION":
		c.old = strings.TrimSpace(l.text()) == "2.1"
	case "FN":
		c.fn = cmp.Or(c.fn, l.plain(c.old))
	case "N":
		parts := append(l.parts(';', c.old), "", "", "")
		c.family, c.given, c.middle = parts[0], parts[1], parts[2]
	case "NICKNAME":
		c.nicknames = append(c.nicknames, l.parts(',', c.old)...)
	case "ORG":
		c.org = cmp.Or(c.org, strings.Join(l.parts(';', c.old), " "))
	case "UID":
		c.uid = strings.TrimPrefix(l.plain(c.old), "urn:uuid:")
	case "KIND", "X-ADDRESSBOOKSERVER-KIND":
		c.group = strings.EqualFold(l.plain(c.old), "group")
	case "X-PHONETIC-FIRST-NAME":
		c.soundGiven = l.plain(c.old)
	case "X-PHONETIC-LAST-NAME":
		c.soundLast = l.plain(c.old)
	case "SOUND":
		if l.param("X-IRMC-N") {
			c.sound = strings.TrimSpace(strings.Join(l.parts(';', c.old), " "))
		}
	case "EMAIL":
		c.emails = append(c.emails, handle{strings.TrimPrefix(l.plain(c.old), "mailto:"), l.pref()})
	case "TEL":
		if l.param("FAX") || l.param("PAGER") {
			return
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(l.plain(c.old), "tel:"), ";")
		c.phones = append(c.phones, handle{number, l.pref()})
	}
}

// add makes a contact of a card.
func (p *parser) add(c *card) {
	if c.group {
		return
	}
	out := hearken.Contact{Name: c.name()}
	for _, h := range byPref(c.emails) {
		address, _, why := parseEmail(h.value)
		p.keep(&out.Emails, address, c, h.value, why)
	}
	for _, h := range byPref(c.phones) {
		number, why := parsePhone(h.value, p.callingCode)
		p.keep(&out.Phones, number, c, h.value, why)
	}
	if out.Name == "" && len(out.Emails) > 0 {
		out.Name = out.Emails[0]
	}
	switch {
	case out.Name == "":
		p.note(c.begin, "the card has no name")
		return
	case len(out.Emails)+len(out.Phones) == 0:
		p.note(c.begin, out.Name+" has neither an email address nor a telephone number that can be used")
		return
	}
	out.Aliases = c.aliases(out.Name)
	out.ID = identify(c.uid, &out)
	if p.seen[out.ID] {
		p.note(c.begin, out.Name+" is in the file twice")
		return
	}
	p.seen[out.ID] = true
	p.contacts = append(p.contacts, out)
}

// keep adds an address to a contact, or a note why not.
func (p *parser) keep(to *[]string, address string, c *card, written, why string) {
	if why == "" && slices.ContainsFunc(*to, func(has string) bool { return same(has, address) }) {
		return
	}
	if why == "" && len(*to) >= maxEach {
		why = fmt.Sprintf("there are more than %d", maxEach)
	}
	if why != "" {
		p.note(c.begin, fmt.Sprintf("%q of %s was left out: %s", tidy(written), cmp.Or(c.name(), "somebody"), why))
		return
	}
	*to = append(*to, address)
}

// note tells the person who imports of something.
func (p *parser) note(at int, what string) {
	if len(p.notes) >= maxNotes {
		p.left++
		return
	}
	p.notes = append(p.notes, fmt.Sprintf("Line %d: %s.", at, strings.TrimSuffix(what, ".")))
}

// name is how people call the card's person.
func (c *card) name() string {
	for _, name := range []string{c.fn, c.full(), c.org} {
		if name = tidy(name); name != "" {
			return name
		}
	}
	return ""
}

// full is the name made of its parts, in the order of its language.
func (c *card) full() string {
	parts := []string{c.given, c.middle, c.family}
	if east(c.family) && east(c.given) {
		parts = []string{c.family, c.middle, c.given}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// east reports whether a name is written in Chinese, Japanese or Korean.
func east(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// aliases are the other ways to say the name: nicknames, the name as its parts
// make it, and how it is read.
func (c *card) aliases(name string) []string {
	all := append(slices.Clone(c.nicknames), c.full(), c.sound, strings.TrimSpace(c.soundLast+" "+c.soundGiven))
	if east(c.family) {
		all = append(all, c.family)
	}
	if east(c.given) {
		all = append(all, c.given)
	}
	seen := map[string]bool{fold(name): true, "": true}
	var out []string
	for _, a := range all {
		a = tidy(a)
		if seen[fold(a)] || len(out) >= maxEach {
			continue
		}
		seen[fold(a)] = true
		out = append(out, a)
	}
	return out
}

// tidy makes a name fit to be shown on one line.
func tidy(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || hidden(r) != "":
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

// byPref puts the preferred ones first, and keeps the order else.
func byPref(h []handle) []handle {
	slices.SortStableFunc(h, func(a, b handle) int { return a.pref - b.pref })
	return h
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// identify gives a contact an id: the card's own, or one made of what it says
// so that the next import finds it again.
func identify(uid string, c *hearken.Contact) string {
	if idForm.MatchString(uid) {
		return uid
	}
	of := uid
	if of == "" {
		of = strings.Join(slices.Concat([]string{fold(c.Name)}, c.Emails, c.Phones), "\n")
	}
	sum := sha256.Sum256([]byte(of))
	return "card-" + hex.EncodeToString(sum[:8])
}
