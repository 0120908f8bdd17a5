package act

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearken-dev/hearken"
)

// TestEvidence_Sentences are what an owner reads about one or two arguments: the
// lines with the words, and the warnings.
func TestEvidence_Sentences(t *testing.T) {
	mic := func(arg string) hearken.Evidence {
		return hearken.Evidence{Arg: arg, Source: hearken.Microphone, Quote: "Tell Bob now.", At: "10:00", Coverage: 1}
	}
	far := func(arg string) hearken.Evidence {
		e := mic(arg)
		e.Source = hearken.System
		return e
	}
	echo, overlap, part, speaker, second := far("text"), mic("text"), mic("text"), mic("text"), 1
	echo.Echo, overlap.Overlap, part.Coverage, speaker.Speaker = true, true, 0.6, &second
	farPart, farOverlap := far("text"), far("text")
	farPart.Coverage, farOverlap.Overlap = 0.25, true
	nobody := func(arg string) hearken.Evidence { return hearken.Evidence{Arg: arg} }
	for _, tt := range []struct {
		name     string
		evidence []hearken.Evidence
		lines    []string
		warnings []string
	}{
		{"Microphone", []hearken.Evidence{mic("to"), mic("text")},
			[]string{`recipient, heard on your microphone: "Tell Bob now.", 10:00`, `text, heard on your microphone: "Tell Bob now.", 10:00`}, nil},
		{"Part", []hearken.Evidence{part}, []string{`text (60 % of the words), heard on your microphone: "Tell Bob now.", 10:00`}, nil},
		{"Speaker", []hearken.Evidence{speaker}, []string{`text, heard on your microphone (speaker 2): "Tell Bob now.", 10:00`}, nil},
		{"Overlap", []hearken.Evidence{mic("to"), overlap},
			[]string{`recipient, heard on your microphone: "Tell Bob now.", 10:00`, `text, heard on your microphone while the other side may have been speaking: "Tell Bob now.", 10:00`},
			[]string{"Your microphone heard the text. These may not be your words: the other side was speaking at the same time, or may have been."}},
		{"FarSide", []hearken.Evidence{far("to"), mic("text")},
			[]string{`recipient, said by the other side: "Tell Bob now.", 10:00`, `text, heard on your microphone: "Tell Bob now.", 10:00`},
			[]string{"The other side said the recipient."}},
		{"FarSidePart", []hearken.Evidence{far("to"), farPart},
			[]string{`recipient, said by the other side: "Tell Bob now.", 10:00`, `text (25 % of the words), said by the other side: "Tell Bob now.", 10:00`},
			[]string{"The other side said the recipient and a part of the text."}},
		{"FarSideOverlap", []hearken.Evidence{farOverlap}, []string{`text, said by the other side: "Tell Bob now.", 10:00`}, []string{"The other side said the text."}},
		{"Echo", []hearken.Evidence{echo}, []string{`text, heard on your microphone, may be an echo of the other side: "Tell Bob now.", 10:00`},
			[]string{"Your microphone heard the text, but it may be an echo of the other side."}},
		{"Nobody", []hearken.Evidence{nobody("title"), nobody("description"), nobody("location")}, nil,
			[]string{"Nobody was heard saying the title, the description or the location."}},
		{"All", []hearken.Evidence{far("title"), echo, nobody("location")},
			[]string{`title, said by the other side: "Tell Bob now.", 10:00`, `text, heard on your microphone, may be an echo of the other side: "Tell Bob now.", 10:00`},
			[]string{"The other side said the title.", "Your microphone heard the text, but it may be an echo of the other side.", "Nobody was heard saying the location."}},
		{"Deleted", []hearken.Evidence{{Arg: "to", Source: hearken.Microphone, Deleted: true}, {Arg: "text", Source: hearken.System, Deleted: true}},
			[]string{"recipient, heard on your microphone. The words were deleted.", "text, said by the other side. The words were deleted."}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			for line := range strings.Lines(Describe(&hearken.Action{Evidence: tt.evidence})) {
				if text, ok := strings.CutPrefix(line, "  evidence  "); ok {
					lines = append(lines, strings.TrimSuffix(text, "\n"))
				}
			}
			if !slices.Equal(lines, tt.lines) {
				t.Errorf("lines %q", lines)
			}
			if got := warnings(tt.evidence); !tt.evidence[0].Deleted && !slices.Equal(got, tt.warnings) {
				t.Errorf("warnings %q", got)
			}
		})
	}
}
