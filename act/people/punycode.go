package people

import (
	"math"
	"strings"
	"unicode/utf8"
)

// The parameters of punycode, by RFC 3492.
const (
	punyBase    = 36
	punyTMin    = 1
	punyTMax    = 26
	punySkew    = 38
	punyDamp    = 700
	punyBias    = 72
	punyFirst   = 128
	punyLetters = "abcdefghijklmnopqrstuvwxyz0123456789"
	// punyMost is longer than any label that is valid.
	punyMost = 256
)

// punyEncode writes a label without its xn--. It is a small piece of IDNA that
// spares a large table: all that is encoded here is checked beforehand.
func punyEncode(label string) string {
	in := []rune(label)
	if len(in) > punyMost {
		in = in[:punyMost] // too long for a label in any case
	}
	var out strings.Builder
	for _, r := range in {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
		}
	}
	basic := out.Len()
	done := basic
	if basic > 0 {
		out.WriteByte('-')
	}
	n, delta, bias := rune(punyFirst), 0, punyBias
	for done < len(in) {
		next := rune(math.MaxInt32)
		for _, r := range in {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range in {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				t := min(max(k-bias, punyTMin), punyTMax)
				if q < t {
					break
				}
				out.WriteByte(punyLetters[t+(q-t)%(punyBase-t)])
				q = (q - t) / (punyBase - t)
			}
			out.WriteByte(punyLetters[q])
			bias = punyAdapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return out.String()
}

// punyDecode reads a label without its xn--.
func punyDecode(encoded string) (string, bool) {
	var out []rune
	rest := encoded
	if i := strings.LastIndexByte(encoded, '-'); i >= 0 {
		out, rest = []rune(encoded[:i]), encoded[i+1:]
	}
	if len(encoded) > punyMost || !isASCII(encoded) {
		return "", false
	}
	n, i, bias := punyFirst, 0, punyBias
	for rest != "" {
		from, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if rest == "" {
				return "", false
			}
			digit := strings.IndexByte(punyLetters, rest[0])
			rest = rest[1:]
			if digit < 0 || digit > (math.MaxInt32-i)/weight {
				return "", false
			}
			i += digit * weight
			t := min(max(k-bias, punyTMin), punyTMax)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return "", false
			}
			weight *= punyBase - t
		}
		bias = punyAdapt(i-from, len(out)+1, from == 0)
		n += i / (len(out) + 1)
		i %= len(out) + 1
		if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		out = append(out[:i], append([]rune{rune(n)}, out[i:]...)...)
		i++
	}
	return string(out), true
}

func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}
