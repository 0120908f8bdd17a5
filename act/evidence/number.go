package evidence

import (
	"strconv"
	"strings"
)

// numberWords are the words for numbers below a hundred that mean nothing else
// in the languages around them. "oh" is one only beside another number.
var numberWords = func() map[string]int {
	m := map[string]int{}
	list := func(from, step int, words string) {
		for i, w := range strings.Fields(words) {
			m[strip(w)] = from + i*step
		}
	}
	list(0, 1, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	list(20, 10, "twenty thirty forty fifty sixty seventy eighty ninety")
	list(0, 1, "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
	list(20, 10, "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
	m["zwo"] = 2
	for tens := range 8 {
		ten := strings.Fields("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")[tens]
		for unit, w := range strings.Fields("ein zwei drei vier fünf sechs sieben acht neun") {
			m[strip(w+"und"+ten)] = 20 + 10*tens + unit + 1
		}
	}
	list(0, 1, "cero uno dos tres cuatro cinco seis siete ocho nueve diez")
	list(12, 1, "doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve")
	list(30, 10, "treinta cuarenta cincuenta sesenta setenta ochenta noventa")
	list(3, 1, "três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove vinte")
	list(30, 10, "trinta quarenta cinquenta sessenta setenta oitenta noventa")
	m["dois"], m["duas"], m["meia"], m["quatorze"] = 2, 2, 6, 14
	list(2, 1, "deux trois quatre cinq six sept huit neuf dix")
	list(2, 1, "due tre quattro cinque")
	list(7, 1, "sette otto nove dieci")
	return m
}()

// numbers turns the words for numbers into digits, including two words for one
// number: "twenty five", "treinta y cinco", "double five".
func numbers(in []token) []token {
	value := func(i int) (int, bool) {
		if i < 0 || i >= len(in) {
			return 0, false
		}
		v, ok := numberWords[in[i].plain]
		return v, ok
	}
	numeric := func(i int) bool {
		_, ok := value(i)
		return ok || i >= 0 && i < len(in) && in[i].number()
	}
	out := in[:0:0]
	for i := 0; i < len(in); i++ {
		t := in[i]
		v, ok := value(i)
		switch {
		case ok && v >= 20 && v%10 == 0:
			next := i + 1
			if next < len(in) && (in[next].plain == "y" || in[next].plain == "e") {
				next++
			}
			if unit, ok := value(next); ok && unit > 0 && unit < 10 {
				v += unit
				i = next
				t.exact = strconv.Itoa(v) // two words were never one
			}
			t.plain = strconv.Itoa(v)
		case ok:
			t.plain = strconv.Itoa(v)
		case (t.plain == "oh" || t.plain == "o") && (numeric(i-1) || numeric(i+1)):
			t.plain = "0"
		case repeatWords[t.plain] > 0 && numeric(i+1):
			digit := in[i+1].plain
			if unit, ok := value(i + 1); ok {
				digit = strconv.Itoa(unit)
			}
			if len(digit) == 1 {
				t.plain = strings.Repeat(digit, repeatWords[t.plain])
				t.exact = t.plain
				i++
			}
		}
		if t.number() {
			t.loose = t.plain
		}
		out = append(out, t)
	}
	return out
}

var repeatWords = map[string]int{"double": 2, "doppel": 2, "doble": 2, "triple": 3}

const kanjiDigits = "〇一二三四五六七八九"

// kanjiNumber reads the number at the beginning of run and returns how many
// characters it has. With a ten in it, it is a number below a hundred; without,
// its digits one after the other.
func kanjiNumber(run []rune) (string, int) {
	digit := func(r rune) int {
		switch r {
		case '零':
			return 0
		case '十':
			return 10
		}
		for i, k := range []rune(kanjiDigits) {
			if k == r {
				return i
			}
		}
		return -1
	}
	n := 0
	for n < len(run) && digit(run[n]) >= 0 {
		n++
	}
	text := run[:n]
	at := strings.IndexRune(string(text), '十')
	if at < 0 {
		var b strings.Builder
		for _, r := range text {
			b.WriteByte(byte('0' + digit(r)))
		}
		return b.String(), n
	}
	tens, units, i := 1, 0, 0
	if text[0] != '十' {
		tens, i = digit(text[0]), 1
	}
	if i < n && text[i] == '十' {
		i++
		if i < n && text[i] != '十' {
			units = digit(text[i])
			i++
		}
		return strconv.Itoa(tens*10 + units), i
	}
	return strconv.Itoa(tens), 1
}
