package deepgram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
	"github.com/hearken-dev/hearken/stt/deepgram"
)

// Where no pause is to end a segment, the end of an utterance does not either.
func TestStream_NoPause(t *testing.T) {
	script := phrase(0.5, 0, "anyway we go on")
	f := newFake(t, script)
	f.at = 2.2
	f.fault = func(v *fakeConn) bool {
		v.say(map[string]any{"type": "UtteranceEnd", "channel": []int{0, 1}, "last_word_end": 1.45})
		return true
	}
	cfg := english
	cfg.Endpointing = -1
	events := transcribe(t, f.serve(t, deepgram.Config{}), cfg, audioOf(script, 2.8))
	if diff := cmp.Diff("0.50 1.45 C0 Anyway we go on | 2.80\n", finals(events)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"CloseStream"}, f.conn(t, 0).texts); diff != "" {
		t.Error(diff)
	}
}

// A final tells whether somebody paused, or only spoke for long.
func TestStream_Endpoint(t *testing.T) {
	events := transcribe(t, newFake(t, meeting).serve(t, deepgram.Config{}), english, meetingAudio)
	var pauses []string
	for _, e := range events {
		if e.Kind == hearken.Final {
			pauses = append(pauses, fmt.Sprintf("%s %t", e.Segment.Words[len(e.Segment.Words)-1].Word, e.Endpoint))
		}
	}
	if diff := cmp.Diff([]string{"new false", "may true", "will true", "very false", "Much true"}, pauses); diff != "" {
		t.Error(diff)
	}
}

// What was said so far is told when somebody asks for it, down to the last
// sample, and the stream goes on.
func TestStream_Finalize(t *testing.T) {
	const some = 24000 + 50 // the last of it too short for a message
	for name, shape := range map[string]func(map[string]any){
		"Plain": nil,
		"Short": func(m map[string]any) {
			if m["from_finalize"] == true {
				m["duration"] = m["duration"].(float64) - 0.2
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, meeting)
			f.shape = shape
			stream, err := f.serve(t, deepgram.Config{}).Open(t.Context(), english)
			if err != nil {
				t.Fatal(err)
			}
			finalize := stream.Finalize
			progress := func() (heard []string) {
				for e := range stream.Events() {
					switch {
					case e.Kind == hearken.Final && !e.Endpoint:
						heard = append(heard, e.Segment.Text)
					case e.Kind == hearken.Progress && (e.FinalUntil == some || e.FinalUntil == 0 && len(heard) == 0):
						return append(heard, fmt.Sprint(e.FinalUntil))
					}
				}
				return heard
			}
			check := func(want ...string) {
				t.Helper()
				if err := finalize(); err != nil {
					t.Fatal(err)
				}
				got := progress()
				for got[len(got)-1] == "0" && want[0] != "0" { // told before
					got = progress()
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
			check("0") // nothing was said, and nothing is asked
			if err := write(stream, 0, meetingAudio[:some]); err != nil {
				t.Fatal(err)
			}
			check("Could you send me", fmt.Sprint(some))
			check(fmt.Sprint(some)) // all is told already
			if err := write(stream, some, meetingAudio[some:16000*3]); err != nil {
				t.Fatal(err)
			}
			stream.Close()
			if rest := finals(<-collect(stream)); !strings.Contains(rest, "The plan for the new") {
				t.Errorf("the rest is %q", rest)
			}
			if diff := cmp.Diff([]string{"Finalize", "CloseStream"}, f.conn(t, 0).texts); diff != "" {
				t.Error(diff)
			}
			if finalize() == nil {
				t.Error("Finalize after Close succeeded")
			}
		})
	}
}
