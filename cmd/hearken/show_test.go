package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

// Entries are shown in the order in which they were said, and silence only on
// request.
func TestShow(t *testing.T) {
	session := &hearken.Session{Config: hearken.SessionConfig{Channels: 2}}
	entries := func() []hearken.Segment { // as they were confirmed
		return []hearken.Segment{
			{Line: 1, Origin: hearken.System, Status: hearken.Confirmed, Text: "Espera.", StartTime: 2},
			{Line: 2, Origin: hearken.System, Status: hearken.Translated, Text: "Wait.", StartTime: 2},
			{Line: 3, Origin: hearken.Microphone, Status: hearken.Confirmed, Text: "We meet on Friday.", StartTime: 1},
			{Line: 4, Origin: hearken.System, Status: hearken.NoSpeech, StartTime: 4},
			{Line: 5, Origin: hearken.Microphone, Status: hearken.NoSpeech, Text: "[speech not understood]", StartTime: 5},
			{Line: 6, Origin: hearken.EventOrigin, Status: hearken.NoSpeech, Text: "gap", StartTime: 6},
		}
	}
	for _, tt := range []struct {
		cmd  showCmd
		want []string
	}{
		{showCmd{}, []string{"You   We meet on Friday.", "Them  Espera.", "Them  → Wait.", "You   [speech not understood]", "(gap)"}},
		{showCmd{Silence: true}, []string{"You   We meet on Friday.", "Them  Espera.", "Them  → Wait.", "Them  (no speech)", "You   [speech not understood]", "(gap)"}},
		{showCmd{JSON: true}, []string{`"line":1,`, `"line":2,`, `"line":3,`, `"line":4,`, `"line":5,`, `"line":6,`}},
	} {
		var out bytes.Buffer
		if err := tt.cmd.write(&program{stdout: &out}, session, entries()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if i < len(tt.want) && strings.Contains(line, tt.want[i]) {
				line = tt.want[i]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.cmd, diff)
		}
	}
}
