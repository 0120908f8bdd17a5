package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Merge adds imported contacts to those that are there. It returns what is to
// be saved, and a report for the person who imports.
//
// A contact is known again by its id, or by its whole name together with one
// of its addresses. Under the same id the new addresses take the place of the
// old ones, which may be somebody else's by now; otherwise they are added.
// Aliases, the preference and who the owner is are kept. A name alone is never
// enough: two people may have it.
func Merge(existing, incoming []hearken.Contact) (save []hearken.Contact, report string) {
	m := merger{all: slices.Clone(existing), byID: map[string]int{}, byName: map[string][]int{}, changed: map[int]bool{}}
	for i := range m.all {
		m.index(i)
	}
	owner := -1
	for _, c := range incoming {
		if i := m.take(c); c.Me {
			owner = i
		}
	}
	for i := range m.all {
		if owner >= 0 && owner != i && m.all[i].Me {
			m.all[i].Me = false // there is one owner, and it is somebody else now
			m.changed[i] = true
		}
		if m.changed[i] {
			save = append(save, m.all[i])
		}
	}
	added := len(m.all) - len(existing)
	counts := fmt.Sprintf("%d added, %d changed, %d as they were.", added, len(save)-added, m.unchanged)
	return save, strings.Join(append([]string{counts}, m.lost...), "\n")
}

// A merger is a contact book while others are added to it.
type merger struct {
	all       []hearken.Contact
	byID      map[string]int
	byName    map[string][]int
	changed   map[int]bool
	unchanged int
	lost      []string // sentences about addresses that are no longer there
}

func (m *merger) index(i int) {
	m.byID[m.all[i].ID] = i
	name := fold(m.all[i].Name)
	m.byName[name] = append(m.byName[name], i)
}

// find returns where a contact is, and whether it is there by its id.
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

// take adds a contact, and returns where it is now.
func (m *merger) take(c hearken.Contact) int {
	i, byID := m.find(c)
	if i < 0 {
		m.all = append(m.all, c)
		i = len(m.all) - 1
		m.index(i)
		m.changed[i] = true
		return i
	}
	old, now := m.all[i], combine(m.all[i], c, byID)
	if equal(old, now) {
		m.unchanged++
		return i
	}
	if lost := without(slices.Concat(old.Emails, old.Phones), slices.Concat(now.Emails, now.Phones)); len(lost) > 0 {
		m.lost = append(m.lost, fmt.Sprintf("%s no longer has %s.", now.Name, strings.Join(lost, ", ")))
	}
	m.all[i] = now
	m.changed[i] = true
	return i
}

// combine is an old contact with what a new one says.
func combine(old, in hearken.Contact, replace bool) hearken.Contact {
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

func equal(a, b hearken.Contact) bool {
	return a.Name == b.Name && a.Prefer == b.Prefer && a.Me == b.Me && sameSet(a.Aliases, b.Aliases) &&
		slices.Equal(a.Emails, b.Emails) && slices.Equal(a.Phones, b.Phones)
}

func sameSet(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }

// union is the first list, and what the second has besides.
func union(a, b []string) []string { return slices.Concat(a, without(b, a)) }

// without are those of the first list that are not in the second.
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
