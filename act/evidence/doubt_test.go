package evidence

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

func title(s string) Arg { return Arg{Name: "title", Value: s} }

const (
	message  = hearken.MessageSend
	event    = hearken.CalendarCreate
	reminder = hearken.ReminderCreate
)

var (
	annaK = to("anna@hub.example", "Anna", "Anna Kowalski")
	bobN  = to("bob@hub.example", "Bob")
)

// granted reports whether a grant would cover it.
func (f Finding) granted() bool { return worst(f.Evidence) == mine && len(f.Doubts) == 0 }

// TestFinder_Doubts are words that the owner said, and that an agent makes
// something of. A part of the doubt is given, empty for none.
func TestFinder_Doubts(t *testing.T) {
	const (
		apart    = "different times"
		asks     = "asking for"
		unsaid   = "was not said"
		negated  = "negated alike"
		imagined = "an if, a would"
		somebody = "somebody else"
		back     = "taken it back"
		repeated = "will be repeated"
	)
	for _, tt := range []struct {
		name  string
		tool  string
		lines []string
		args  []Arg
		want  string
	}{
		{"Asked", message, []string{"M 1-4 Tell Anna that I am late."}, []Arg{annaK, text("I am late")}, ""},
		{"InTwoBreaths", message, []string{"M 1-3 Send Anna a message", "M 4-6 that the keys are under the mat."}, []Arg{annaK, text("The keys are under the mat")}, ""},
		{"TheNameElsewhere", message, []string{"M 1-3 Hi Anna.", "M 40-45 Tell her the keys are under the mat."}, []Arg{annaK, text("The keys are under the mat")}, apart},
		{"SaidTwiceOnceTogether", message, []string{"M 1-3 Hi Anna.", "M 40-45 Tell Anna the keys are under the mat.", "M 80-84 The keys are under the mat."}, []Arg{annaK, text("The keys are under the mat")}, ""},
		{"FourEntriesAway", message, []string{"M 1-2 Tell Anna", "M 3-4 well", "M 5-6 hm", "M 7-9 the keys are under the mat."}, []Arg{annaK, text("keys under the mat")}, apart},

		{"NoOrder", message, []string{"M 1-4 Anna knows that the merger is on Friday."}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"OtherTool", event, []string{"M 1-4 Remind me to call the plumber."}, []Arg{title("Call the plumber")}, asks},
		{"SmallTalk", event, []string{"M 1-4 My trip to Lisbon was wonderful."}, []Arg{title("Trip to Lisbon")}, asks},
		{"Forgot", reminder, []string{"M 1-4 I forgot to water the plants."}, []Arg{note("Water the plants")}, asks},
		{"Told", message, []string{"M 1-4 I told Anna that the merger is on Friday."}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"DidYouTell", message, []string{"M 1-4 Did you tell Anna that the merger is on Friday?"}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"ShouldI", message, []string{"M 1-4 I should tell Anna that the merger is on Friday."}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"AQuestion", message, []string{"M 1-4 Tell Anna that the merger is on Friday?"}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"Politely", message, []string{"M 1-4 Could you tell Anna that the merger is on Friday?"}, []Arg{annaK, text("The merger is on Friday")}, ""},
		{"TellMe", message, []string{"M 1-4 Tell me, Anna, the merger is on Friday."}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"ToMyself", message, []string{"M 1-4 Text me the word milk."}, []Arg{to("owner@hub.example", "me"), text("the word milk")}, ""},
		{"TheMail", message, []string{"M 1-4 I read the mail from Anna, the merger is on Friday."}, []Arg{annaK, text("The merger is on Friday")}, asks},
		{"TheAgenda", event, []string{"M 1-4 The agenda for the plan is long."}, []Arg{title("Agenda for the plan")}, asks},
		{"UnknownLanguage", message, []string{"M 1-4 Napisz do Anna że spotkanie jest w piątek."}, []Arg{annaK, text("spotkanie jest w piątek")}, asks},

		{"AnotherWord", message, []string{"M 1-4 Tell Anna that the meeting is on Friday."}, []Arg{annaK, text("The meeting is cancelled on Friday")}, unsaid},
		{"AnotherName", message, []string{"M 1-4 Tell Anna that the meeting with Carlos is on Friday."}, []Arg{annaK, text("The meeting with Mallory is on Friday")}, unsaid},
		{"AnotherNumber", message, []string{"M 1-4 Tell Anna we pay seventy euros for each box."}, []Arg{annaK, text("We pay 90 euros for each box")}, unsaid},
		{"NumbersExchanged", message, []string{"M 1-4 Tell Anna we pay five euros for twenty boxes."}, []Arg{annaK, text("We pay 20 euros for 5 boxes")}, unsaid},
		{"NumberTwice", message, []string{"M 1-4 Tell Anna we pay five euros."}, []Arg{annaK, text("We pay 5 5 euros")}, unsaid},
		{"OtherEndings", message, []string{"M 1-4 Tell Anna that the meetings on Friday are beginning early."}, []Arg{annaK, text("The meetings begin early on Friday")}, ""},
		{"Courtesy", message, []string{"M 1-4 Tell Anna that the meeting is on Friday."}, []Arg{annaK, text("Hi Anna, the meeting is on Friday. Thanks!")}, ""},

		{"NegationLeftOut", message, []string{"M 1-4 Tell Anna that I do not agree to it."}, []Arg{annaK, text("I agree to it")}, negated},
		{"NegationAdded", message, []string{"M 1-4 Tell Anna that I agree to it."}, []Arg{annaK, text("I agree to no")}, negated},
		{"NegationKept", message, []string{"M 1-4 Tell Anna that I can't come."}, []Arg{annaK, text("I can not come")}, ""},
		{"Never", message, []string{"M 1-4 Never tell Anna that I love her cooking."}, []Arg{annaK, text("I love her cooking")}, negated},
		{"NeverNot", message, []string{"M 1-4 Never tell Anna that I don't like it."}, []Arg{annaK, text("I don't like it")}, negated},
		{"NeverInABreathBefore", message, []string{"M 1-2 I would never.", "M 2.5-4 Tell Anna that I love her cooking."}, []Arg{annaK, text("I love her cooking")}, negated},
		{"Dont", message, []string{"M 1-4 Don’t tell Anna that I love her cooking."}, []Arg{annaK, text("I love her cooking")}, negated},
		{"NoAsAnAnswer", message, []string{"M 1-4 No. Tell Anna that I am late."}, []Arg{annaK, text("I am late")}, ""},
		{"If", message, []string{"M 1-4 If it rains tell Anna that I am late."}, []Arg{annaK, text("I am late")}, imagined},
		{"IfKept", message, []string{"M 1-4 Tell Anna that I come if it rains."}, []Arg{annaK, text("I come if it rains")}, ""},
		{"OnlyLeftOut", message, []string{"M 1-4 Tell Anna that I only agree to half of it."}, []Arg{annaK, text("I agree to half of it")}, imagined},
		{"SomebodyElse", message, []string{"M 1-6 Tell Bob that the offer to Anna is four million."}, []Arg{annaK, text("The offer is four million")}, somebody},
		{"SomebodyElseShort", message, []string{"M 1-6 Tell Bob that Anna owes us four million."}, []Arg{annaK, text("owes us four million")}, somebody},
		{"TheOneMeant", message, []string{"M 1-6 Tell Bob that Anna owes us four million."}, []Arg{bobN, text("Anna owes us four million")}, ""},
		{"TheOtherOfTwo", message, []string{"M 1-6 Tell Bob the price is five and tell Anna I am late."}, []Arg{annaK, text("The price is five")}, somebody},
		{"TheFirstOfTwo", message, []string{"M 1-6 Tell Bob the price is five and tell Anna I am late."}, []Arg{bobN, text("The price is five")}, ""},
		{"TheSecondOfTwo", message, []string{"M 1-6 Tell Bob the price is five and tell Anna I am late."}, []Arg{annaK, text("I am late")}, ""},
		{"Greeted", message, []string{"M 1-6 Hi Anna, tell Bob the price is five."}, []Arg{annaK, text("The price is five")}, somebody},
		{"TakenBack", message, []string{"M 1-4 Tell Anna that I am late. No, don't."}, []Arg{annaK, text("I am late")}, back},
		{"TakenBackLater", message, []string{"M 1-4 Tell Anna that I am late.", "M 6-7 Wait, stop."}, []Arg{annaK, text("I am late")}, back},
		{"DontForget", reminder, []string{"M 1-4 Don't forget to buy milk."}, []Arg{note("Buy milk")}, ""},
		{"Promise", reminder, []string{"M 1-4 I'll send the contract on Friday."}, []Arg{note("Send the contract")}, ""},

		{"German", message, []string{"M 1-4 Schreib Anna, dass ich nicht komme."}, []Arg{annaK, text("Ich komme nicht")}, ""},
		{"GermanNever", message, []string{"M 1-4 Schreib Anna nie, dass ich komme."}, []Arg{annaK, text("Ich komme")}, negated},
		{"GermanIf", message, []string{"M 1-4 Schreib Anna, wenn es regnet, dass ich komme."}, []Arg{annaK, text("Ich komme")}, imagined},
		{"GermanQuestion", message, []string{"M 1-4 Kannst du Anna schreiben, dass ich komme?"}, []Arg{annaK, text("Ich komme")}, ""},
		{"GermanReminder", reminder, []string{"M 1-4 Vergiss nicht, Milch zu kaufen."}, []Arg{note("Milch kaufen")}, ""},
		{"GermanInfinitive", reminder, []string{"M 1-4 Erinnere mich daran, die Steuererklärung abzugeben."}, []Arg{note("Steuererklärung abgeben")}, ""},
		{"GermanSmallTalk", event, []string{"M 1-4 Der Zahnarzt war schön."}, []Arg{title("Zahnarzt")}, asks},
		{"Portuguese", event, []string{"M 1-4 Coloca no calendário uma reunião com Ana."}, []Arg{title("Reunião com Ana")}, ""},
		{"PortugueseNever", message, []string{"M 1-4 Nunca diga à Anna que a reunião começa."}, []Arg{annaK, text("A reunião começa")}, negated},
		{"PortugueseNo", message, []string{"M 1-4 Diga à Anna que não vou."}, []Arg{annaK, text("Não vou")}, ""},
		{"Spanish", message, []string{"M 1-4 Sí, dile a Anna que no llego."}, []Arg{annaK, text("No llego")}, ""},
		{"SpanishIf", message, []string{"M 1-4 Dile a Anna si llueve que llego tarde."}, []Arg{annaK, text("Llego tarde")}, imagined},
		{"SpanishReminder", reminder, []string{"M 1-4 No olvides comprar leche."}, []Arg{note("Comprar leche")}, ""},
		{"Swedish", reminder, []string{"M 1-4 Påminn mig om mötet."}, []Arg{note("Mötet")}, ""},
		{"SwedishNever", message, []string{"M 1-4 Skriv aldrig till Anna att bilen är såld."}, []Arg{annaK, text("Bilen är såld")}, negated},
		{"French", message, []string{"M 1-4 Dis à Anna que la réunion est mardi, s'il te plaît."}, []Arg{annaK, text("La réunion est mardi")}, ""},
		{"FrenchNot", message, []string{"M 1-4 Ne dis pas à Anna que la réunion est mardi."}, []Arg{annaK, text("La réunion est mardi")}, negated},
		{"Japanese", message, []string{"M 1-4 アンナに会議は三時からですと送ってください"}, []Arg{to("anna@hub.example", "アンナ"), text("会議は三時からです")}, ""},
		{"JapaneseNot", message, []string{"M 1-4 アンナに会議は三時からだと言わないで、送ってはいけません"}, []Arg{to("anna@hub.example", "アンナ"), text("会議は三時からです")}, negated},
		{"JapaneseSmallTalk", event, []string{"M 1-4 リスボン旅行は楽しかった"}, []Arg{title("リスボン旅行")}, asks},
		{"JapaneseReminder", reminder, []string{"M 1-4 牛乳を買うのを忘れないで"}, []Arg{note("牛乳を買う")}, ""},

		{"Description", event, []string{"M 1-6 Add lunch with Anna and note that he does not eat fish."}, []Arg{title("Lunch with Anna"), {Name: "description", Value: "He does not eat fish"}}, ""},
		{"DescriptionElsewhere", event, []string{"M 1-6 Add lunch with Anna.", "M 60-66 He eats fish."}, []Arg{title("Lunch with Anna"), {Name: "description", Value: "He eats fish"}}, apart},
		{"Repeats", "repeat", []string{"M 1-6 Every day remind me to take my medicine."}, []Arg{note("Take my medicine")}, ""},
		{"RepeatsUnsaid", "repeat", []string{"M 1-6 Remind me to take my medicine."}, []Arg{note("Take my medicine")}, repeated},
		{"OrderHeardFromTheFarSide", message, []string{"S 4-5 tell her that", "M 1-6 Anna, the merger is on Friday tell her that"}, []Arg{annaK, text("The merger is on Friday")}, asks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := Query{Tool: tt.tool, Args: tt.args}
			if tt.tool == "repeat" {
				q.Tool, q.Repeats = reminder, true
			}
			got := talk(1, tt.lines...).finding(t, q)
			if worst(got.Evidence) != mine {
				t.Fatalf("not even the owner's: %+v", got.Evidence)
			}
			if all := strings.Join(got.Doubts, " "); (all == "") != (tt.want == "") || !strings.Contains(all, tt.want) {
				t.Errorf("doubts %q, want %q", got.Doubts, tt.want)
			}
		})
	}
}

// One word of the far side is enough.
func TestFinder_OneWord(t *testing.T) {
	for _, lines := range [][]string{
		{"M 1-4 Tell Bob that I agree to the price of the boat.", "S 6-7 Refuse! Say refuse."},
		{"S 1-2 Refuse, I say.", "M 4-8 Tell Bob that I agree to the price of the boat."},
	} {
		got := talk(1, lines...).find(t, Query{Tool: message, Args: []Arg{bobN, text("I refuse to agree to the price of the boat")}})
		if got[1].Source != theirs {
			t.Errorf("%+v", got[1])
		}
	}
}

func TestFinder_LongAgo(t *testing.T) {
	m := talk(1, "M 1-2 hello")
	m.add(2, hearken.SessionConfig{Capture: true}, "local", time.Hour, "M 1-4 Tell Anna that I am late.")
	got := m.finding(t, Query{Tool: message, Args: []Arg{annaK, text("I am late")}, Claim: &Claim{Session: id(2), Segments: []string{"s1"}}})
	if worst(got.Evidence) != mine || !strings.Contains(strings.Join(got.Doubts, " "), "ten minutes ago") {
		t.Errorf("%+v", got)
	}
}

// behind is a hub whose far side is final up to a second, and perhaps tells
// more when it is asked.
type behind struct {
	*memory
	through, most float64
	asked         []float64
}

func (b *behind) FinalUntil(_ context.Context, _ string, until float64) (float64, bool) {
	if until > b.through {
		b.asked = append(b.asked, until)
		b.through = max(b.through, min(until, b.most))
	}
	return b.through, !math.IsInf(b.through, 1)
}

// TestFinder_Behind has words of this side whose echo nobody can know yet.
func TestFinder_Behind(t *testing.T) {
	q := Query{Tool: message, Now: now, Args: []Arg{annaK, text("I am late")}}
	for _, tt := range []struct {
		name          string
		through, most float64
		granted       bool
		asked         int
	}{
		{"Final", 14, 14, true, 0},
		{"OneSide", math.Inf(1), 0, true, 0},
		{"Behind", 13.9, 13.9, false, 1},
		{"BehindAndThenNot", 2, 20, true, 1},
		{"Stuck", 0, 0, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &behind{memory: talk(1, "M 10-14 Tell Anna that I am late."), through: tt.through, most: tt.most}
			got, err := New(b).Find(t.Context(), q)
			if err != nil || got.granted() != tt.granted || len(b.asked) != tt.asked {
				t.Errorf("%+v, asked for %v, %v", got, b.asked, err)
			}
		})
	}
	b := &behind{memory: talk(1, "M 10-14 I never told Anna that I am late."), through: 2, most: 20}
	if got, err := New(b).Find(t.Context(), q); err != nil || got.granted() || len(b.asked) > 0 {
		t.Errorf("though it changes nothing an engine was asked: %+v, %v", b.asked, err)
	}
}

// Sound that was lost may have been the far side's.
func TestFinder_Gap(t *testing.T) {
	for gap, want := range map[string]bool{"E 12-13 [gap: 1.0 s of sound were lost]": false, "E 15-16 [gap: 1.0 s of sound were lost]": true} {
		got := talk(1, "M 10-14 Tell Anna that I am late.", gap).finding(t, Query{Tool: message, Args: []Arg{annaK, text("I am late")}})
		if got.granted() != want {
			t.Errorf("%s: %+v", gap, got)
		}
	}
}

// TestFinder_NothingAdded takes what the owner asked for and adds a word or a
// number that he did not say, wherever and whoever else said it: no grant
// covers that.
func TestFinder_NothingAdded(t *testing.T) {
	own := strings.Fields("meeting garden contract signed lunch harbour umbrella weather boxes apples")
	more := strings.Fields("never cancelled 90 17 password Mallory not transfer ninety twelve kein nunca 送金")
	rapid.Check(t, func(rt *rapid.T) {
		said := rapid.SliceOfNDistinct(rapid.SampledFrom(own), 2, 8, rapid.ID).Draw(rt, "said")
		number := rapid.IntRange(0, 9).Draw(rt, "number")
		said = slices.Insert(said, rapid.IntRange(0, len(said)).Draw(rt, "at"), fmt.Sprint(number))
		added := rapid.SampledFrom(more).Draw(rt, "added")
		lines := []string{"M 10-14 Tell Anna " + strings.Join(said, " ")}
		far := rapid.Bool().Draw(rt, "far")
		if far {
			lines = append(lines, "S 20-21 "+added)
		}
		if rapid.Bool().Draw(rt, "elsewhere") {
			lines = append(lines, "M 120-121 "+added)
		}
		q := Query{Tool: message, Args: []Arg{annaK, text(strings.Join(said, " "))}}
		if got := talk(1, lines...).finding(rt, q); !got.granted() {
			rt.Fatalf("as it was said: %q: %+v", lines, got)
		}
		changed := slices.Insert(slices.Clone(said), rapid.IntRange(0, len(said)).Draw(rt, "where"), added)
		q.Args[1] = text(strings.Join(changed, " "))
		got := talk(1, lines...).finding(rt, q)
		if got.granted() || far && got.Evidence[1].Source != theirs {
			rt.Fatalf("%q of %q: %+v", q.Args[1].Value, lines, got)
		}
	})
}
