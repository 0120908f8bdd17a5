package openai

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearken-dev/hearken"
)

// isBroken reports whether a word is half a letter: whisper.cpp sends tokens, and
// a letter of some scripts has several.
func (t timedWord) isBroken() bool { return strings.ContainsRune(t.Word, utf8.RuneError) }

// alignWords gives the words of a text the times of the server's words, which come
// without punctuation, or in parts of words, or in another case. It returns nil
// if the two differ.
func alignWords(text string, times []timedWord) []hearken.Word {
	var letters []rune
	var owner []int // the index in times of each letter's word
	for i, t := range times {
		for _, r := range t.Word {
			if isSpoken(r) {
				letters = append(letters, unicode.ToLower(r))
				owner = append(owner, i)
			}
		}
	}
	var words []hearken.Word
	at := 0
	for field := range strings.FieldsSeq(text) {
		begin := at
		for _, r := range field {
			if !isSpoken(r) {
				continue
			}
			if at == len(letters) || letters[at] != unicode.ToLower(r) {
				return nil
			}
			at++
		}
		if begin == at { // a dash, say
			if n := len(words); n > 0 {
				words[n-1].Word += " " + field
			}
			continue
		}
		words = append(words, splitUnspaced(field, times, owner[begin:at])...)
	}
	if at < len(letters) {
		return nil
	}
	return words
}

// isSpoken reports whether a rune of a text is pronounced.
func isSpoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// splitUnspaced makes a word of a field, or several if the script has no spaces: then
// the server knows where words begin. Owner is the index in times of each
// letter's word.
func splitUnspaced(field string, times []timedWord, owner []int) []hearken.Word {
	word := func(text string, first, last int) hearken.Word {
		w := hearken.Word{Word: text, StartTime: float64(times[first].Start), EndTime: float64(times[last].End)}
		if p := times[first].Probability; p != nil && first == last {
			w.Confidence = asProbability(float64(*p))
		}
		return w
	}
	if owner[0] == owner[len(owner)-1] || !strings.ContainsFunc(field, func(r rune) bool { return unicode.In(r, unspaced...) }) {
		return []hearken.Word{word(field, owner[0], owner[len(owner)-1])}
	}
	var words []hearken.Word
	begin, letter := 0, 0
	for i, r := range field {
		if !isSpoken(r) {
			continue
		}
		if letter > 0 && owner[letter] != owner[letter-1] {
			words = append(words, word(field[begin:i], owner[letter-1], owner[letter-1]))
			begin = i
		}
		letter++
	}
	last := owner[len(owner)-1]
	return append(words, word(field[begin:], last, last))
}

// wordsAsGiven takes the server's words if they are not those of its text. If words
// begin with a space, a piece that does not belongs to the one before.
func wordsAsGiven(times []timedWord) []hearken.Word {
	var words []hearken.Word
	spaced := strings.HasPrefix(times[0].Word, " ")
	for _, t := range times {
		text := strings.TrimSpace(t.Word)
		if text == "" {
			continue
		}
		if n := len(words); n > 0 && spaced && !strings.HasPrefix(t.Word, " ") {
			words[n-1].Word += text
			words[n-1].EndTime, words[n-1].Confidence = float64(t.End), nil
			continue
		}
		w := hearken.Word{Word: text, StartTime: float64(t.Start), EndTime: float64(t.End)}
		if t.Probability != nil {
			w.Confidence = asProbability(float64(*t.Probability))
		}
		words = append(words, w)
	}
	return words
}

// asProbability is p if it can be a probability.
func asProbability(p float64) *float64 {
	if p >= 0 && p <= 1 {
		return &p
	}
	return nil
}

// fitIntoTime moves words onto the session's clock and into the time from lo to hi. It
// returns false if they have hardly any duration.
func fitIntoTime(words []hearken.Word, origin, lo, hi float64) bool {
	const tooShort = 0.01
	if len(words) == 0 {
		return false
	}
	last, end := lo, lo
	for i := range words {
		w := &words[i]
		w.StartTime = min(max(w.StartTime+origin, last), hi)
		w.EndTime = min(max(w.EndTime+origin, w.StartTime), hi)
		last, end = w.StartTime, max(end, w.EndTime)
	}
	return end-words[0].StartTime >= tooShort
}
