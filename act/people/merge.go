package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Merge adds imported contacts to the existing ones. It returns the contacts to
// save and a report for the person who imports.
//
// Two contacts are the same if they have the same id, or the same full name and
// one address in common. With the same id the new addresses replace the old
// ones, which may belong to somebody else by now; otherwise they are added.
// Aliases, the preference and the mark of the owner are kept. A name alone is
// never enough: two people may share it.
//
// The owner's own contact changes only from one that is marked as the owner's:
// anybody can send a card with that id, or that name and an address.
func Merge(existing, incoming []hearken.Contact) (save []hearken.Contact, report string) {
	m := merger{all: slices.Clone(existing), byID: map[string]int{}, byName: map[string][]int{}, changed: map[int]bool{}}
	for i := range m.all {
		m.index(i)
	}
	owner := -1
	for _, c := range incoming {
		if i := m.merge(c); c.Me {
			owner = i
		}
	}
	for i := range m.all {
		if owner >= 0 && owner != i && m.all[i].Me {
			m.all[i].Me = false // there is only one owner
			m.changed[i] = true
		}
		if m.changed[i] {
			save = append(save, m.all[i])
		}
	}
	added := len(m.all) - len(existing)
	counts := fmt.Sprintf("%d added, %d changed, %d unchanged.", added, len(save)-added, m.unchanged)
	return save, strings.Join(append([]string{counts}, m.notes...), "\n")
}

// A merger holds the contact book while others are merged into it.
type merger struct {
	all       []hearken.Contact
	byID      map[string]int
	byName    map[string][]int
	changed   map[int]bool
	unchanged int
	notes     []string // sentences about what changed, or did not
}

func (m *merger) index(i int) {
	m.byID[m.all[i].ID] = i
	name := fold(m.all[i].Name)
	m.byName[name] = append(m.byName[name], i)
}

// find returns the index of a contact, and whether its id matched.
func (m *merger) find(c hearken.Contact) (at int, byID bool) {
	if i, ok := m.byID[c.ID]; ok {
		return i, true
	}
	for _, i := range m.byName[fold(c.Name)] {
		if shareAddress(m.all[i], c) {
			return i, false
		}
	}
	return -1, false
}

// merge adds a contact and returns its index.
func (m *merger) merge(c hearken.Contact) int {
	i, byID := m.find(c)
	if i < 0 {
		m.all = append(m.all, c)
		i = len(m.all) - 1
		m.index(i)
		m.changed[i] = true
		return i
	}
	old, now := m.all[i], updateContact(m.all[i], c, byID)
	if old.Me && !c.Me && !equalContacts(old, now) {
		m.notes = append(m.notes, fmt.Sprintf("%s is you, and was left as it is. To change it, import it with --me.", old.Name))
		now = old
	}
	if equalContacts(old, now) {
		m.unchanged++
		return i
	}
	if lost := without(slices.Concat(old.Emails, old.Phones), slices.Concat(now.Emails, now.Phones)); len(lost) > 0 {
		m.notes = append(m.notes, fmt.Sprintf("%s no longer has %s.", now.Name, strings.Join(lost, ", ")))
	}
	m.all[i] = now
	m.changed[i] = true
	return i
}

// updateContact returns an old contact updated from a new one.
func updateContact(old, in hearken.Contact, replace bool) hearken.Contact {
	out := old
	out.Emails, out.Phones = union(old.Emails, in.Emails), union(old.Phones, in.Phones)
	out.Aliases = slices.DeleteFunc(union(in.Aliases, old.Aliases), func(a string) bool { return fold(a) == fold(in.Name) })
	if replace {
		out.Name = in.Name
		out.Emails, out.Phones = slices.Clone(in.Emails), slices.Clone(in.Phones)
	}
	if in.Prefer != "" {
		out.Prefer = in.Prefer
	}
	out.Me = old.Me || in.Me
	return out
}

func equalContacts(a, b hearken.Contact) bool {
	return a.Name == b.Name && a.Prefer == b.Prefer && a.Me == b.Me && sameSet(a.Aliases, b.Aliases) &&
		slices.Equal(a.Emails, b.Emails) && slices.Equal(a.Phones, b.Phones)
}

func sameSet(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }

// union returns the first list plus what only the second has.
func union(a, b []string) []string { return slices.Concat(a, without(b, a)) }

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.ContainsFunc(b, func(t string) bool { return strings.EqualFold(s, t) }) {
			out = append(out, s)
		}
	}
	return out
}

func shareAddress(a, b hearken.Contact) bool {
	return len(without(a.Emails, b.Emails)) < len(a.Emails) || len(without(a.Phones, b.Phones)) < len(a.Phones)
}
