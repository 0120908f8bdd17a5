package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// asciiDomain writes a domain as servers and wary people read it: in small
// letters, with other alphabets as punycode.
func asciiDomain(domain string) (string, error) {
	domain = norm.NFC.String(strings.ToLower(domain))
	if norm.NFKC.String(domain) != domain {
		return "", errors.New("the domain has characters that stand for others")
	}
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		return "", errors.New("the domain is not complete")
	}
	for i, label := range labels {
		ascii, ok := asciiLabel(label)
		if !ok {
			return "", errors.New("the domain is not valid")
		}
		labels[i] = ascii
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" {
		return "", errors.New("the domain is a number")
	}
	return strings.Join(labels, "."), nil
}

// asciiLabel is one part of a domain, checked. One that comes as punycode is
// read first: there is one way to write a label, and nothing hides in it.
func asciiLabel(label string) (string, bool) {
	if encoded, ok := strings.CutPrefix(label, "xn--"); ok {
		shown, ok := punyDecode(encoded)
		if !ok || isASCII(shown) || punyEncode(shown) != encoded || norm.NFKC.String(strings.ToLower(shown)) != shown {
			return "", false
		}
		label = shown
	}
	for _, r := range label {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if hidden(r) != "" || !letter && r != '-' {
			return "", false
		}
	}
	if !isASCII(label) {
		label = "xn--" + punyEncode(label)
	}
	return label, label != "" && len(label) <= 63 && label[0] != '-' && label[len(label)-1] != '-'
}

// unicodeDomain is an ASCII domain as a mail program would show it.
func unicodeDomain(ascii string) string {
	labels := strings.Split(ascii, ".")
	for i, label := range labels {
		if encoded, ok := strings.CutPrefix(label, "xn--"); ok {
			if shown, ok := punyDecode(encoded); ok {
				labels[i] = shown
			}
		}
	}
	return strings.Join(labels, ".")
}

// domainCautions tell of a domain that can be taken for another.
func domainCautions(ascii string) []string {
	shown := unicodeDomain(ascii)
	if shown == ascii {
		return nil
	}
	for label := range strings.SplitSeq(shown, ".") {
		if scripts := scriptsOf(label); mixed(scripts) {
			return []string{fmt.Sprintf("The domain %s is shown as %q and mixes letters of %s, as forged addresses do.",
				ascii, shown, strings.Join(scripts, " and "))}
		}
	}
	if like := skeleton(shown); isASCII(like) && like != shown {
		return []string{fmt.Sprintf("The domain %s is shown as %q, which looks like %s and is another.", ascii, shown, like)}
	}
	return []string{fmt.Sprintf("The domain %s is shown as %q.", ascii, shown)}
}

// resembles tells of known addresses that one not known can be taken for.
func (s *search) resembles(address string) []string {
	_, domain, _ := strings.Cut(address, "@")
	shown, whole := hurried(unicodeDomain(domain)), hurried(strings.ToLower(address))
	like := ""
	for _, c := range s.all {
		for _, known := range c.Emails {
			checked := strings.ToLower(known)
			if !isASCII(known) {
				checked, _, _ = parseEmail(checked)
			}
			_, theirs, _ := strings.Cut(checked, "@")
			switch {
			case theirs == domain && distance(whole, hurried(checked), 1) <= 1:
				return []string{fmt.Sprintf("The address looks like that of %s in the contact book (%s), and is another.", c.Name, mask(checked))}
			case theirs != domain && len(domain) >= 6 && distance(shown, hurried(unicodeDomain(theirs)), 1) <= 1 && like == "":
				like = fmt.Sprintf("The domain looks like %s, where %s of the contact book is, and is another.", theirs, c.Name)
			}
		}
	}
	if like == "" {
		return nil
	}
	return []string{like}
}

// alike are letters that are drawn as a Latin one.
var alike = strings.NewReplacer(
	// Cyrillic
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "ғ", "f", "һ", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m",
	"н", "h", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ", "s", "т", "t", "ц", "u", "ѵ", "v", "ԝ", "w", "х", "x", "у", "y", "ү", "y", "з", "3",
	// Greek
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "σ", "o", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ω", "w",
	// Armenian, Cherokee and Latin itself
	"ո", "n", "ս", "u", "օ", "o", "հ", "h", "ց", "g", "ı", "i", "ɑ", "a", "ɡ", "g", "ɩ", "i", "ʟ", "l", "ł", "l", "ø", "o", "đ", "d",
)

// shapes are what a hurried reader takes for a letter.
var shapes = strings.NewReplacer("0", "o", "1", "l", "rn", "m", "vv", "w", "cl", "d")

// hurried is how a hurried reader sees a text.
func hurried(s string) string { return shapes.Replace(skeleton(s)) }

// skeleton is a text in Latin letters, as far as others are drawn like them.
func skeleton(s string) string {
	var b strings.Builder
	if isASCII(s) {
		return strings.ToLower(s)
	}
	for _, r := range norm.NFKD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return alike.Replace(b.String())
}

// scriptsOf are the alphabets of a text's letters, sorted.
func scriptsOf(s string) []string {
	var out []string
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		for name, table := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.Is(table, r) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// together are alphabets that one language writes side by side.
var together = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Han", "Hangul", "Latin"},
	{"Bopomofo", "Han", "Latin"},
}

// mixed reports whether no language writes in all of these alphabets.
func mixed(scripts []string) bool {
	if len(scripts) < 2 {
		return false
	}
	return !slices.ContainsFunc(together, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}
