package people

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hearken-dev/hearken"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

// crlf ends lines as the standard wants it.
func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestParseVCards(t *testing.T) {
	sjis, err := japanese.ShiftJIS.NewEncoder().String("ソニー;表示") // whose second bytes are \
	if err != nil {
		t.Fatal(err)
	}
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Žaneta\r\nEMAIL:z@x.example\r\nUID:u16\r\nEND:VCARD\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		file string
		want []hearken.Contact
	}{
		"iPhone": {crlf(`BEGIN:VCARD
VERSION:3.0
PRODID:-//Apple Inc.//iPhone OS 17.0//EN
N:Novák;Bob;;;
FN:Bob Novák
NICKNAME:Bobby,B\, the Great
ORG:ACME\, s.r.o.;
item1.EMAIL;type=INTERNET:second@x.example
item1.X-ABLabel:_$!<Other>!$_
item2.EMAIL;type=INTERNET;type=HOME;type=pref:first@x.example
TEL;type=CELL;type=VOICE:+420 601 123 456
TEL;type=WORK;type=FAX:+420 222 222 222
NOTE:Line one\nEMAIL:not@this.example
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD/4gIoSUNDX1BST0ZJTEUAAQEAAA
 IYAAAAAAIQAABtbnRyUkdCIFhZWiAAAAAAAAAAAAAAAABhY3NwAAAAAAAAAAAAAAAAAAAA
UID:8A5B7C3E-0000-4000-8000-0123456789AB
END:VCARD
`), []hearken.Contact{{
			ID: "8A5B7C3E-0000-4000-8000-0123456789AB", Name: "Bob Novák", Aliases: []string{"Bobby", "B, the Great"},
			Emails: []string{"first@x.example", "second@x.example"}, Phones: []string{"+420601123456"},
		}}},
		"Android21": {`BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C5=BDlu=C5=A5ou=C4=8Dk=C3=BD;K=C5=AF=C5=88;;;
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4B=C5=AF=C5=88=20=C5=BD=6C=75=C5=A5=
=6F=75=C4=8D=6B=C3=BD
TEL;CELL;PREF:601 123 457
TEL;HOME:601123456
EMAIL;HOME:kun@x.example
PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQSkZJRg==

END:VCARD
`, []hearken.Contact{{
			Name: "Kůň Žluťoučký", Emails: []string{"kun@x.example"}, Phones: []string{"+420601123457", "+420601123456"},
		}}},
		"Version4": {crlf(`BEGIN:VCARD
VERSION:4.0
UID:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6
FN;PREF=1:Zoë Long-Name-That-Is-
 Folded
TEL;VALUE=uri;PREF=2;TYPE="voice,home":tel:+1-415-555-0142;ext=5
TEL;VALUE=uri;PREF=1;TYPE="voice,cell":tel:+1-415-555-0143
EMAIL;PREF=50;TYPE=work:work@x.example
EMAIL;PREF=2;TYPE=home:mailto:home@x.example
END:VCARD
`), []hearken.Contact{{
			ID: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", Name: "Zoë Long-Name-That-Is-Folded",
			Emails: []string{"home@x.example", "work@x.example"}, Phones: []string{"+14155550143", "+14155550142"},
		}}},
		"JapaneseKeitai": {"BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=SHIFT_JIS:" + sjis + "\r\nSOUND;X-IRMC-N;CHARSET=SHIFT_JIS:\xbf\xc6\xb0;\xcb\xae\xb3\xbc\xde\r\nTEL;CELL:+81 90-1234-5678\r\nEND:VCARD\r\n", []hearken.Contact{{
			Name: "ソニー 表示", Aliases: []string{"ｿﾆｰ ﾋｮｳｼﾞ", "ソニー", "表示"}, Phones: []string{"+819012345678"},
		}}},
		"JapaneseApple": {`BEGIN:VCARD
VERSION:3.0
N:佐藤;健;;;
FN:佐藤 健
X-PHONETIC-FIRST-NAME:たける
X-PHONETIC-LAST-NAME:さとう
EMAIL:sato@x.example
UID:jp
END:VCARD
`, []hearken.Contact{{ID: "jp", Name: "佐藤 健", Aliases: []string{"さとう たける", "佐藤", "健"}, Emails: []string{"sato@x.example"}}}},
		"NoFN":       {"BEGIN:VCARD\nN:Doe;Jane;Q.;;\nEMAIL:jane@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane Q. Doe", Emails: []string{"jane@x.example"}}}},
		"Company":    {"BEGIN:VCARD\nN:;;;;\nFN:\nORG:ACME;Sales\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "ACME Sales", Emails: []string{"a@x.example"}}}},
		"NoName":     {"BEGIN:VCARD\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "a@x.example", Emails: []string{"a@x.example"}}}},
		"Reversed":   {"BEGIN:VCARD\nFN:Doe\\, Jane\nN:Doe;Jane;;;\nEMAIL:a@x.example\nUID:a\nEND:VCARD", []hearken.Contact{{ID: "a", Name: "Doe, Jane", Aliases: []string{"Jane Doe"}, Emails: []string{"a@x.example"}}}},
		"LowerCase":  {"begin:vcard\nversion:3.0\nfn:Jane\nemail;type=internet:a@x.example\nuid:a\nend:vcard\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"CROnly":     {"BEGIN:VCARD\rFN:Jane\rEMAIL:a@x.example\rUID:a\rEND:VCARD\r", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"BOM":        {"\ufeffBEGIN:VCARD\nFN:Jane\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"UTF16":      {utf16, []hearken.Contact{{ID: "u16", Name: "Žaneta", Emails: []string{"z@x.example"}}}},
		"Latin1":     {"BEGIN:VCARD\nFN:J\xfcrgen\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jürgen", Emails: []string{"a@x.example"}}}},
		"Charset":    {"BEGIN:VCARD\nFN;CHARSET=WINDOWS-1250:\x8eaneta\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Žaneta", Emails: []string{"a@x.example"}}}},
		"Quoted":     {"BEGIN:VCARD\nFN;X-NOTE=\"a:b;c\":Jane\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"Hidden":     {"BEGIN:VCARD\nFN:Ja\u202ene\u200b\\nDoe\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane Doe", Emails: []string{"a@x.example"}}}},
		"Agent":      {"BEGIN:VCARD\nFN:Jane\nAGENT:\nBEGIN:VCARD\nFN:Agent\nEMAIL:agent@x.example\nEND:VCARD\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"Group":      {"BEGIN:VCARD\nKIND:group\nFN:Team\nEMAIL:t@x.example\nEND:VCARD\nBEGIN:VCARD\nFN:Jane\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"IDN":        {"BEGIN:VCARD\nFN:Jane\nEMAIL:a@Bücher.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@xn--bcher-kva.example"}}}},
		"Twice":      {"BEGIN:VCARD\nFN:Jane\nEMAIL:a@x.example\nEMAIL:A@X.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"FoldedHead": {"BEGIN:VCARD\nFN:Jane\nEMAIL;TYPE=HO\n ME;TYPE=PREF:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: "Jane", Emails: []string{"a@x.example"}}}},
		"OldSlash":   {"BEGIN:VCARD\nVERSION:2.1\nFN:C:\\news\nEMAIL:a@x.example\nUID:a\nEND:VCARD\n", []hearken.Contact{{ID: "a", Name: `C:\news`, Emails: []string{"a@x.example"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := ParseVCards(strings.NewReader(tt.file), "420")
			if err != nil || len(notes) > 0 {
				t.Fatal(err, notes)
			}
			for i := range got {
				if i < len(tt.want) && tt.want[i].ID == "" && strings.HasPrefix(got[i].ID, "card-") {
					got[i].ID = ""
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseVCards_LeftOut(t *testing.T) {
	const file = `junk before
BEGIN:VCARD
FN:No Address
END:VCARD
BEGIN:VCARD
FN:Bad Address
EMAIL:a@b@c
EMAIL:good@x.example
UID:1
END:VCARD
BEGIN:VCARD
FN:Local
TEL:601 123 456
END:VCARD
BEGIN:VCARD
FN:Premium
TEL:+1 900 555 0123
EMAIL:p@x.example
UID:2
END:VCARD
BEGIN:VCARD
FN:Same
EMAIL:p@x.example
UID:2
END:VCARD
BEGIN:VCARD
TEL:+420601123456
END:VCARD
BEGIN:VCARD
FN:Not Ended
EMAIL:open@x.example
UID:4
BEGIN:VCARD
FN:Cut Off
EMAIL:cut@x.example
UID:3`
	got, notes, err := ParseVCards(strings.NewReader(file), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []hearken.Contact{
		{ID: "1", Name: "Bad Address", Emails: []string{"good@x.example"}},
		{ID: "2", Name: "Premium", Emails: []string{"p@x.example"}},
		{ID: "4", Name: "Not Ended", Emails: []string{"open@x.example"}},
		{ID: "3", Name: "Cut Off", Emails: []string{"cut@x.example"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for i, says := range []string{
		"Line 2: No Address has neither", `Line 5: "a@b@c" of Bad Address was left out: it is not a name`,
		`Line 11: "601 123 456" of Local was left out: it has no country code`, "Line 11: Local has neither", `Line 15: "+1 900 555 0123" of Premium was left out: it is a premium-rate`,
		"Line 21: Same is in the file twice", "Line 26: the card has no name", "Line 29: the card has no end", "Line 33: the card has no end",
	} {
		if i >= len(notes) || !strings.Contains(notes[i], says) {
			t.Fatalf("note %d is not %q: %q", i, says, notes)
		}
	}
}

func TestParseVCards_Bounds(t *testing.T) {
	for name, file := range map[string]string{"Empty": "", "Junk": "\x00\x01\xff", "Image": "\x89PNG\r\n\x1a\n", "NoCard": "FN:x\nEND:VCARD\n"} {
		if _, _, err := ParseVCards(strings.NewReader(file), ""); hearken.CodeOf(err) != hearken.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b strings.Builder
	for i := range maxContacts + 2 {
		fmt.Fprintf(&b, "BEGIN:VCARD\nFN:n\nEMAIL:a%d@x.example\nEND:VCARD\n", i)
	}
	if _, _, err := ParseVCards(strings.NewReader(b.String()), ""); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("too many: %v", err)
	}
	// A picture of 8 MB costs nothing, and what stands behind it is read.
	b.Reset()
	b.WriteString("BEGIN:VCARD\nFN:Jane\nPHOTO;ENCODING=b:\n")
	for range 100_000 {
		b.WriteString(" " + strings.Repeat("A", 80) + "\n")
	}
	b.WriteString("EMAIL:a@x.example\nUID:a\nEND:VCARD\nBEGIN:VCARD\nFN:" + strings.Repeat("ž", 1<<20) + "\nEMAIL:b@x.example\nUID:b\n")
	for i := range 100 {
		fmt.Fprintf(&b, "TEL:+4206011234%02d\nNICKNAME:n%d\n", i, i)
	}
	b.WriteString("END:VCARD\n")
	got, notes, err := ParseVCards(strings.NewReader(b.String()), "")
	if err != nil || len(got) != 2 || got[0].Emails[0] != "a@x.example" {
		t.Fatal(err, len(got))
	}
	if c := got[1]; len(c.Name) > maxName || !utf8.ValidString(c.Name) || len(c.Phones) != maxEach || len(c.Aliases) != maxEach {
		t.Errorf("%d bytes of name, %d numbers, %d aliases", len(c.Name), len(c.Phones), len(c.Aliases))
	}
	if len(notes) > maxNotes+1 || !strings.Contains(notes[len(notes)-1], "more notes are not shown") {
		t.Errorf("%d notes: %s", len(notes), notes[len(notes)-1])
	}
	p := &parser{lines: newLineReader(endless{})}
	p.lines.left = 1 << 20
	if _, _, err := p.parse(); hearken.CodeOf(err) != hearken.Invalid {
		t.Errorf("too large: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestParseVCards_Stable gives the same card the same id, with or without one
// of its own.
func TestParseVCards_Stable(t *testing.T) {
	file := "BEGIN:VCARD\nFN:Jane\nEMAIL:a@x.example\nEND:VCARD\nBEGIN:VCARD\nFN:Joe\nEMAIL:b@x.example\nUID:../../etc/passwd\nEND:VCARD\n"
	one, _, err := ParseVCards(strings.NewReader(file), "")
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := ParseVCards(strings.NewReader(file), "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(one, two); d != "" {
		t.Error(d)
	}
	if one[0].ID == one[1].ID || !idForm.MatchString(one[1].ID) {
		t.Errorf("%s and %s", one[0].ID, one[1].ID)
	}
}

func TestE164(t *testing.T) {
	for _, tt := range []struct{ number, code, want string }{
		{"+420 601 123 456", "", "+420601123456"}, {"00 420 601 123 456", "", "+420601123456"}, {"601123456", "420", "+420601123456"},
		{"(030) 123-4567", "49", "+49301234567"}, {"+49 (0)30 1234567", "", "+49301234567"}, {"030.123.4567", "+49", "+49301234567"},
		{"(415) 555-0142", "1", "+14155550142"}, {"1-415-555-0142", "1", "+14155550142"}, {"090-1234-5678", "81", "+819012345678"},
		{"06 1234 5678", "39", "+390612345678"}, {"8 (912) 345-67-89", "7", "+79123456789"}, {"06 20 123 4567", "36", "+36201234567"},
		{"+683 4002", "", "+6834002"}, {"6 12 34 56 78", "33", "+33612345678"}, {"07700 900123", "44", "+447700900123"},
		{"9123 4567", "65", "+6591234567"},
		{"", "1", ""}, {"911", "1", ""}, {"110", "81", ""}, {"601123456", "", ""}, {"601123456", "CZ", ""}, {"601123456", "0", ""}, {"+1 415 555 014", "", ""},
		{"+1 900 555 0142", "", ""}, {"0900 123456", "49", ""}, {"+44 871 123 4567", "", ""}, {"+979 1234 5678", "", ""}, {"+420 601 12a 456", "", ""},
		{"+420601123456,,1", "", ""}, {"*100#", "", ""}, {"+881 612 345 678", "", ""}, {"++420601123456", "", ""},
	} {
		got, err := e164(tt.number, tt.code)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q in %q: %q, %v, want %q", tt.number, tt.code, got, err, tt.want)
		}
		if err != nil && hearken.CodeOf(err) != hearken.InvalidRecipient {
			t.Errorf("%q: %v", tt.number, err)
		}
	}
}

// FuzzParseVCards has any file be refused or give contacts that are reading.
func FuzzParseVCards(f *testing.F) {
	f.Add([]byte("BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE:=C5=\n=BD\nTEL:601123456\nEND:VCARD"))
	f.Add([]byte("BEGIN:VCARD\r\nN;CHARSET=SHIFT_JIS:\x83\\\x83j;\\;\r\n ;x\r\nitem1.EMAIL;TYPE=\"a:b\":a@b.example\r\nEND:VCARD\r\n"))
	f.Add([]byte("\xff\xfeB\x00E\x00"))
	f.Add([]byte("BEGIN:VCARD\nBEGIN:VCARD\nUID:\\\\\nORG;BASE64:QUJD\nEMAIL:mailto:a@b.example\nEND:VCARD\nEND:VCARD"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, notes, err := ParseVCards(strings.NewReader(string(file)), "420")
		if err != nil {
			return
		}
		if len(notes) > maxNotes+1 {
			t.Fatalf("%d notes", len(notes))
		}
		ids := map[string]bool{}
		for _, c := range got {
			if ids[c.ID] || !idForm.MatchString(c.ID) {
				t.Fatalf("id %q", c.ID)
			}
			ids[c.ID] = true
			if len(c.Emails)+len(c.Phones) == 0 || c.Name == "" {
				t.Fatalf("%+v", c)
			}
			for _, name := range append([]string{c.Name}, c.Aliases...) {
				if checkRecipient(name) != nil || len(name) > maxName {
					t.Fatalf("name %q", name)
				}
			}
			for _, a := range c.Emails {
				if again, _, err := checkEmail(a); err != nil || again != a {
					t.Fatalf("address %q: %v", a, err)
				}
			}
			for _, n := range c.Phones {
				if again, err := e164(n, ""); err != nil || again != n {
					t.Fatalf("number %q: %v", n, err)
				}
			}
		}
		if save, _ := Merge(got, got); len(save) != 0 {
			t.Fatalf("a second import changes %+v", save)
		}
	})
}
