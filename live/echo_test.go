package live

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

func segmentOn(o hearken.Origin, start, end float64, text string) hearken.Segment {
	return hearken.Segment{Origin: o, Status: hearken.Confirmed, Text: text, StartTime: start, EndTime: end}
}

func TestIsEcho(t *testing.T) {
	const said = "The contract for the Rotterdam warehouse ends in March, as far as I know."
	far := []hearken.Segment{
		segmentOn(hearken.System, 4, 6, "Good morning everybody."),
		segmentOn(hearken.System, 10, 15, said),
	}
	interim := far[1]
	interim.Status = hearken.Unconfirmed
	translated := far[1]
	translated.Status = hearken.Translated
	for _, tt := range []struct {
		name       string
		start, end float64
		text       string
		far        []hearken.Segment
		want       bool
	}{
		{"TheSame", 10.1, 15.1, said, far, true},
		{"Unconfirmed", 10.1, 15.1, said, []hearken.Segment{interim}, true},
		{"Misheard", 10.1, 15.1, "The contract for the Roterdam ware house ends in March as far as I know", far, true},
		{"BadlyMisheard", 20.1, 23, "And the twig fell down in a fainting pit.", []hearken.Segment{segmentOn(hearken.System, 20, 22.8, "and the twain fell down in a faint infeit.")}, true},
		{"APart", 12.4, 14.1, "ends in March as far", far, true},
		{"FirstWordsMissed", 10.9, 15.1, "for the Rotterdam warehouse ends in March, as far as I know.", far, true},
		{"Short", 4.1, 5.0, "Good morning", far, true},
		{"OverTwoEntries", 4.2, 15.2, "Good morning everybody. " + said, []hearken.Segment{segmentOn(hearken.System, 4, 6, "Good morning everybody."), segmentOn(hearken.System, 6.2, 15, said)}, true},
		{"Earlier", 9.8, 14.9, said, far, true}, // one engine places words earlier than the other

		{"ReadBack", 15.6, 18, "ends in March as far as I know", far, false},
		{"MuchLater", 40, 45, said, far, false},
		{"Before", 5.5, 7.9, said, far, false},
		{"SaidFirst", 6.5, 9, said, far, false}, // and repeated by the far side
		{"OwnWords", 10.1, 15.1, "We never signed anything for that warehouse, did we?", far, false},
		{"BothAtOnce", 10.1, 15.1, "The contract for the no wait a moment please that is not what we agreed", far, false},
		{"ShortAnswer", 14.0, 14.4, "Yes.", []hearken.Segment{segmentOn(hearken.System, 12, 14, "Do you agree, yes or no?")}, false},
		{"ShortButLate", 5.2, 5.9, "Good morning", far, false},
		{"Scattered", 10.1, 12, "The warehouse in I", far, false},
		{"OnlyATranslation", 10.1, 15.1, said, []hearken.Segment{translated}, false},
		{"Nobody", 10.1, 15.1, said, nil, false},
		{"NoWords", 10.1, 15.1, "...", far, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			near := segmentOn(hearken.Microphone, tt.start, tt.end, tt.text)
			if got := isEcho(&near, tt.far); got != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// Any text that is repeated a moment later is an echo, and any other text is
// not.
func TestIsEcho_Any(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{2,9}`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 4, 30).Draw(t, "words")
		start := rapid.Float64Range(0, 3600).Draw(t, "start")
		far := segmentOn(hearken.System, start, start+0.4*float64(len(words)), strings.Join(words, " "))
		delay := rapid.Float64Range(0, 0.3).Draw(t, "delay")
		near := segmentOn(hearken.Microphone, start+delay, far.EndTime+delay, far.Text)
		if !isEcho(&near, []hearken.Segment{far}) {
			t.Fatal("the same words are no echo")
		}
		near.Text = strings.ToUpper(strings.Join(rapid.SliceOfN(rapid.StringMatching(`[0-9]{2,9}`), 4, 30).Draw(t, "other"), ", "))
		if isEcho(&near, []hearken.Segment{far}) {
			t.Fatalf("%q echoes %q", near.Text, far.Text)
		}
	})
}

func TestEcho_WhatItIsJudgedAgainst(t *testing.T) {
	s := &session{interim: map[hearken.Origin]hearken.Segment{}}
	said := segmentOn(hearken.System, 10, 13, "the meeting is moved to Thursday")
	near := segmentOn(hearken.Microphone, 10.1, 13.1, said.Text)
	if s.echoLocked(&near) {
		t.Error("an echo of nothing")
	}
	said.Status = hearken.Unconfirmed
	s.interim[hearken.System] = said
	if !s.echoLocked(&near) {
		t.Error("not an echo of what the far side shows unconfirmed")
	}
	delete(s.interim, hearken.System)
	said.Status = hearken.Confirmed
	s.segments = append(s.segments, said)
	if !s.echoLocked(&near) {
		t.Error("not an echo of what the far side has confirmed")
	}
	if s.echoLocked(&said) {
		t.Error("the far side echoes itself")
	}
	near.Echo = true
	s.segments = append(s.segments, near)
	translation := near
	translation.Status, translation.Text, translation.Echo = hearken.Translated, "le rendez-vous est jeudi", false
	if !s.echoLocked(&translation) {
		t.Error("the translation of an echo is none")
	}
}
