package people

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hearken-dev/hearken"
)

func mail(name, address string, aliases ...string) hearken.Contact {
	return hearken.Contact{ID: name + address, Name: name, Aliases: aliases, Emails: []string{address}}
}

func TestBook_Namesakes(t *testing.T) {
	stone, field := mail("Rob Stone", "rob@stone.example"), mail("Rob Field", "rob@field.example")
	twoRobs := "You have two contacts called Rob: Rob Stone <rob@stone.example>, which was chosen, and Rob Field <rob@field.example>."
	for _, tt := range []struct {
		name, to string
		book     shelf
		want     []string
	}{
		{"FullName", "Rob Stone", shelf{field, stone}, []string{twoRobs}},
		{"Address", "ROB@stone.example", shelf{field, stone}, []string{strings.Replace(twoRobs, "<rob@stone", "<ROB@stone", 1)}},
		{"Alone", "Rob Stone", shelf{stone, mail("Ann Lee", "ann@example.org")}, nil},
		{
			"Alias", "Robert Stone", shelf{mail("Robert Stone", "rob@stone.example", "Rob"), field},
			[]string{"You have two contacts called Rob: Robert Stone <rob@stone.example>, which was chosen, and Rob Field <rob@field.example>."},
		},
		{
			// The alias is the better match, but the other one is called so too.
			"AliasAlone", "Rob", shelf{mail("Robert Stone", "rob@stone.example", "Rob"), field},
			[]string{"You have two contacts called Rob: Robert Stone <rob@stone.example>, which was chosen, and Rob Field <rob@field.example>."},
		},
		{
			"TwoNames", "Robert Stone", shelf{mail("Robert Stone", "r@stone.example", "Bobby"), mail("Robert Field", "r@field.example"), mail("Bobby Lee", "b@lee.example")},
			[]string{"You have 3 contacts called Robert or Bobby: Robert Stone <r@stone.example>, which was chosen, Robert Field <r@field.example> and Bobby Lee <b@lee.example>."},
		},
		{
			"Accents", "Jiří Novák", shelf{mail("Jiří Novák", "jiri@example.org"), mail("JIRI Malý", "maly@example.org")},
			[]string{"You have two contacts called Jiří: Jiří Novák <jiri@example.org>, which was chosen, and JIRI Malý <maly@example.org>."},
		},
		{
			"Title", "Dr. Rob Stone", shelf{mail("Dr. Rob Stone", "rob@stone.example"), field, mail("Dr. Ann Lee", "ann@lee.example")},
			[]string{"You have two contacts called Rob: Dr. Rob Stone <rob@stone.example>, which was chosen, and Rob Field <rob@field.example>."},
		},
		{
			"Many", "Rob Stone", shelf{stone, field, mail("Rob A", "a@example.org"), mail("Rob B", "b@example.org"), mail("Rob C", "c@example.org"), mail("Rob D", "d@example.org")},
			[]string{"You have 6 contacts called Rob: Rob Stone <rob@stone.example>, which was chosen, Rob Field <rob@field.example>, Rob A <a@example.org>, Rob B <b@example.org> and 2 more."},
		},
		{
			"OtherPlatform", "Rob Stone", shelf{stone, {Name: "Rob Field", Phones: []string{"+14155550142"}}, {Name: "Rob Nowhere"}},
			[]string{"You have 3 contacts called Rob: Rob Stone <rob@stone.example>, which was chosen, Rob Field <+14155550142> and Rob Nowhere."},
		},
		{"SameAddress", "Rob Stone", shelf{stone, mail("Rob S.", "Rob@stone.example")}, []string{"Your contact Rob S. has the same address."}},
		{"Duplicate", "rob@stone.example", shelf{stone, mail("ROB STONE", "Rob@stone.example")}, nil},
		{
			"Family", "Rob Stone", shelf{stone, mail("Bob Stone", "bob@stone.example")},
			[]string{"You also have a contact with a similar name: Bob Stone <bob@stone.example>."},
		},
		{
			"Similar", "Maria Lee", shelf{mail("Maria Lee", "m@lee.example"), mail("Marie Field", "m@field.example"), mail("Marta Ray", "m@ray.example")},
			[]string{"You also have contacts with similar names: Marie Field <m@field.example> and Marta Ray <m@ray.example>."},
		},
		{
			// By the first name alone it is the one Maria.
			"OnlyFirst", "Maria", shelf{mail("Maria Lee", "m@lee.example"), mail("Marie Field", "m@field.example")},
			[]string{
				"Only a first name was given: Maria Lee is the one contact that has it.",
				"You also have a contact with a similar name: Marie Field <m@field.example>.",
			},
		},
		{
			"SameAndSimilar", "Maria Lee", shelf{mail("Maria Lee", "m@lee.example"), mail("Maria Ray", "m@ray.example"), mail("Marie A", "a@example.org"), mail("Marie B", "b@example.org"), mail("Marie C", "c@example.org")},
			[]string{
				"You have two contacts called Maria: Maria Lee <m@lee.example>, which was chosen, and Maria Ray <m@ray.example>.",
				"You also have contacts with similar names: Marie A <a@example.org>, Marie B <b@example.org> and 1 more.",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(tt.book).Resolve(t.Context(), tt.to, "", []string{email})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, r.Warnings, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := New(shelf{stone, field}).Resolve(t.Context(), "Rob", "", []string{email}); hearken.CodeOf(err) != hearken.AmbiguousRecipient {
		t.Errorf("both at once: %v", err)
	}
}

func TestSimilarNames(t *testing.T) {
	for _, tt := range []struct {
		a, b    string
		similar bool
	}{
		{"Jon Lee", "John Ray", true}, {"Marc Lee", "Mark Ray", true}, {"Anne Lee", "Ann Ray", true}, {"Sara Lee", "Sarah Ray", true},
		{"Stefan Lee", "Stephan Ray", true}, {"Philip Lee", "Filip Ray", true}, {"Catherine Lee", "Katherine Ray", true},
		{"Jana Nováková", "Hana Nováková", true}, {"Christine Lee", "Christina Ray", true}, {"Peter Lee", "Petr Ray", true},
		{"Rob Lee", "Bob Ray", false}, {"Tom Lee", "Tim Ray", false}, {"Jan Lee", "Jane Ray", true}, {"Ann Lee", "Jan Ray", false},
		{"Karin Schneider", "Martin Schneider", false}, {"Eva Stone", "Rob Stone", false}, {"Thomas Lee", "Theo Ray", false},
		{"佐藤 健", "鈴木 健", false}, {"Michael Lee", "Michelle Ray", false}, {"Hans Lee", "Hanna Ray", false},
	} {
		a, b := mail(tt.a, "a@example.org"), mail(tt.b, "b@example.org")
		if got := similarNames(callNames(&a), callNames(&b)); got != tt.similar {
			t.Errorf("%s and %s are similar: %t", tt.a, tt.b, got)
		}
	}
}

func TestBook_Own(t *testing.T) {
	me := hearken.Contact{
		ID: "me", Name: "Alice Owner", Me: true,
		Emails: []string{"alice@example.org", "office@example.org", "alice@müller.example"}, Phones: []string{"+420601123456", "+420 602 123 456"},
	}
	colleague := hearken.Contact{ID: "c", Name: "Carol Roe", Emails: []string{"Office@example.org"}, Phones: []string{"602 123 456"}}
	b := New(shelf{colleague, me})
	b.CallingCode = "420"
	b.FixedTargets = map[string]FixedTarget{ntfy: {"alices-topic", true}, webhook: {"hooks.example.org", false}}
	for _, tt := range []struct {
		to, platform string
		own          bool
		says         string
	}{
		{"me", "", true, ""}, {"Alice Owner", "", true, ""}, {"ALICE@example.org", "", true, ""}, {"alice@müller.example", "", true, "displayed as"},
		{"me", "sms", true, ""}, {"601 123 456", "", true, ""}, {"me", "ntfy", true, ""}, {"ntfy", "", true, ""}, {"alices-topic", "ntfy", true, ""},
		{"office@example.org", "", false, "Your contact Alice Owner has the same address."},
		{"Carol Roe", "", false, "Your contact Alice Owner has the same address."},
		{"+420602123456", "", false, "has the same address."}, {"Carol Roe", "sms", false, "has the same address."},
		{"alice@example.com", "", false, ""}, {"alice+office@example.org", "", false, ""}, {"+420601123457", "", false, ""},
		{"webhook", "", false, ""}, {"me", "webhook", false, ""}, {"Carol Roe", "webhook", false, ""},
	} {
		r, err := b.Resolve(t.Context(), tt.to, tt.platform, everything)
		if err != nil {
			t.Errorf("%s by %q: %v", tt.to, tt.platform, err)
			continue
		}
		if r.Own != tt.own || !strings.Contains(strings.Join(r.Warnings, " "), tt.says) {
			t.Errorf("%s by %q: own %t, %q", tt.to, tt.platform, r.Own, r.Warnings)
		}
	}
}

func TestBook_AddressesOf(t *testing.T) {
	for _, tt := range []struct {
		platform, address string
		want              []string
	}{
		{email, "BOB@example.com", []string{"BOB@example.com", "bob@example.com", "b@work.example", "+420601123456"}},
		{sms, "+420601123456", []string{"+420601123456", "bob@example.com", "b@work.example"}},
		{email, "zaneta@xn--mller-kva.example", []string{"zaneta@xn--mller-kva.example"}},
		{email, "new@elsewhere.example", []string{"new@elsewhere.example"}},
		{webhook, "hooks.example.org", []string{"hooks.example.org"}},
	} {
		got, err := newBook().AddressesOf(t.Context(), tt.platform, tt.address)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s:\n%s", tt.address, d)
		}
	}
}

// TestBook_LargeBook: a warning that most messages carry is one that nobody
// reads.
func TestBook_LargeBook(t *testing.T) {
	given := strings.Fields("James Patricia Robert Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica " +
		"Thomas Nancy Charles Margaret Daniel Sandra Matthew Ashley Anthony Emily Andrew Donna Joshua Michelle Kenneth Carol Kevin Amanda " +
		"Brian Dorothy George Melissa Edward Deborah Timothy Rebecca Jason Sharon Jeffrey Laura Ryan Cynthia Jacob Kathleen Gary Amy Tom Tim Jim Jan Rob Bob")
	var book shelf
	for i, name := range given {
		book = append(book, mail(fmt.Sprintf("%s %c. Family", name, 'A'+rune(i%26)), fmt.Sprintf("a%d@example.org", i)))
	}
	warned := 0
	for _, c := range book {
		r, err := New(book).Resolve(t.Context(), c.Name, "", []string{email})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) > 0 {
			warned++
			t.Logf("%q", r.Warnings)
		}
	}
	if warned > len(book)/10 {
		t.Errorf("%d of %d contacts carry a warning", warned, len(book))
	}
}
