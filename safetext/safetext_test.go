package safetext

import (
	"testing"
	"unicode/utf8"
)

func TestClassOf(t *testing.T) {
	for r, want := range map[rune]Class{
		'a': Visible, 'é': Visible, '日': Visible, ' ': Visible, '🙂': Visible, '\u00a0': Visible,
		'\n': LineBreak, '\r': LineBreak, '\u2028': LineBreak, '\u0085': LineBreak,
		'\u202e': Direction, '\u2066': Direction, '\u061c': Direction, '\u200e': Direction,
		'\u200b': Invisible, '\u200d': Invisible, '\u00ad': Invisible, '\ufeff': Invisible,
		'\u3164': Invisible, '\uffa0': Invisible, '\u115f': Invisible, '\u1160': Invisible, '\u034f': Invisible,
		'\u17b4': Invisible, '\u2800': Invisible, '\ufe0f': Invisible, '\U000e0041': Invisible,
		'\t': Control, 0: Control, 0x7f: Control, 0x9b: Control, '\ue000': Control,
	} {
		if got := ClassOf(r); got != want {
			t.Errorf("U+%04X is %q, want %q", r, got, want)
		}
	}
}

func TestMarked(t *testing.T) {
	for in, want := range map[string]string{
		"plain, with\na line\tand a tab": "plain, with\na line\tand a tab",
		"pay \u202etni\u202c":            "pay <U+202E>tni<U+202C>",
		"a\u3164b\u200bc":                "a<U+3164>b<U+200B>c",
		"a\rb":                           "a<U+000D>b",
		"❤\ufe0f a\ufe0f":                "❤\ufe0f a<U+FE0F>",
		"1\ufe0f\u20e3 #\ufe0f\u20e3":    "1\ufe0f\u20e3 #\ufe0f\u20e3",
		"1\ufe0f2 a\ufe0f\u20e3":         "1<U+FE0F>2 a<U+FE0F>\u20e3",
		"👩\u200d💻 👩🏽\u200d💻":             "👩\u200d💻 👩🏽\u200d💻",
		"❤\ufe0f\u200d🔥":                 "❤\ufe0f\u200d🔥",
		"pay\u200dpal":                   "pay<U+200D>pal",
		"👩\u200da\u200d👩\u200d":          "👩<U+200D>a<U+200D>👩<U+200D>",
		"\u200d👩":                        "<U+200D>👩",
		"\ufe0f":                         "<U+FE0F>",
	} {
		if got := Marked(in); got != want {
			t.Errorf("Marked(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"one\r\ntwo\rthree\u2028four": "one\ntwo\nthree\nfour",
		"\x1b[31mred":                 "[31mred",
		"\u202eabc\ufeff":             "abc",
		"\xff":                        "\uFFFD",
		"👩\u200d💻":                    "👩\u200d💻",
		"\U0001fb00\U0003fffd":        "\U0001fb00\U0003fffd",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Line(" a \n\t b\x00c "); got != "a bc" {
		t.Errorf("Line: %q", got)
	}
}

func TestVisibleLine(t *testing.T) {
	if got, want := VisibleLine("a\u200bb\U000e0041 \u2800c\u00ad\n\u202ed"), "ab c d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"日本語", 3, "日本語"}, {"日本語", 2, "日本..."}, {"", 0, ""}} {
		if got := Clip(tt.in, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\r\n\u202eb\xff")
	f.Fuzz(func(t *testing.T, s string) {
		clean := Clean(s)
		if !utf8.ValidString(clean) || Clean(clean) != clean {
			t.Errorf("%q became %q", s, clean)
		}
		for _, r := range clean {
			if c := ClassOf(r); c == Direction || c == Control && r < 0xa0 && r != '\t' || c == LineBreak && r != '\n' {
				t.Errorf("%q still holds U+%04X", clean, r)
			}
		}
	})
}
