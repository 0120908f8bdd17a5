package hearken

import "testing"

func TestSegment_EventKind(t *testing.T) {
	for _, tt := range []struct {
		seg  Segment
		want EventKind
	}{
		{Segment{Origin: EventOrigin, Event: EventGap, Text: "[gap: 1.0 s of audio was lost]"}, EventGap},
		{Segment{Origin: EventOrigin, Event: EventDelay, Text: "[gap in the text, not in the kind]"}, EventDelay},
		{Segment{Origin: EventOrigin, Event: "another", Text: "[gap: of a later version]"}, "another"},
		{Segment{Origin: Microphone, Text: "[gap: 1.0 s of sound were lost]"}, ""},
		{Segment{Origin: System, Event: EventGap, Text: "somebody spoke"}, ""},

		// What was written before events had a kind.
		{Segment{Origin: EventOrigin, Text: "[gap: 1.4 s of sound were lost]"}, EventGap},
		{Segment{Origin: EventOrigin, Text: "[gap: 36.2 s of sound wait to be transcribed]"}, EventGap},
		{Segment{Origin: EventOrigin, Text: "[gap: 0.1 s of sound were never transcribed]"}, EventGap},
		{Segment{Origin: EventOrigin, Text: "[gap: the last 20.0 s of sound were not transcribed in time]"}, EventGap},
		{Segment{Origin: EventOrigin, Text: "[gap: 2.6 s were not heard: the hub was changed]"}, EventGap},
		{Segment{Origin: EventOrigin, Text: "[14.0 s of sound were transcribed later]"}, EventFilled},
		{Segment{Origin: EventOrigin, Text: "[deepgram failed: connection reset. 3.4 s of sound wait to be transcribed]"}, EventDelay},
		{Segment{Origin: EventOrigin, Text: "[deepgram failed: The key is wrong. Going on with local.]"}, EventFailover},
		{Segment{Origin: EventOrigin, Text: "[deepgram cannot serve this session: There is no key. Going on with local.]"}, EventFailover},
		{Segment{Origin: EventOrigin, Text: "[deepgram is well again. Going on with it.]"}, EventFailover},
		{Segment{Origin: EventOrigin, Text: "[the last 6s were forgotten on request]"}, EventForgotten},
		{Segment{Origin: EventOrigin, Text: "The microphone was changed."}, ""},
		{Segment{Origin: EventOrigin}, ""},
	} {
		if got := tt.seg.EventKind(); got != tt.want {
			t.Errorf("%+v is a %q, want %q", tt.seg, got, tt.want)
		}
	}
}
