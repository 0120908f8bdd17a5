package calendar

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// For any text, lines are short, have whole characters and nothing that iCalendar
// forbids, and the text is read back.
func TestWriter_Text(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := strings.Repeat(rapid.String().Draw(t, "said"), rapid.IntRange(1, 20).Draw(t, "times"))
		w := &icalWriter{}
		w.line("BEGIN", "VCALENDAR")
		w.line("BEGIN", event)
		w.text("DESCRIPTION", said)
		w.line("END", event)
		w.line("END", "VCALENDAR")
		file := w.b.String()
		if !utf8.ValidString(file) {
			t.Error("not UTF-8")
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(file, "\r\n"), "\r\n") {
			if len(line) > 75 {
				t.Errorf("%d octets in a line", len(line))
			}
			if !utf8.ValidString(line) {
				t.Error("a character was cut")
			}
			if strings.ContainsAny(line, "\r\n\x00\x1b\u202e") {
				t.Errorf("line holds what it may not: %q", line)
			}
		}
		read := parseComponents(file)
		if len(read) != 1 {
			t.Fatalf("read %d components", len(read))
		}
		if got := read[0].text("DESCRIPTION"); got != cleanText(said) {
			t.Errorf("read %q for %q", got, cleanText(said))
		}
	})
}

func TestCleanText(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"a\r\nb\rc\nd\u2028e", "a\nb\nc\nd\ne"},
		{"bell\a, escape\x1b[31m, C1\u0085", "bell, escape[31m, C1"},
		{"invoice\u202Efdp.exe\u202C \u2066x\u2069\u200F", "invoicefdp.exe x"},
		{"\xff\xfe broken", "\uFFFD broken"},
		{"朝ラン 👩\u200D🚀 Žaneta می\u200Cخواهم", "朝ラン 👩\u200D🚀 Žaneta می\u200Cخواهم"}, // joiners belong to words
		{"END:VEVENT\r\nBEGIN:VEVENT", "END:VEVENT\nBEGIN:VEVENT"},
	} {
		if got := cleanText(tt.said); got != tt.want {
			t.Errorf("cleanText(%q) = %q, want %q", tt.said, got, tt.want)
		}
	}
	if got := shortLine(strings.Repeat("ž", 300), 200); utf8.RuneCountInString(got) != 200 || !strings.HasSuffix(got, "…") {
		t.Errorf("the line is %d long: %q", utf8.RuneCountInString(got), got)
	}
}

// A line that cannot be read does not affect the others: the hub must recognise
// its own entry even if the server damaged a line of it.
func TestParseComponents_BadLine(t *testing.T) {
	for _, bad := range []string{"no colon", "X;A=b", `X;A="open:b`, "X;=:", strings.Repeat("x", 1<<20)} {
		read := parseComponents("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + bad + "\r\nUID:evt_1@hearken\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
		if len(read) != 1 || read[0].text("UID") != "evt_1@hearken" {
			t.Errorf("with the line %.20q: %+v", bad, read)
		}
	}
}

// FuzzParseComponents checks that no data of a server makes the parser panic.
func FuzzParseComponents(f *testing.F) {
	f.Add("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY;X=\"a:b;c\":x\\, y\r\n z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	f.Add("END:VEVENT\nEND:\nBEGIN:A\nBEGIN:VTODO\nDURATION:P1DT2H\nDTSTART;TZID=Europe/Berlin:20260101T000000\n")
	f.Fuzz(func(t *testing.T, data string) {
		for _, c := range parseComponents(data) {
			c.content()
		}
	})
}

func TestParseProperty(t *testing.T) {
	p, ok := parseProperty(`attendee;CN="Doe; Jane: boss";ROLE=CHAIR:mailto:jane@example.org`)
	if !ok || p.name != "ATTENDEE" || p.params["CN"] != "Doe; Jane: boss" || p.params["ROLE"] != "CHAIR" || p.value != "mailto:jane@example.org" {
		t.Errorf("read %+v, %t", p, ok)
	}
	for _, bad := range []string{"", "no colon", ":value", `X;A="open:b`, "X;A=b"} {
		if p, ok := parseProperty(bad); ok {
			t.Errorf("%q was read as %+v", bad, p)
		}
	}
}
