// Package people knows who is meant: it turns what an agent wrote as the
// recipient of a message into one address, or says why it cannot.
//
// It never guesses. Names come out of speech recognition, and a name that is
// nearly right is another person: an inexact name is an error that lists who
// is near, and a name that two people share is an error that lists both. What
// is found is checked again, however it was found, because an address can be
// made to look like another one.
package people

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// The platforms that a recipient can be reached by.
const (
	email   = "email"
	sms     = "sms"
	ntfy    = "ntfy"
	webhook = "webhook"
)

// maxTo is the longest recipient in bytes that is looked at.
const maxTo = 320

// setup says what is to be set where a platform is not there.
var setup = map[string]string{
	email:   "set SMTP_HOST and SMTP_FROM",
	sms:     "set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM",
	ntfy:    "set NTFY_URL",
	webhook: "set WEBHOOK_URL and WEBHOOK_SECRET",
}

// also are other words for the platforms.
var also = map[string]string{"mail": email, "e-mail": email, "text": sms, "phone": sms}

// Contacts is where the owner's contacts are kept.
type Contacts interface {
	Contacts(ctx context.Context) ([]hearken.Contact, error)
}

// A Book finds people. Its methods may be called concurrently; its fields may
// be set before.
type Book struct {
	// Places are the platforms that reach one configured place, whoever is
	// asked for: ntfy's topic, the webhook's host.
	Places map[string]string
	// CallingCode is that of numbers without one, such as 49; empty refuses
	// them.
	CallingCode string

	contacts Contacts
}

// New makes a book of the contacts in a store.
func New(contacts Contacts) *Book { return &Book{contacts: contacts} }

// A Recipient is who a message goes to.
type Recipient struct {
	Name     string // of the contact; empty for an address alone
	Address  string // where the message goes; a domain in ASCII
	Platform string
	Known    bool     // the address stands in the contact book
	Cautions []string // sentences for who decides
	Spoken   []string // what somebody may have said to mean it
}

// Resolve finds who is meant by to, and by which of the offered platforms to
// reach them: the one that is asked for, the one that the contact prefers, or
// the one that fits the address.
func (b *Book) Resolve(ctx context.Context, to, platform string, offered []string) (Recipient, error) {
	to = strings.TrimSpace(to)
	if err := checkRecipient(to); err != nil {
		return Recipient{}, err
	}
	platform, err := checkPlatform(platform, offered)
	if err != nil {
		return Recipient{}, err
	}
	all, err := b.contacts.Contacts(ctx)
	if err != nil {
		return Recipient{}, fmt.Errorf("list contacts: %w", err)
	}
	s := &search{book: b, all: all, platform: platform, offered: offered}
	switch {
	case isEmail(to):
		return s.literal(to, email)
	case isPhone(to):
		return s.literal(to, sms)
	case strings.ContainsAny(to, "<>") || strings.Contains(to, "://"):
		return Recipient{}, hearken.Errorf(hearken.InvalidRecipient, "%q is neither a name nor one bare address.", to).
			WithTry("the address alone, such as name@example.org")
	}
	if r, ok := s.place(to); ok {
		return r, nil
	}
	c, cautions, err := s.named(to)
	if err != nil {
		return Recipient{}, err
	}
	r, err := s.reach(c)
	r.Cautions = append(cautions, r.Cautions...)
	return r, err
}

// A search is one resolution.
type search struct {
	book     *Book
	all      []hearken.Contact
	platform string // asked for; may be empty
	offered  []string
}

// checkPlatform returns the platform by its own name.
func checkPlatform(platform string, offered []string) (string, error) {
	platform = strings.ToLower(strings.TrimSpace(platform))
	if name, ok := also[platform]; ok {
		platform = name
	}
	if platform == "" || slices.Contains(offered, platform) {
		return platform, nil
	}
	if setup[platform] == "" {
		return "", hearken.Errorf(hearken.Invalid, "There is no such platform.").WithTry("%s", or(offered, "email or sms"))
	}
	return "", notSetUp(platform)
}

// notSetUp is the error for a platform that could be there.
func notSetUp(platform string) error {
	return hearken.Errorf(hearken.ConnectorMissing, "This hub has not been set up for %s.", platform).WithTry("%s", setup[platform])
}

// literal is an address that was written out.
func (s *search) literal(to, kind string) (Recipient, error) {
	switch {
	case s.platform != "" && s.platform != kind && s.book.Places[s.platform] == "":
		return Recipient{}, hearken.Errorf(hearken.InvalidRecipient, "%s does not reach such an address.", s.platform).WithTry("the platform %s", kind)
	case s.platform != "" && s.platform != kind:
		return Recipient{}, s.elsewhere()
	case !slices.Contains(s.offered, kind):
		return Recipient{}, notSetUp(kind)
	}
	r := Recipient{Platform: kind}
	var err error
	if kind == email {
		r.Address, r.Cautions, err = checkEmail(to)
	} else {
		r.Address, err = E164(to, s.book.CallingCode)
	}
	if err != nil {
		return Recipient{}, err
	}
	r.Spoken = []string{r.Address}
	for _, c := range s.all {
		if slices.ContainsFunc(addresses(c, kind), func(known string) bool { return same(known, r.Address) }) {
			r.Name, r.Known, r.Spoken = c.Name, true, Spoken(c)
			return r, nil
		}
	}
	if kind == email {
		r.Cautions = append(r.Cautions, s.resembles(r.Address)...)
	}
	return r, nil
}

// reach chooses by what a contact is reached.
func (s *search) reach(c *hearken.Contact) (Recipient, error) {
	if place := s.book.Places[s.platform]; place != "" {
		if s.platform == ntfy && !c.Me {
			return Recipient{}, s.elsewhere()
		}
		return Recipient{Name: c.Name, Address: place, Platform: s.platform, Known: true, Spoken: Spoken(*c)}, nil
	}
	kinds := []string{email, sms}
	if c.Prefer == sms {
		kinds = []string{sms, email}
	}
	if s.platform != "" {
		kinds = []string{s.platform}
	}
	could := "" // a platform that would do if it were set up
	for _, kind := range kinds {
		known := addresses(*c, kind)
		switch {
		case len(known) == 0:
		case slices.Contains(s.offered, kind):
			return s.contact(c, kind, known[0])
		case could == "":
			could = kind
		}
	}
	if place := s.book.Places[ntfy]; s.platform == "" && c.Me && place != "" && slices.Contains(s.offered, ntfy) {
		return Recipient{Name: c.Name, Address: place, Platform: ntfy, Known: true, Spoken: Spoken(*c)}, nil
	}
	if could != "" {
		return Recipient{}, notSetUp(could)
	}
	what := map[string]string{email: "email address", sms: "telephone number"}[kinds[0]]
	if what == "" {
		return Recipient{}, s.elsewhere()
	}
	return Recipient{}, hearken.Errorf(hearken.Code("no_"+kinds[0]+"_address"), "%s has no %s in the contact book.", c.Name, what).
		WithTry("another platform, or the address itself")
}

// contact is a contact at one of its addresses, which is checked as one from
// outside is: the book was imported.
func (s *search) contact(c *hearken.Contact, kind, address string) (Recipient, error) {
	r := Recipient{Name: c.Name, Platform: kind, Known: true, Spoken: Spoken(*c)}
	var err error
	if kind == email {
		r.Address, r.Cautions, err = checkEmail(address)
	} else {
		r.Address, err = E164(address, s.book.CallingCode)
	}
	if err == nil && s.platform == "" && c.Prefer != "" && c.Prefer != kind {
		r.Cautions = append(r.Cautions, fmt.Sprintf("%s prefers %s, which cannot be used.", c.Name, c.Prefer))
	}
	return r, err
}

// place is a configured place that was asked for by its own name.
func (s *search) place(to string) (Recipient, bool) {
	for _, platform := range []string{ntfy, webhook} {
		place := s.book.Places[platform]
		if place == "" || !slices.Contains(s.offered, platform) || s.platform != "" && s.platform != platform {
			continue
		}
		if strings.EqualFold(to, platform) || strings.EqualFold(to, place) || s.platform == platform && isMe(to) && s.owner() == nil {
			return Recipient{Address: place, Platform: platform, Known: true, Spoken: []string{platform, place}}, true
		}
	}
	return Recipient{}, false
}

// elsewhere says that a platform does not reach whom it was asked for.
func (s *search) elsewhere() error {
	if s.book.Places[s.platform] == "" {
		return notSetUp(s.platform)
	}
	return hearken.Errorf(hearken.InvalidRecipient, "%s reaches only the place that it was set up with.", s.platform).
		WithTry("%q as the recipient, or another platform", s.platform)
}

// addresses are those that a contact has for a platform.
func addresses(c hearken.Contact, kind string) []string {
	switch kind {
	case email:
		return c.Emails
	case sms:
		return c.Phones
	}
	return nil
}

// same compares addresses. No mail server that matters tells capitals apart.
func same(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if isASCII(a) && isASCII(b) || !isEmail(a) || !isEmail(b) {
		return false
	}
	a, _, errA := checkEmail(a)
	b, _, errB := checkEmail(b)
	return errA == nil && errB == nil && strings.EqualFold(a, b)
}

// or writes a choice.
func or(of []string, none string) string {
	if len(of) == 0 {
		return none
	}
	return strings.Join(of, " or ")
}
