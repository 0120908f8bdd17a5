package people

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
)

func TestMerge(t *testing.T) {
	bob := hearken.Contact{ID: "1", Name: "Bob Novák", Aliases: []string{"Bobby"}, Emails: []string{"bob@x.example"}, Prefer: "sms"}
	me := hearken.Contact{ID: "2", Name: "Alice", Emails: []string{"alice@x.example"}, Me: true}
	for name, tt := range map[string]struct {
		existing, incoming, save []hearken.Contact
		report                   string
	}{
		"New":       {nil, []hearken.Contact{bob, me}, []hearken.Contact{bob, me}, "2 added, 0 changed, 0 unchanged."},
		"Unchanged": {[]hearken.Contact{bob, me}, []hearken.Contact{{ID: "1", Name: "Bob Novák", Emails: []string{"bob@x.example"}}, me}, nil, "0 added, 0 changed, 2 unchanged."},
		"SameID": {
			[]hearken.Contact{bob},
			[]hearken.Contact{{ID: "1", Name: "Bob New", Aliases: []string{"Bobo"}, Emails: []string{"new@x.example"}, Phones: []string{"+420601123456"}}},
			[]hearken.Contact{{ID: "1", Name: "Bob New", Aliases: []string{"Bobo", "Bobby"}, Emails: []string{"new@x.example"}, Phones: []string{"+420601123456"}, Prefer: "sms"}},
			"0 added, 1 changed, 0 unchanged.\nBob New no longer has bob@x.example.",
		},
		"NameAndAddress": {
			[]hearken.Contact{bob},
			[]hearken.Contact{{ID: "9", Name: "bob novak", Emails: []string{"BOB@x.example", "b@work.example"}, Phones: []string{"+420601123456"}}},
			[]hearken.Contact{{ID: "1", Name: "Bob Novák", Aliases: []string{"Bobby"}, Emails: []string{"bob@x.example", "b@work.example"}, Phones: []string{"+420601123456"}, Prefer: "sms"}},
			"0 added, 1 changed, 0 unchanged.",
		},
		"NameAlone": {
			[]hearken.Contact{bob}, []hearken.Contact{{ID: "9", Name: "Bob Novák", Emails: []string{"other@x.example"}}},
			[]hearken.Contact{{ID: "9", Name: "Bob Novák", Emails: []string{"other@x.example"}}}, "1 added, 0 changed, 0 unchanged.",
		},
		"AddressAlone": {
			[]hearken.Contact{bob}, []hearken.Contact{{ID: "9", Name: "Eva Nováková", Emails: []string{"bob@x.example"}}},
			[]hearken.Contact{{ID: "9", Name: "Eva Nováková", Emails: []string{"bob@x.example"}}}, "1 added, 0 changed, 0 unchanged.",
		},
		"OwnerStays": {[]hearken.Contact{me}, []hearken.Contact{{ID: "2", Name: "Alice", Emails: []string{"alice@x.example"}}}, nil, "0 added, 0 changed, 1 unchanged."},
		"OwnerMoves": {
			[]hearken.Contact{me, bob}, []hearken.Contact{{ID: "1", Name: "Bob Novák", Emails: []string{"bob@x.example"}, Me: true}},
			[]hearken.Contact{
				{ID: "2", Name: "Alice", Emails: []string{"alice@x.example"}},
				{ID: "1", Name: "Bob Novák", Aliases: []string{"Bobby"}, Emails: []string{"bob@x.example"}, Prefer: "sms", Me: true},
			},
			"0 added, 2 changed, 0 unchanged.",
		},
		"TwiceInTheFile": {
			nil, []hearken.Contact{bob, {ID: "9", Name: "Bob Novák", Emails: []string{"bob@x.example", "b2@x.example"}}},
			[]hearken.Contact{{ID: "1", Name: "Bob Novák", Aliases: []string{"Bobby"}, Emails: []string{"bob@x.example", "b2@x.example"}, Prefer: "sms"}},
			"1 added, 0 changed, 0 unchanged.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			save, report := Merge(tt.existing, tt.incoming)
			if d := cmp.Diff(tt.save, save); d != "" {
				t.Error(d)
			}
			if report != tt.report {
				t.Errorf("report %q, want %q", report, tt.report)
			}
		})
	}
}

// Anybody can send a card with the owner's id, or with the owner's name and an
// address.
func TestMerge_LeavesOwnerAlone(t *testing.T) {
	me := hearken.Contact{ID: "me-1", Name: "Ada Own", Emails: []string{"ada@example.org"}, Me: true}
	for name, card := range map[string]hearken.Contact{
		"same id":   {ID: "me-1", Name: "Rob Evil", Emails: []string{"rob@evil.example"}},
		"same name": {ID: "x", Name: "ada own", Emails: []string{"ada@example.org", "rob@evil.example"}},
	} {
		save, report := Merge([]hearken.Contact{me}, []hearken.Contact{card})
		if len(save) != 0 || !strings.Contains(report, "Ada Own is you, and was left as it is.") {
			t.Errorf("%s: %+v, %s", name, save, report)
		}
		card.Me = true
		if save, _ := Merge([]hearken.Contact{me}, []hearken.Contact{card}); len(save) != 1 || !slices.Contains(save[0].Emails, "rob@evil.example") {
			t.Errorf("%s, marked as the owner: %+v", name, save)
		}
	}
}
