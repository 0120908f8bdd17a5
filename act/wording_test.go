package act

import (
	"strings"
	"testing"
	"time"
)

func TestWording_Like(t *testing.T) {
	long := strings.Repeat("We should meet again next week and talk about the offer that you made. ", 30)
	for _, tt := range []struct {
		name, a, b string
		like       bool
	}{
		{"Equal", "See you at 3.", "See you at 3.", true},
		{"CaseAndPunctuation", "see you at 3", "See you, at 3!!", true},
		{"Spaces", "See you\n\tat  3", "See you at 3", true},
		{"Width", "ｓｅｅ ｙｏｕ ａｔ ３", "See you at 3", true},
		{"Invisible", "See y\u200bou at 3", "See you at 3", true},
		{"Apostrophe", "I can\u2019t come tomorrow", "I can't come tomorrow", true},
		{"Composed", "Cafe\u0301 at noon?", "Caf\u00e9 at noon?", true},
		{"OtherHour", "See you at 3", "See you at 4", true},
		{"OtherDay", "See you Friday", "See you Monday", true},
		{"OtherNumber", "I'm running 10 minutes late", "I'm running 20 minutes late", true},
		{"TypoFixed", "Teh quarterly reprot is redy", "The quarterly report is ready", true},
		{"TypoInShort", "I am on my wya", "I am on my way", true},
		{"WordAdded", "See you at 3", "See you tomorrow at 3", true},
		{"WordInFront", "On my way", "I'm on my way", true},
		{"NotAdded", "I will sign the contract", "I will not sign the contract", true},
		{"Greeting", "Can you send me the report by Friday?", "Hi Rob, can you send me the report by Friday?", true},
		{"OtherOrder", "Tomorrow I can't come, sorry", "Sorry, I can't come tomorrow", true},
		{"JapaneseHour", "明日の三時に会いましょう", "明日の四時に会いましょう。", true},
		{"Long", long, strings.Replace(long, "offer", "contract", 20), true},
		{"Emoji", "👍", "👍", true},

		{"YesNo", "Yes", "No", false},
		{"OtherEmoji", "👍", "👎", false},
		{"EmojiAndText", "👍", "Yes", false},
		{"ShortWords", "Call me", "Call mum", false},
		{"Gone", "Done", "Gone", false},
		{"Verb", "食べた", "食べる", false},
		{"OtherNews", "The meeting is at 3", "The meeting is cancelled", false},
		{"OtherThings", "Can you send me the report by Friday?", "Can you send me the keys by Monday?", false},
		{"Longer", "Thanks!", "Thanks, see you tomorrow at the office", false},
		{"Part", "See you at 3", "See you at 3, and please bring the signed contract and the keys", false},
		{"OtherLong", long, strings.Repeat("The kids are at home today, so I work from here until the evening. ", 30), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := readWording(tt.a), readWording(tt.b)
			if got := a.like(b); got != tt.like || b.like(a) != got {
				t.Errorf("%q is like %q: %t, the other way %t", tt.a, tt.b, got, b.like(a))
			}
		})
	}
}

func TestDayText(t *testing.T) {
	now := time.Date(2026, 3, 30, 0, 30, 0, 0, time.UTC) // a Monday
	for at, want := range map[time.Time]string{
		now.Add(-10 * time.Minute):   "today at 00:20",
		now.Add(-31 * time.Minute):   "yesterday at 23:59",
		now.Add(-48 * time.Hour):     "on Saturday at 00:30",
		now.Add(-6 * 24 * time.Hour): "on Tuesday at 00:30",
		now.Add(-7 * 24 * time.Hour): "on 23 March at 00:30",
		now.Add(time.Minute):         "today at 00:31",
	} {
		if got := dayText(at, now); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
