package people

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"golang.org/x/text/unicode/norm"
)

// checkRecipient refuses what cannot be shown as it is: whoever decides must
// see what will be done.
func checkRecipient(to string) error {
	switch {
	case to == "":
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is missing.").WithTry("a name from the contact book, or an address")
	case len(to) > maxTo:
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is longer than %d bytes.", maxTo)
	case !utf8.ValidString(to):
		return hearken.Errorf(hearken.InvalidRecipient, "The recipient is not valid UTF-8.")
	}
	for _, r := range to {
		if what := hidden(r); what != "" {
			return hearken.Errorf(hearken.InvalidRecipient, "The recipient holds %s (U+%04X).", what, r)
		}
	}
	return nil
}

// hidden says what a character is that people do not see, or that changes how
// they see others; empty for all that may be shown.
func hidden(r rune) string {
	switch {
	case r == '\n', r == '\r', r == '\u2028', r == '\u2029', r == '\u0085', r == '\v', r == '\f':
		return "a line break"
	case unicode.Is(unicode.Bidi_Control, r):
		return "a character that turns the direction of text"
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r),
		r == '\u034f', r == '\u115f', r == '\u1160', r == '\u17b4', r == '\u17b5', r == '\u3164', r == '\uffa0', r == '\u2800':
		return "a character that is not seen"
	case !unicode.IsGraphic(r):
		return "a control character"
	}
	return ""
}

// isEmail reports whether to is meant as an address of email.
func isEmail(to string) bool { return strings.ContainsAny(to, "@＠") }

// checkEmail returns an address with its domain in ASCII and small letters,
// and what whoever decides should know about it.
func checkEmail(address string) (string, []string, error) {
	checked, cautions, why := parseEmail(address)
	if why != "" {
		return "", nil, hearken.Errorf(hearken.InvalidRecipient, "%q is not one email address: %s.", address, why).
			WithTry("the address alone, such as name@example.org")
	}
	return checked, cautions, nil
}

// parseEmail is checkEmail that only says why not.
func parseEmail(address string) (checked string, cautions []string, why string) {
	local, domain, _ := strings.Cut(address, "@")
	switch {
	case len(address) > 254:
		return "", nil, "it is too long"
	case strings.ContainsAny(address, " ,;\t"):
		return "", nil, "a message goes to one recipient"
	case strings.ContainsAny(address, "<>()[]\"\\:/?"):
		return "", nil, "it holds more than the address"
	case strings.Contains(domain, "@") || domain == "":
		return "", nil, "it does not have a name, an @ and a domain"
	case len(local) > 64 || !localPart(local):
		return "", nil, "the part before @ is not valid"
	}
	ascii, err := asciiDomain(domain)
	switch {
	case err != nil:
		return "", nil, err.Error()
	case len(local)+1+len(ascii) > 254:
		return "", nil, "it is too long"
	}
	if scripts := scriptsOf(local); mixed(scripts) {
		cautions = append(cautions, fmt.Sprintf("The part before @ mixes letters of %s, as forged addresses do.", strings.Join(scripts, " and ")))
	} else if !isASCII(local) {
		cautions = append(cautions, "The part before @ has letters outside ASCII.")
	}
	return local + "@" + ascii, append(cautions, domainCautions(ascii)...), ""
}

// localPart reports whether s may stand in front of an @, quotes aside.
func localPart(s string) bool {
	if s == "" || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") || norm.NFKC.String(s) != s {
		return false
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)):
		case r >= utf8.RuneSelf && hidden(r) == "" && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)):
		default:
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
