package people

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/safetext"
	"golang.org/x/text/unicode/norm"
)

// checkRecipient refuses a recipient that cannot be shown as it is: the owner
// must see where the message goes.
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
		if class := safetext.ClassOf(r); class != safetext.Visible {
			return hearken.Errorf(hearken.InvalidRecipient, "The recipient contains %s (U+%04X).", class, r)
		}
	}
	return nil
}

// isEmail reports whether to is meant as an email address.
func isEmail(to string) bool { return strings.ContainsAny(to, "@＠") }

// checkEmail returns an address with its domain in ASCII and lower case, and
// warnings for the owner.
func checkEmail(address string) (string, []string, error) {
	checked, warnings, why := parseEmail(address)
	if why != "" {
		return "", nil, hearken.Errorf(hearken.InvalidRecipient, "%q is not one email address: %s.", address, why).
			WithTry("the address alone, such as name@example.org")
	}
	return checked, warnings, nil
}

// parseEmail is checkEmail, but only says why not.
func parseEmail(address string) (checked string, warnings []string, why string) {
	local, domain, _ := strings.Cut(address, "@")
	switch {
	case len(address) > 254:
		return "", nil, "it is too long"
	case strings.ContainsAny(address, " ,;\t"):
		return "", nil, "a message goes to one recipient"
	case strings.ContainsAny(address, "<>()[]\"\\:/?"):
		return "", nil, "it contains more than the address"
	case strings.Contains(domain, "@") || domain == "":
		return "", nil, "it is not a name, an @ and a domain"
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
	if scripts := scriptsOf(local); mixesScripts(scripts) {
		warnings = append(warnings, fmt.Sprintf("The part before @ mixes %s letters, as forged addresses do.", strings.Join(scripts, " and ")))
	} else if !isASCII(local) {
		warnings = append(warnings, "The part before @ has letters outside ASCII.")
	}
	return local + "@" + ascii, append(warnings, domainWarnings(ascii)...), ""
}

// localPart reports whether s may stand before an @, without quotes.
func localPart(s string) bool {
	if s == "" || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") || norm.NFKC.String(s) != s {
		return false
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)):
		case r >= utf8.RuneSelf && safetext.ClassOf(r) == safetext.Visible && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)):
		default:
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
