package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hearken-dev/hearken/safetext"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// idnaProfile checks domains as registries do, but for rules that domains in use
// break: hyphens in the third and fourth place, and digits beside labels that
// are written from right to left. It maps nothing: a domain that needs mapping
// is not written as its owner writes it.
var idnaProfile = idna.New(idna.StrictDomainName(true), idna.ValidateLabels(true), idna.CheckHyphens(false), idna.VerifyDNSLength(true))

// asciiDomain returns a domain in the form that servers use: in lower case, and
// with other alphabets as punycode. On top of IDNA it accepts only letters,
// digits, marks and hyphens, one spelling of each label, and nothing invisible.
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
	ascii := strings.Join(labels, ".")
	if _, err := idnaProfile.ToASCII(ascii); err != nil {
		return "", errors.New("the domain is not valid")
	}
	return ascii, nil
}

// asciiLabel returns one label of a domain in ASCII. Punycode is decoded first,
// so that nothing hides in it, and must be the one way to write the label.
func asciiLabel(label string) (string, bool) {
	ascii, err := idnaProfile.ToASCII(label)
	if err != nil || strings.HasPrefix(label, "xn--") && ascii != label {
		return "", false
	}
	shown, err := idnaProfile.ToUnicode(ascii)
	if err != nil || norm.NFKC.String(strings.ToLower(shown)) != shown {
		return "", false
	}
	if strings.HasPrefix(shown, "-") || strings.HasSuffix(shown, "-") {
		return "", false
	}
	for _, r := range shown {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if !letter && r != '-' || safetext.ClassOf(r) != safetext.Visible {
			return "", false
		}
	}
	return ascii, true
}

// unicodeDomain returns an ASCII domain as a mail program shows it.
func unicodeDomain(ascii string) string {
	shown, err := idna.Punycode.ToUnicode(ascii)
	if err != nil {
		return ascii
	}
	return shown
}

// domainWarnings warns of a domain that can be mistaken for another.
func domainWarnings(ascii string) []string {
	shown := unicodeDomain(ascii)
	if shown == ascii {
		return nil
	}
	for label := range strings.SplitSeq(shown, ".") {
		if scripts := scriptsOf(label); mixesScripts(scripts) {
			return []string{fmt.Sprintf("The domain %s is displayed as %q and mixes %s letters, as forged addresses do.",
				ascii, shown, strings.Join(scripts, " and "))}
		}
	}
	if like := skeleton(shown); isASCII(like) && like != shown {
		return []string{fmt.Sprintf("The domain %s is displayed as %q. It looks like %s but is a different domain.", ascii, shown, like)}
	}
	return []string{fmt.Sprintf("The domain %s is displayed as %q.", ascii, shown)}
}

// resemblesKnown warns if an unknown address can be mistaken for a known one.
func (l *lookup) resemblesKnown(address string) []string {
	_, domain, _ := strings.Cut(address, "@")
	shown, whole := lookalikeForm(unicodeDomain(domain)), lookalikeForm(strings.ToLower(address))
	var like []string
	for _, c := range l.all {
		for _, known := range c.Emails {
			checked := strings.ToLower(known)
			if !isASCII(known) {
				checked, _, _ = parseEmail(checked)
			}
			_, theirs, _ := strings.Cut(checked, "@")
			switch {
			case theirs == domain && distance(whole, lookalikeForm(checked), 1) <= 1:
				return []string{fmt.Sprintf("The address looks like that of your contact %s (%s) but is a different one.", c.Name, mask(checked))}
			case theirs != domain && len(domain) >= 6 && distance(shown, lookalikeForm(unicodeDomain(theirs)), 1) <= 1 && like == nil:
				like = []string{fmt.Sprintf("The domain looks like %s, which your contact %s uses, but is a different one.", theirs, c.Name)}
			}
		}
	}
	return like
}

// confusables are letters that look like a Latin one.
var confusables = strings.NewReplacer(
	// Cyrillic
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "ғ", "f", "һ", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m",
	"н", "h", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ", "s", "т", "t", "ц", "u", "ѵ", "v", "ԝ", "w", "х", "x", "у", "y", "ү", "y", "з", "3",
	// Greek
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "σ", "o", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ω", "w",
	// Armenian, Cherokee and Latin itself
	"ո", "n", "ս", "u", "օ", "o", "հ", "h", "ց", "g", "ı", "i", "ɑ", "a", "ɡ", "g", "ɩ", "i", "ʟ", "l", "ł", "l", "ø", "o", "đ", "d",
)

// similarShapes are what a hurried reader mistakes for a letter.
var similarShapes = strings.NewReplacer("0", "o", "1", "l", "rn", "m", "vv", "w", "cl", "d")

// lookalikeForm is a text as a hurried reader sees it.
func lookalikeForm(s string) string { return similarShapes.Replace(skeleton(s)) }

// skeleton replaces letters by the Latin ones that they look like.
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
	return confusables.Replace(b.String())
}

// scriptsOf returns the scripts of a text's letters, sorted.
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

// scriptsUsedTogether are scripts that one language mixes.
var scriptsUsedTogether = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Han", "Hangul", "Latin"},
	{"Bopomofo", "Han", "Latin"},
}

// mixesScripts reports whether no language uses all of these scripts.
func mixesScripts(scripts []string) bool {
	if len(scripts) < 2 {
		return false
	}
	return !slices.ContainsFunc(scriptsUsedTogether, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}
