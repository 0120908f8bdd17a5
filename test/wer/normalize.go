package wer

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// What Whisper's English normaliser removes or replaces.
var (
	aside    = regexp.MustCompile(`[<\[][^>\]]*[>\]]`)
	brackets = regexp.MustCompile(`\(([^)]+?)\)`)
	thousand = regexp.MustCompile(`(\d),(\d)`)
	ordinal  = regexp.MustCompile(`\b(\d+)(?:st|nd|rd|th)\b`)
	filler   = regexp.MustCompile(`\b(?:uh|um|hmm|mm|mhm|mmm|uhm|erm)\b`)
	signs    = strings.NewReplacer("’", "'", "‘", "'", "%", " percent ", "&", " and ")
	hyphened = strings.NewReplacer("to-day", "today", "to-morrow", "tomorrow", "to-night", "tonight")
)

// spellings maps spellings to the one that is compared.
var spellings = pairs(`won't=will not,can't=can not,let's=let us,ain't=aint,y'all=you all,wanna=want to,gotta=got to,
	gonna=going to,mr=mister,mrs=missus,st=saint,dr=doctor,prof=professor,capt=captain,gov=governor,ald=alderman,
	gen=general,sen=senator,rep=representative,pres=president,rev=reverend,hon=honorable,asst=assistant,
	assoc=associate,lt=lieutenant,col=colonel,jr=junior,sr=senior,esq=esquire,colour=color,honour=honor,favour=favor,
	neighbour=neighbor,labour=labor,grey=gray,theatre=theater,centre=center,odour=odor,travelling=traveling,
	travelled=traveled,colours=colors,neighbours=neighbors,honourable=honorable,favourite=favorite,ise=ize,
	recognise=recognize,realise=realize,endeavour=endeavor,endeavoured=endeavored,parlour=parlor,rumour=rumor,
	humour=humor,vapour=vapor,valour=valor,harbour=harbor,plough=plow,ploughed=plowed,waggon=wagon,okay=ok,
	metres=meters,metre=meter,catalogue=catalog,defence=defense,practise=practice`)

// contractions are short forms at the end of a word.
var contractions = []struct{ short, long string }{
	{"n't", " not"}, {"'re", " are"}, {"'ll", " will"}, {"'ve", " have"}, {"'m", " am"}, {"'d", " would"}, {"'s", "s"},
}

func pairs(list string) map[string]string {
	m := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		from, to, _ := strings.Cut(strings.TrimSpace(pair), "=")
		m[from] = to
	}
	return m
}

// Words splits a text into words as they are compared: as Whisper's English
// normaliser leaves them, without regard to spelling, punctuation, digits and
// fillers.
func Words(text string) []string {
	s := signs.Replace(strings.ToLower(text))
	s = brackets.ReplaceAllString(aside.ReplaceAllString(s, ""), "$1")
	s = thousand.ReplaceAllString(hyphened.Replace(s), "$1$2")
	s = ordinal.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.Atoi(m[:len(m)-2])
		if err != nil {
			return m
		}
		return strings.Join(spelt(n), " ")
	})
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r == '\'' {
			return r
		}
		return ' '
	}, filler.ReplaceAllString(s, " "))
	var out []string
	for w := range strings.FieldsSeq(s) {
		out = append(out, expand(strings.Trim(w, "'"))...)
	}
	return out
}

// expand is the words that one written word stands for.
func expand(w string) []string {
	if n, err := strconv.Atoi(w); err == nil && n < 1e6 {
		if n >= 1100 && n < 2000 { // a year
			hundreds := []string{"hundred"}
			if n%100 > 0 {
				hundreds = spelt(n % 100)
			}
			return append(spelt(n/100), hundreds...)
		}
		return spelt(n)
	}
	if to, ok := spellings[w]; ok {
		w = to
	}
	var out []string
	for x := range strings.FieldsSeq(w) {
		for _, e := range contractions {
			if rest, ok := strings.CutSuffix(x, e.short); ok {
				x = rest + e.long
			}
		}
		out = append(out, strings.Fields(strings.ReplaceAll(x, "'", ""))...)
	}
	return out
}

var (
	ones = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// spelt writes a number below a million in words.
func spelt(n int) []string {
	rest := func(words []string, n int) []string {
		if n == 0 {
			return words
		}
		return append(words, spelt(n)...)
	}
	switch {
	case n < 20:
		return []string{ones[n]}
	case n < 100:
		return rest([]string{tens[n/10]}, n%10)
	case n < 1000:
		return rest([]string{ones[n/100], "hundred"}, n%100)
	default:
		return rest(append(spelt(n/1000), "thousand"), n%1000)
	}
}
