package people

import (
	"regexp"
	"strings"

	"github.com/hearken-dev/hearken"
	"golang.org/x/text/unicode/norm"
)

var (
	phoneForm   = regexp.MustCompile(`^\+?[0-9 ().\-/]*$`)
	callingForm = regexp.MustCompile(`^\+?[1-9][0-9]{0,2}$`)
)

// trunkPrefixes are the digits in front of a number within a country, which are
// left out after its calling code; "0" for countries that are not listed.
var trunkPrefixes = map[string]string{
	"1": "1", "7": "8", "36": "06", "370": "8", "993": "8",
	// No prefix: what looks like one belongs to the number.
	"34": "", "39": "", "45": "", "47": "", "30": "", "351": "", "352": "", "354": "", "371": "", "372": "", "377": "", "378": "",
	"420": "", "48": "", "65": "", "852": "", "853": "", "52": "", "506": "", "507": "",
}

// premiumPrefixes begin numbers that cost more than a message. The list is not
// complete: the owner sees the number before deciding.
var premiumPrefixes = []string{
	"1900", "449", "4487", "4484", "49900", "49137", "49138", "4918", "3381", "3382", "3389", "34803", "34806", "34807", "34905", "34907",
	"3989", "39199", "31900", "31906", "31909", "3290", "4190", "43900", "43901", "43930", "43931", "43939", "81990", "81570", "6119",
	"42090", "4870", "46900", "46939", "46944", "4782", "4590", "358600", "358700", "35315", "351760", "351761", "351762", "30901", "30909",
	"3690", "421900", "7803", "7809", "55900", "52900", "27862",
	// International premium and shared-cost numbers, and satellite telephones.
	"979", "808", "870", "878", "881", "882", "883",
}

// isPhone reports whether to is meant as a phone number: only digits and what
// people write between them.
func isPhone(to string) bool {
	to = norm.NFKC.String(to)
	return phoneForm.MatchString(to) && strings.ContainsAny(to, "0123456789")
}

// e164 returns a phone number with + and its country's calling code. Numbers
// without + or 00 need callingCode, such as 49. Short, emergency and premium
// numbers are refused.
func e164(number, callingCode string) (string, error) {
	out, why := parsePhone(number, callingCode)
	if why != "" {
		return "", hearken.Errorf(hearken.InvalidRecipient, "The recipient is not a usable phone number: %s.", why).
			WithTry("a number with + and the country code")
	}
	return out, nil
}

// parsePhone is e164, but only says why not.
func parsePhone(number, callingCode string) (out, why string) {
	number = strings.TrimSpace(norm.NFKC.String(number))
	if !phoneForm.MatchString(number) {
		return "", "it contains more than digits"
	}
	// People write (0) after a calling code for callers within the country.
	if strings.HasPrefix(number, "+") || strings.HasPrefix(number, "00") {
		number = strings.Replace(number, "(0)", "", 1)
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	if len(digits) <= 6 {
		return "", "it is a short or emergency number"
	}
	switch {
	case strings.HasPrefix(number, "+"):
	case strings.HasPrefix(digits, "00"):
		digits = digits[2:]
	case callingCode == "":
		return "", "it has no country code, and COUNTRY_CODE is not set"
	case !callingForm.MatchString(callingCode):
		return "", "COUNTRY_CODE is not a calling code such as 49"
	default:
		digits = international(digits, strings.TrimPrefix(callingCode, "+"))
	}
	if len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return "", "it has too few or too many digits"
	}
	for _, p := range premiumPrefixes {
		if strings.HasPrefix(digits, p) {
			return "", "it is a premium-rate number"
		}
	}
	// In North America 976 is inside the number.
	if digits[0] == '1' && (len(digits) != 11 || digits[4:7] == "976") {
		return "", "it is not a North American number, or a premium-rate one"
	}
	return "+" + digits, ""
}

// international puts a calling code in front of a number of that country.
func international(digits, code string) string {
	prefix, listed := trunkPrefixes[code]
	if !listed {
		prefix = "0"
	}
	// Numbers may begin with these digits too. They are a prefix only if they
	// make the number longer.
	if prefix == "1" && len(digits) != 11 || prefix == "8" && code == "7" && len(digits) != 11 {
		prefix = ""
	}
	return code + strings.TrimPrefix(digits, prefix)
}
