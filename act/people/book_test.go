package people

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hearken-dev/hearken"
)

// shelf is a contact book in memory.
type shelf []hearken.Contact

func (s shelf) Contacts(context.Context) ([]hearken.Contact, error) { return s, nil }

var folk = shelf{
	{ID: "1", Name: "Bob Novák", Aliases: []string{"Bobby"}, Emails: []string{"bob@example.com", "b@work.example"}, Phones: []string{"+420601123456"}},
	{ID: "2", Name: "Bob Smith", Phones: []string{"+14155550142"}, Prefer: "sms"},
	{ID: "3", Name: "Žaneta Müller", Emails: []string{"zaneta@müller.example"}},
	{ID: "4", Name: "Alice Owner", Aliases: []string{"Ali"}, Emails: []string{"alice@example.org"}, Me: true},
	{ID: "5", Name: "佐藤 健", Aliases: []string{"さとう たける", "佐藤"}, Emails: []string{"sato@example.jp"}, Phones: []string{"+819012345678"}, Prefer: "sms"},
	{ID: "6", Name: "John O'Neil-Carter", Emails: []string{"john@example.net"}},
	{ID: "7", Name: "John Carter", Emails: []string{"jc@example.net"}},
	{ID: "8", Name: "Twin Name", Emails: []string{"one@example.net"}},
	{ID: "9", Name: "Twin Name", Emails: []string{"two@example.net"}},
	{ID: "10", Name: "Silent Sam"},
	{ID: "11", Name: "Mum", Phones: []string{"+420602123456"}},
	{ID: "12", Name: "Broken Entry", Emails: []string{"not an address"}},
}

var everything = []string{email, sms, ntfy, webhook}

func newBook() *Book {
	b := New(folk)
	b.FixedTargets = map[string]FixedTarget{ntfy: {"alices-topic", true}, webhook: {"hooks.example.org", false}}
	b.CallingCode = "420"
	return b
}

func TestBook_Resolve(t *testing.T) {
	const first = "Only a first name was given: "
	for _, tt := range []struct {
		to, platform string
		offered      []string
		want         Recipient
	}{
		{"bob@example.com", "", everything, Recipient{Name: "Bob Novák", Address: "bob@example.com", Platform: email, Known: true}},
		{" Bob@EXAMPLE.com ", "email", everything, Recipient{Name: "Bob Novák", Address: "Bob@example.com", Platform: email, Known: true}},
		{"new@elsewhere.example", "", everything, Recipient{Address: "new@elsewhere.example", Platform: email}},
		{"Bob Novák", "", everything, Recipient{Name: "Bob Novák", Address: "bob@example.com", Platform: email, Known: true}},
		{"bob novak", "", everything, Recipient{Name: "Bob Novák", Address: "bob@example.com", Platform: email, Known: true}},
		{"ＢＯＢＢＹ", "sms", everything, Recipient{Name: "Bob Novák", Address: "+420601123456", Platform: sms, Known: true}},
		{"Bob Novák", "", []string{sms}, Recipient{Name: "Bob Novák", Address: "+420601123456", Platform: sms, Known: true}},
		{"Bob Smith", "", everything, Recipient{Name: "Bob Smith", Address: "+14155550142", Platform: sms, Known: true}},
		{"ZANETA", "", everything, Recipient{
			Name: "Žaneta Müller", Address: "zaneta@xn--mller-kva.example", Platform: email, Known: true,
			Warnings: []string{
				first + "Žaneta Müller is the one contact that has it.",
				`The domain xn--mller-kva.example is displayed as "müller.example". It looks like muller.example but is a different domain.`,
			},
		}},
		{"john oneil carter", "", everything, Recipient{Name: "John O'Neil-Carter", Address: "john@example.net", Platform: email, Known: true}},
		{"me", "", everything, Recipient{Name: "Alice Owner", Address: "alice@example.org", Platform: email, Known: true, Own: true}},
		{"Myself", "", []string{ntfy}, Recipient{Name: "Alice Owner", Address: "alices-topic", Platform: ntfy, Known: true, Own: true}},
		{"私", "email", everything, Recipient{Name: "Alice Owner", Address: "alice@example.org", Platform: email, Known: true, Own: true}},
		{"自分", "ntfy", everything, Recipient{Name: "Alice Owner", Address: "alices-topic", Platform: ntfy, Known: true, Own: true}},
		{"佐藤さん", "", everything, Recipient{Name: "佐藤 健", Address: "+819012345678", Platform: sms, Known: true}},
		{"さとう　たける", "email", everything, Recipient{Name: "佐藤 健", Address: "sato@example.jp", Platform: email, Known: true}},
		{"佐藤 健", "", []string{email}, Recipient{
			Name: "佐藤 健", Address: "sato@example.jp", Platform: email, Known: true, Warnings: []string{"佐藤 健 prefers sms, which is not available."},
		}},
		{"+420 601 123 456", "", everything, Recipient{Name: "Bob Novák", Address: "+420601123456", Platform: sms, Known: true}},
		{"00420 777/123-456", "", everything, Recipient{Address: "+420777123456", Platform: sms}},
		{"601 123 456", "", everything, Recipient{Name: "Bob Novák", Address: "+420601123456", Platform: sms, Known: true}},
		{"＋４２０６０１１２３４５６", "", everything, Recipient{Name: "Bob Novák", Address: "+420601123456", Platform: sms, Known: true}},
		{"mum", "text", everything, Recipient{Name: "Mum", Address: "+420602123456", Platform: sms, Known: true}},
		{"ntfy", "", everything, Recipient{Address: "alices-topic", Platform: ntfy, Known: true, Own: true}},
		{"hooks.example.org", "webhook", everything, Recipient{Address: "hooks.example.org", Platform: webhook, Known: true}},
		{"Silent Sam", "webhook", everything, Recipient{Name: "Silent Sam", Address: "hooks.example.org", Platform: webhook, Known: true}},
	} {
		got, err := newBook().Resolve(t.Context(), tt.to, tt.platform, tt.offered)
		if err != nil {
			t.Errorf("%q by %q: %v", tt.to, tt.platform, err)
			continue
		}
		if len(got.Spoken) == 0 {
			t.Errorf("%q: nothing that can have been said", tt.to)
		}
		got.Spoken = nil
		got.Warnings = slices.DeleteFunc(got.Warnings, func(w string) bool { return strings.HasPrefix(w, "You have two contacts called ") })
		if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q by %q:\n%s", tt.to, tt.platform, d)
		}
	}
}

func TestBook_Refuses(t *testing.T) {
	for _, tt := range []struct {
		to, platform string
		offered      []string
		code         hearken.Code
		says         string
	}{
		{"", "", everything, hearken.InvalidRecipient, "missing"},
		{" \t ", "", everything, hearken.InvalidRecipient, "missing"},
		{strings.Repeat("b", 400), "", everything, hearken.InvalidRecipient, "longer"},
		{"\xff", "", everything, hearken.InvalidRecipient, "UTF-8"},
		{"bob@example.com\r\nBcc: eve@evil.example", "", everything, hearken.InvalidRecipient, "a line break (U+000D)"},
		{"Bob\u2028Novák", "", everything, hearken.InvalidRecipient, "a line break (U+2028)"},
		{"bob\u202e@example.com", "", everything, hearken.InvalidRecipient, "direction of text (U+202E)"},
		{"bob\u200b@example.com", "", everything, hearken.InvalidRecipient, "invisible character (U+200B)"},
		{"Bob\u00ad Novák", "", everything, hearken.InvalidRecipient, "invisible character (U+00AD)"},
		{"Bob\u3164", "", everything, hearken.InvalidRecipient, "invisible character (U+3164)"},
		{"Bob\U000E0041", "", everything, hearken.InvalidRecipient, "invisible character (U+E0041)"},
		{"Bob\x00", "", everything, hearken.InvalidRecipient, "a control character (U+0000)"},
		{"bob@example.com, eve@evil.example", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"bob@example.com;eve@evil.example", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"bob@example.com eve@evil.example", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"Bob Novák and Mum", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"Bob Novák, Mum", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"Bob <eve@evil.example>", "", everything, hearken.InvalidRecipient, "one recipient"},
		{"Bob<eve@evil.example>", "", everything, hearken.InvalidRecipient, "more than the address"},
		{"mailto:bob@example.com?bcc=eve@evil.example", "", everything, hearken.InvalidRecipient, "more than the address"},
		{`"bob"@example.com`, "", everything, hearken.InvalidRecipient, "more than the address"},
		{"bob@localhost", "", everything, hearken.InvalidRecipient, "not complete"},
		{"bob@127.0.0.1", "", everything, hearken.InvalidRecipient, "a number"},
		{"bob@[127.0.0.1]", "", everything, hearken.InvalidRecipient, "more than"},
		{"bob@exa_mple.com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@-example.com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@example..com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@xn--a.com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@xn--bcher-kva-.com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@xn--Bcher-KVA.xn--com-.com", "", everything, hearken.InvalidRecipient, "not valid"},
		{"bob@ｅxample.com", "", everything, hearken.InvalidRecipient, "stand for others"},
		{"bob＠example.com", "", everything, hearken.InvalidRecipient, "a name, an @ and a domain"},
		{".bob@example.com", "", everything, hearken.InvalidRecipient, "before @"},
		{"a@b@example.com", "", everything, hearken.InvalidRecipient, "a name, an @"},
		{"https://evil.example/hook", "webhook", everything, hearken.InvalidRecipient, "neither a name"},
		{"911", "", everything, hearken.InvalidRecipient, "short or emergency"},
		{"112", "sms", everything, hearken.InvalidRecipient, "short or emergency"},
		{"+1911", "", everything, hearken.InvalidRecipient, "short or emergency"},
		{"+1 900 555 0123", "", everything, hearken.InvalidRecipient, "premium"},
		{"+49 900 1234567", "", everything, hearken.InvalidRecipient, "premium"},
		{"900 123 456", "", everything, hearken.InvalidRecipient, "premium"},
		{"+1 415 976 0142", "", everything, hearken.InvalidRecipient, "premium"},
		{"+4206011234567890", "", everything, hearken.InvalidRecipient, "too many"},
		{"+0601123456", "", everything, hearken.InvalidRecipient, "too few or too many"},
		{"bob@example.com", "sms", everything, hearken.InvalidRecipient, "sms cannot reach"},
		{"bob@example.com", "ntfy", everything, hearken.InvalidRecipient, "only the target"},
		{"Bob Novák", "ntfy", everything, hearken.InvalidRecipient, "only the target"},
		{"Broken Entry", "", everything, hearken.InvalidRecipient, "not one email address"},

		{"Bob", "", everything, hearken.AmbiguousRecipient, "2 contacts match: Bob Novák (email b***@example.com), Bob Smith (sms …42)."},
		{"Twin Name", "", everything, hearken.AmbiguousRecipient, "Twin Name (email o***@example.net), Twin Name (email t***@example.net)"},
		{"John", "", everything, hearken.AmbiguousRecipient, "2 contacts match"},
		{"Bob Nowak", "", everything, hearken.UnknownRecipient, "Similar names: Bob Novák"},
		{"Jon Carter", "", everything, hearken.UnknownRecipient, "Similar names: John Carter"},
		{"Robert", "", everything, hearken.UnknownRecipient, "No contact has that name"},
		{"Novák", "", everything, hearken.UnknownRecipient, ""},
		{"健", "", everything, hearken.UnknownRecipient, ""},
		{"x", "", everything, hearken.UnknownRecipient, ""},
		{"another-topic", "ntfy", everything, hearken.UnknownRecipient, ""},

		{"Mum", "email", everything, "no_email_address", "Mum has no email address"},
		{"Žaneta Müller", "sms", everything, "no_sms_address", "has no phone number"},
		{"Silent Sam", "", everything, "no_email_address", "Silent Sam has no"},
		{"Bob Novák", "sms", []string{email}, hearken.ConnectorMissing, "TWILIO_ACCOUNT_SID"},
		{"bob@example.com", "", []string{sms}, hearken.ConnectorMissing, "SMTP_HOST"},
		{"Mum", "", []string{email}, hearken.ConnectorMissing, "TWILIO_ACCOUNT_SID"},
		{"Bob Novák", "", nil, hearken.ConnectorMissing, "SMTP_HOST"},
		{"me", "webhook", []string{email}, hearken.ConnectorMissing, "WEBHOOK_URL"},
		{"Bob Novák", "pigeon", everything, hearken.Invalid, "Unknown platform"},
	} {
		r, err := newBook().Resolve(t.Context(), tt.to, tt.platform, tt.offered)
		if hearken.CodeOf(err) != tt.code {
			t.Errorf("%q by %q: %v, %+v, want %s", tt.to, tt.platform, err, r, tt.code)
		} else if !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q by %q: %q does not hold %q", tt.to, tt.platform, err, tt.says)
		}
	}
}

func TestBook_NoOwner(t *testing.T) {
	b := New(folk[:1])
	if _, err := b.Resolve(t.Context(), "me", "", everything); hearken.CodeOf(err) != hearken.UnknownRecipient {
		t.Error(err)
	}
	b.FixedTargets = map[string]FixedTarget{ntfy: {Address: "topic"}}
	if r, err := b.Resolve(t.Context(), "me", "ntfy", everything); err != nil || r.Address != "topic" {
		t.Errorf("%+v, %v", r, err)
	}
	// Without a calling code a local number is nobody's.
	if _, err := b.Resolve(t.Context(), "601 123 456", "", everything); hearken.CodeOf(err) != hearken.InvalidRecipient || !strings.Contains(err.Error(), "COUNTRY_CODE") {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Contacts(context.Context) ([]hearken.Contact, error) { return nil, errors.New("no disk") }

func TestBook_NoStore(t *testing.T) {
	if _, err := New(broken{}).Resolve(t.Context(), "Bob", "", everything); err == nil || hearken.CodeOf(err) != "" {
		t.Error(err)
	}
}

// TestBook_LookAlike has every caution said, and none to honest addresses.
func TestBook_LookAlike(t *testing.T) {
	for address, says := range map[string]string{
		"bob@exаmple.com":                "mixes Cyrillic and Latin letters",
		"bob@аррӏе.com":                  `xn--80ak6aa92e.com is displayed as "аррӏе.com". It looks like apple.com`,
		"bob@xn--80ak6aa92e.com":         "looks like apple.com",
		"bob@bücher.example":             `xn--bcher-kva.example is displayed as "bücher.example"`,
		"bob@日本語.jp":                     `xn--wgv71a119e.jp is displayed as "日本語.jp".`,
		"bob@examp1e.com":                "looks like example.com, which your contact Bob Novák",
		"bob@exarnple.com":               "looks like example.com, which your contact Bob Novák",
		"bob@exmaple.com":                "looks like example.com, which your contact Bob Novák",
		"bobb@example.com":               "like that of your contact Bob Novák (b***@example.com) but is a different one",
		"b0b@example.com":                "like that of your contact Bob Novák (b***@example.com) but is a different one",
		"bоb@example.net.example":        "before @ mixes Cyrillic and Latin letters",
		"bob@xn--mller-kva.example.test": "is displayed as",
		"boris@example.com":              "",
		"bob@unrelated.example":          "",
		"bob@日本ドメイン.jp":                  `is displayed as "日本ドメイン.jp".`,
	} {
		r, err := newBook().Resolve(t.Context(), address, "", everything)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		got := strings.Join(r.Warnings, " ")
		if !strings.Contains(got, says) || says == "" && got != "" {
			t.Errorf("%s: %q, want %q", address, got, says)
		}
		if r.Known {
			t.Errorf("%s is known", address)
		}
		if _, domain, _ := strings.Cut(r.Address, "@"); !isASCII(domain) {
			t.Errorf("%s goes to %s", address, r.Address)
		}
	}
}

func TestSpoken(t *testing.T) {
	want := []string{"Alice Owner", "Alice", "Ali", "alice@example.org", "me", "myself", "私", "自分", "わたし"}
	if d := cmp.Diff(want, spokenNames(folk[3])); d != "" {
		t.Error(d)
	}
	if got := spokenNames(hearken.Contact{Name: "Mum", Aliases: []string{"Mum", ""}}); !slices.Equal(got, []string{"Mum"}) {
		t.Error(got)
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"Žaneta", "zaneta", true}, {"ŁUKASZ", "lukasz", true}, {"Straße", "strasse", true}, {"Jean-Luc", "jean luc", true},
		{"O’Neil", "oneil", true}, {"Ёлкин", "елкин", true}, {"ﾀﾅｶ", "タナカ", true}, {"  a \u00a0 b", "a b", true},
		{"かき", "がき", false}, {"ハハ", "パパ", false}, {"Bob", "Bop", false},
	} {
		if got := fold(tt.a) == fold(tt.b); got != tt.same {
			t.Errorf("%q (%q) and %q (%q) are the same: %t", tt.a, fold(tt.a), tt.b, fold(tt.b), got)
		}
	}
}

func TestAsciiDomain(t *testing.T) {
	for shown, encoded := range map[string]string{
		"bücher": "bcher-kva", "münchen": "mnchen-3ya", "日本語": "wgv71a119e", "παράδειγμα": "hxajbheg2az3al", "пример": "e1afmkfd",
		"他们为什么不说中文": "ihqwcrb4cv8a8dqg056pqjye", "почемужеонинеговорятпорусски": "b1abfaaepdrnnbgefbadotcwatmq2g4l",
	} {
		want := "xn--" + encoded + ".example"
		for _, domain := range []string{shown + ".example", want, strings.ToUpper(want)} {
			if got, err := asciiDomain(domain); err != nil || got != want {
				t.Errorf("%s is %s, %v, want %s", domain, got, err, want)
			}
		}
		if got := unicodeDomain(want); got != shown+".example" {
			t.Errorf("%s is shown as %q, want %q", want, got, shown)
		}
	}
	for domain, want := range map[string]string{
		"ab--cd.com": "ab--cd.com", "r3---sn.example.com": "r3---sn.example.com", "1and1.אבג.com": "1and1.xn--4dbcd.com", "3com.com": "3com.com",
	} {
		if got, err := asciiDomain(domain); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", domain, got, err, want)
		}
	}
	for _, bad := range []string{
		"xn--99999999", "xn--!", "xn--a-!", "xn--ü", "xn--" + strings.Repeat("a", 300), "xn--", "xn--abc-", "xn--abc",
		"a_b", "-a", "a-", "a b", "☃", "a\u200db", "a\u3164b", "ｅ", strings.Repeat("a", 64), "", "a..b",
	} {
		if got, err := asciiDomain(bad + ".example"); err == nil {
			t.Errorf("%.20q is %q", bad, got)
		}
	}
	for _, bad := range []string{"example", "example.", "example.123", strings.Repeat("a.", 127) + "example"} {
		if got, err := asciiDomain(bad); err == nil {
			t.Errorf("%.20q is %q", bad, got)
		}
	}
}

// FuzzResolve has whatever is found be one plain address of its platform.
func FuzzResolve(f *testing.F) {
	for _, to := range []string{"Bob", "bob@example.com", "+420 601", "bob@аррӏе.com", "Bob\r\n", "me", "a@b@c", "bob@xn--0.com", "佐藤さん", "1-900-555", "；"} {
		f.Add(to, "")
		f.Add(to, "sms")
	}
	b := newBook()
	f.Fuzz(func(t *testing.T, to, platform string) {
		r, err := b.Resolve(t.Context(), to, platform, everything)
		if err != nil {
			if hearken.CodeOf(err) == "" {
				t.Fatal(err)
			}
			return
		}
		switch r.Platform {
		case email:
			local, domain, ok := strings.Cut(r.Address, "@")
			if !ok || !isASCII(domain) || strings.ContainsAny(r.Address, " ,;<>\r\n\"\\") || strings.Contains(domain, "@") || !localPart(local) {
				t.Fatalf("%q goes to %q", to, r.Address)
			}
		case sms:
			if r.Address[0] != '+' || len(r.Address) < 8 || len(r.Address) > 16 || strings.Trim(r.Address[1:], "0123456789") != "" {
				t.Fatalf("%q goes to %q", to, r.Address)
			}
		case ntfy, webhook:
			if r.Address != b.FixedTargets[r.Platform].Address {
				t.Fatalf("%q goes to %q", to, r.Address)
			}
		default:
			t.Fatalf("%q goes by %q", to, r.Platform)
		}
		if r.Known == false && r.Name != "" {
			t.Fatalf("%q is %+v", to, r)
		}
		for _, c := range r.Warnings {
			if checkRecipient(strings.ToValidUTF8(c[:min(len(c), 200)], "")) != nil {
				t.Fatalf("caution %q", c)
			}
		}
	})
}
