package speech

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearken-dev/hearken"
)

func TestTape_Texts(t *testing.T) {
	clip := func(seconds float64) *Clip { return &Clip{Channels: [][]int16{make([]int16, Samples(seconds))}} }
	tape := Splice([]*Clip{clip(1), clip(3)}, 2) // from 2 to 3, and from 5 to 8
	got := tape.Texts([]hearken.Segment{
		{StartTime: 1.8, EndTime: 3.3, Text: "first"},
		{StartTime: 4.9, EndTime: 6, Text: "second"},
		{StartTime: 6.5, EndTime: 8.4, Text: "third"},
		{StartTime: 8.5, EndTime: 9, Status: hearken.NoSpeech, Text: "noise"},
	})
	if d := cmp.Diff([]string{"first", "second third"}, got); d != "" {
		t.Error(d)
	}
}
