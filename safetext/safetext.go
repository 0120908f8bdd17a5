// Package safetext makes text from outside fit to be shown. Spoken words,
// names in calendars and answers of servers may hold characters that nobody
// sees or that change how the text around them looks; a person who approves an
// action must see what is really there.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
)

// A Class says why a character is not simply visible.
type Class string

// What a character can be.
const (
	Visible   Class = ""
	LineBreak Class = "a line break"
	Direction Class = "a character that changes the direction of text"
	Invisible Class = "an invisible character"
	Control   Class = "a control character"
)

// ClassOf says what a character is. A tab is Control.
func ClassOf(r rune) Class {
	switch {
	case r == '\n', r == '\r', r == '\u2028', r == '\u2029', r == '\u0085', r == '\v', r == '\f':
		return LineBreak
	case unicode.Is(unicode.Bidi_Control, r):
		return Direction
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point),
		r == '\u2800': // Braille without a dot
		return Invisible
	case !unicode.IsGraphic(r):
		return Control
	}
	return Visible
}

// Marked replaces what is not visible by its number, such as <U+202E>. A plain
// \n, tabs, and the invisible parts of emoji stay.
func Marked(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return ClassOf(r) != Visible }) {
		return s
	}
	var b strings.Builder
	text := []rune("\x00" + s + "\x00") // so that every character has neighbours
	for i, r := range text[1 : len(text)-1] {
		if r == '\n' || r == '\t' || ClassOf(r) == Visible || isEmojiPart(text[i], r, text[i+2]) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// isEmojiPart reports whether r, between two characters, is the selector that
// makes a symbol or a keycap an emoji, or the joiner of two emoji.
func isEmojiPart(before, r, after rune) bool {
	const keycap, selector, joiner = '\u20e3', '\ufe0f', '\u200d'
	skinTone := '\U0001F3FB' <= before && before <= '\U0001F3FF'
	switch r {
	case selector:
		return unicode.Is(unicode.So, before) || after == keycap && strings.ContainsRune("0123456789#*", before)
	case joiner:
		return unicode.Is(unicode.So, after) && (unicode.Is(unicode.So, before) || before == selector || skinTone)
	}
	return false
}

// Clean removes control characters and those that change the direction of
// text, repairs invalid UTF-8, and makes every line break a \n. Characters that
// emoji and Indic scripts need, such as joiners, stay.
func Clean(s string) string {
	s = lineBreaks.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch ClassOf(r) {
		case LineBreak:
			if r != '\n' {
				return '\n'
			}
		case Control: // but not characters that are too new for Go's tables
			if r != '\t' && unicode.In(r, unicode.Cc, unicode.Cs, unicode.Noncharacter_Code_Point) {
				return -1
			}
		case Direction:
			return -1
		case Invisible:
			if r == '\uFEFF' {
				return -1
			}
		}
		return r
	}, s)
}

var lineBreaks = strings.NewReplacer("\r\n", "\n")

// Line is [Clean] text on one line, with single spaces.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// VisibleLine is [Line] without any invisible character, for text in which none
// has a purpose.
func VisibleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if ClassOf(r) != Visible {
			return -1
		}
		return r
	}, Line(s))
}

// Clip shortens s to at most n characters and marks that it did.
func Clip(s string, n int) string {
	if len(s) <= n { // n bytes are at most n characters
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
