// Package people finds the recipient of a message: it turns what an agent
// wrote into one address, or says why it cannot.
//
// It never guesses. Names come from speech recognition, and a name that is
// nearly right is another person's. An inexact name is an error that lists
// similar ones, and a name that two people share is an error that lists both.
// Every address is checked however it was found, because one address can be
// made to look like another.
package people

import (
	"cmp"
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

// maxTo is the longest recipient in bytes.
const maxTo = 320

// setupHints say which settings enable a platform.
var setupHints = map[string]string{
	email:   "set SMTP_HOST and SMTP_FROM",
	sms:     "set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM",
	ntfy:    "set NTFY_URL",
	webhook: "set WEBHOOK_URL and WEBHOOK_SECRET",
}

// platformAliases are other words for the platforms.
var platformAliases = map[string]string{"mail": email, "e-mail": email, "text": sms, "phone": sms}

// Contacts stores the owner's contacts.
type Contacts interface {
	Contacts(ctx context.Context) ([]hearken.Contact, error)
}

// A Book finds people. Its methods may be called concurrently once its fields
// are set.
type Book struct {
	// FixedTargets are the platforms that always reach one configured target,
	// whoever the recipient is: ntfy's topic, the webhook's host.
	FixedTargets map[string]FixedTarget
	// CallingCode is the calling code for numbers without one, such as 49.
	// Empty: such numbers are refused.
	CallingCode string

	contacts Contacts
}

// A FixedTarget is the one target of a platform.
type FixedTarget struct {
	Address string
	Own     bool // only the owner reads what is sent there
}

// New returns a book of the contacts in a store.
func New(contacts Contacts) *Book { return &Book{contacts: contacts} }

// A Recipient is one person or target that a message goes to.
type Recipient struct {
	Name     string // of the contact; empty for an address alone
	Address  string // its domain in ASCII
	Platform string
	Known    bool     // the address is in the contact book
	Own      bool     // the address is the owner's, and no other contact's
	Warnings []string // sentences for the owner
	Spoken   []string // what somebody may say to refer to it
}

// Resolve finds the recipient that to means and chooses one of the offered
// platforms: the requested one, the one that the contact prefers, or the one
// that fits the address.
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
	l := &lookup{book: b, all: all, platform: platform, offered: offered}
	r, c, err := l.find(to)
	if err != nil {
		return Recipient{}, err
	}
	r.Own = b.isOwn(all, r.Platform, r.Address)
	if c != nil && b.FixedTargets[r.Platform].Address == "" {
		r.Warnings = append(r.Warnings, l.sharedAddress(c, r)...)
		if !isMe(to) {
			r.Warnings = append(r.Warnings, l.namesakes(c, r)...)
		}
	}
	return r, nil
}

// AddressesOf returns every address of whoever can be reached at this one, which
// is the first.
func (b *Book) AddressesOf(ctx context.Context, platform, address string) ([]string, error) {
	out := []string{address}
	if platform != email && platform != sms {
		return out, nil
	}
	all, err := b.contacts.Contacts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	for i := range all {
		c := &all[i]
		if !b.hasAddress(c, platform, address) {
			continue
		}
		for _, kind := range []string{email, sms} {
			for _, known := range addresses(*c, kind) {
				if checked, _, err := b.checkAddress(kind, known); err == nil && !slices.Contains(out, checked) {
					out = append(out, checked)
				}
			}
		}
	}
	return out, nil
}

// A lookup is one call of [Book.Resolve].
type lookup struct {
	book     *Book
	all      []hearken.Contact
	platform string // the requested one; may be empty
	offered  []string
}

// find finds the recipient, and the contact that it is, if it is one.
func (l *lookup) find(to string) (Recipient, *hearken.Contact, error) {
	switch {
	case isEmail(to):
		return l.byAddress(to, email)
	case isPhone(to):
		return l.byAddress(to, sms)
	case strings.ContainsAny(to, "<>") || strings.Contains(to, "://"):
		return Recipient{}, nil, hearken.Errorf(hearken.InvalidRecipient, "%q is neither a name nor one bare address.", to).
			WithTry("the address alone, such as name@example.org")
	}
	if r, ok := l.fixedTarget(to); ok {
		return r, nil, nil
	}
	c, warnings, err := l.byName(to)
	if err != nil {
		return Recipient{}, nil, err
	}
	r, err := l.toContact(c)
	r.Warnings = append(warnings, r.Warnings...)
	return r, c, err
}

// checkPlatform returns the canonical name of a platform.
func checkPlatform(platform string, offered []string) (string, error) {
	platform = strings.ToLower(strings.TrimSpace(platform))
	if name, ok := platformAliases[platform]; ok {
		platform = name
	}
	if platform == "" || slices.Contains(offered, platform) {
		return platform, nil
	}
	if setupHints[platform] == "" {
		return "", hearken.Errorf(hearken.Invalid, "Unknown platform.").WithTry("%s", cmp.Or(strings.Join(offered, " or "), "email or sms"))
	}
	return "", notSetUp(platform)
}

// notSetUp is the error for a platform that exists but is not configured.
func notSetUp(platform string) error {
	return hearken.Errorf(hearken.ConnectorMissing, "This hub is not set up for %s.", platform).WithTry("%s", setupHints[platform])
}

// byAddress resolves an address that was written out.
func (l *lookup) byAddress(to, kind string) (Recipient, *hearken.Contact, error) {
	switch {
	case l.platform != "" && l.platform != kind && l.book.FixedTargets[l.platform].Address == "":
		return Recipient{}, nil, hearken.Errorf(hearken.InvalidRecipient, "%s cannot reach this kind of address.", l.platform).WithTry("the platform %s", kind)
	case l.platform != "" && l.platform != kind:
		return Recipient{}, nil, l.unreachable()
	case !slices.Contains(l.offered, kind):
		return Recipient{}, nil, notSetUp(kind)
	}
	address, warnings, err := l.book.checkAddress(kind, to)
	if err != nil {
		return Recipient{}, nil, err
	}
	r := Recipient{Address: address, Platform: kind, Warnings: warnings, Spoken: []string{address}}
	for i := range l.all {
		if c := &l.all[i]; l.book.hasAddress(c, kind, address) {
			r.Name, r.Known, r.Spoken = c.Name, true, spokenNames(*c)
			return r, c, nil
		}
	}
	if kind == email {
		r.Warnings = append(r.Warnings, l.resemblesKnown(r.Address)...)
	}
	return r, nil, nil
}

// toContact chooses the platform and address of a contact.
func (l *lookup) toContact(c *hearken.Contact) (Recipient, error) {
	if target := l.book.FixedTargets[l.platform].Address; target != "" {
		if l.platform == ntfy && !c.Me {
			return Recipient{}, l.unreachable()
		}
		return Recipient{Name: c.Name, Address: target, Platform: l.platform, Known: true, Spoken: spokenNames(*c)}, nil
	}
	kinds := []string{email, sms}
	if c.Prefer == sms {
		kinds = []string{sms, email}
	}
	if l.platform != "" {
		kinds = []string{l.platform}
	}
	missing := "" // a platform that would do if it were set up
	for _, kind := range kinds {
		known := addresses(*c, kind)
		switch {
		case len(known) == 0:
		case slices.Contains(l.offered, kind):
			return l.contactAt(c, kind, known[0])
		case missing == "":
			missing = kind
		}
	}
	if target := l.book.FixedTargets[ntfy].Address; l.platform == "" && c.Me && target != "" && slices.Contains(l.offered, ntfy) {
		return Recipient{Name: c.Name, Address: target, Platform: ntfy, Known: true, Spoken: spokenNames(*c)}, nil
	}
	if missing != "" {
		return Recipient{}, notSetUp(missing)
	}
	what := map[string]string{email: "email address", sms: "phone number"}[kinds[0]]
	if what == "" {
		return Recipient{}, l.unreachable()
	}
	return Recipient{}, hearken.Errorf(hearken.Code("no_"+kinds[0]+"_address"), "%s has no %s in the contact book.", c.Name, what).
		WithTry("another platform, or the address itself")
}

// contactAt returns a contact at one of its addresses. The address is checked
// like any other: the book was imported.
func (l *lookup) contactAt(c *hearken.Contact, kind, address string) (Recipient, error) {
	address, warnings, err := l.book.checkAddress(kind, address)
	r := Recipient{Name: c.Name, Address: address, Platform: kind, Known: true, Warnings: warnings, Spoken: spokenNames(*c)}
	if err == nil && l.platform == "" && c.Prefer != "" && c.Prefer != kind {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s prefers %s, which is not available.", c.Name, c.Prefer))
	}
	return r, err
}

// checkAddress returns an address in its canonical form, with warnings for the
// owner.
func (b *Book) checkAddress(kind, address string) (string, []string, error) {
	if kind == email {
		return checkEmail(address)
	}
	number, err := e164(address, b.CallingCode)
	return number, nil, err
}

// fixedTarget finds a configured target that was requested by its own name.
func (l *lookup) fixedTarget(to string) (Recipient, bool) {
	for _, platform := range []string{ntfy, webhook} {
		target := l.book.FixedTargets[platform].Address
		if target == "" || !slices.Contains(l.offered, platform) || l.platform != "" && l.platform != platform {
			continue
		}
		if strings.EqualFold(to, platform) || strings.EqualFold(to, target) || l.platform == platform && isMe(to) && l.owner() == nil {
			return Recipient{Address: target, Platform: platform, Known: true, Spoken: []string{platform, target}}, true
		}
	}
	return Recipient{}, false
}

// unreachable is the error for a platform that does not reach the recipient.
func (l *lookup) unreachable() error {
	if l.book.FixedTargets[l.platform].Address == "" {
		return notSetUp(l.platform)
	}
	return hearken.Errorf(hearken.InvalidRecipient, "%s reaches only the target that it was set up with.", l.platform).
		WithTry("%q as the recipient, or another platform", l.platform)
}

// addresses returns a contact's addresses on a platform.
func addresses(c hearken.Contact, kind string) []string {
	switch kind {
	case email:
		return c.Emails
	case sms:
		return c.Phones
	}
	return nil
}

// hasAddress reports whether an address is one of a contact's, however the
// contact book writes it.
func (b *Book) hasAddress(c *hearken.Contact, kind, address string) bool {
	return slices.ContainsFunc(addresses(*c, kind), func(known string) bool {
		if kind != sms || known == address {
			return sameAddress(known, address)
		}
		number, err := e164(known, b.CallingCode)
		return err == nil && number == address
	})
}

// IsOwn reports whether messages to an address reach the owner and nobody else.
func (b *Book) IsOwn(ctx context.Context, platform, address string) (bool, error) {
	all, err := b.contacts.Contacts(ctx)
	if err != nil {
		return false, fmt.Errorf("list contacts: %w", err)
	}
	return b.isOwn(all, platform, address), nil
}

func (b *Book) isOwn(all []hearken.Contact, platform, address string) bool {
	if target := b.FixedTargets[platform]; target.Address != "" {
		return target.Own && sameAddress(target.Address, address)
	}
	own := false
	for i := range all {
		if c := &all[i]; b.hasAddress(c, platform, address) {
			if !c.Me {
				return false
			}
			own = true
		}
	}
	return own
}

// sameAddress compares addresses. No relevant mail server is case-sensitive.
func sameAddress(a, b string) bool {
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
