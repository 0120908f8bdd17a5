package act

import (
	"testing"

	"github.com/hearken-dev/hearken"
)

// What looks like a link or a secret is asked about in every text of every
// tool, and ordinary words with dots in them are not.
func TestIsSensitive(t *testing.T) {
	for text, want := range map[string]bool{
		"https://evil.example/login":         true,
		"see evil.example/menu":              true,
		"evil.example":                       true,
		"(www.evil.example)":                 true,
		"EVIL.EXAMPLE":                       true,
		"Evil.Example/menu":                  true,
		"mail it to bob@stone.example":       true,
		"a.b.evil.example":                   true,
		"t.co/abc":                           true,
		"x.com":                              true,
		"münchen.example":                    true,
		"evil．example":                       true,
		"10.0.0.1":                           true,
		"123.example/x":                      true,
		"the password is swordfish":          true,
		"card 4111 1111 1111 1111":           true,
		"See Dr.No with Anna":                false,
		"3.5 litres of milk":                 false,
		"at 10 a.m.":                         false,
		"at 10 a.m. or p.m.":                 false,
		"e.g. fish, i.e. food":               false,
		"z.B. Fisch u.a.":                    false,
		"the U.S. and the U.S.A.":            false,
		"He does not eat fish.Then we talk.": false,
		"well...maybe":                       false,
		"am 5. Mai um 9.15 Uhr":              false,
		"version 1.2.3":                      false,
		"Lunch with João, St. Peter's.":      false,
		"Ph.D. defence":                      false,
		"会議は三時からです。明日も。":                     false,
	} {
		for _, a := range []*hearken.Action{
			{Message: &hearken.Message{Text: text}},
			{Appointment: &hearken.Appointment{Title: text}},
			{Appointment: &hearken.Appointment{Title: "a", Description: text}},
			{Appointment: &hearken.Appointment{Title: "a", Location: text}},
			{Reminder: &hearken.Reminder{Note: text}},
		} {
			if isSensitive(a) != want {
				t.Errorf("%q: %v", text, !want)
			}
		}
	}
	if isSensitive(&hearken.Action{Message: &hearken.Message{To: "bob@stone.example", Address: "bob@stone.example", Text: "hello"}}) {
		t.Error("an address is no text")
	}
}
