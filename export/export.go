// Package export writes a session as one document: structured (json), to read
// (txt, md), as subtitles (srt, vtt) or for language models (toon).
//
//	err := export.Write(w, "srt", session, note, segments)
//
// Subtitles contain what was said, untranslated. The formats txt and md also
// contain translations, and events such as gaps, in brackets. None of them has
// stretches without speech, or what is not yet confirmed.
package export

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// Formats are the formats of [Write].
var Formats = []string{"json", "txt", "srt", "vtt", "md", "toon"}

// Segments are a session's entries in order, with their words if they have any.
// They may be iterated more than once. An error ends them.
type Segments = iter.Seq2[hearken.Segment, error]

// Batches makes [Segments] of a function that reads them in batches, such as the
// hub's.
func Batches(read func(yield func([]hearken.Segment) error) error) Segments {
	stop := errors.New("stop")
	return func(yield func(hearken.Segment, error) bool) {
		err := read(func(batch []hearken.Segment) error {
			for _, s := range batch {
				if !yield(s, nil) {
					return stop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(hearken.Segment{}, err)
		}
	}
}

// List makes [Segments] of a slice.
func List(segments []hearken.Segment) Segments {
	return Batches(func(yield func([]hearken.Segment) error) error { return yield(segments) })
}

// Write writes a session in one of [Formats]. The note may be nil. It writes as
// it reads, except for toon, which begins with the number of entries.
func Write(w io.Writer, format string, s *hearken.Session, note *hearken.Note, segments Segments) error {
	if !slices.Contains(Formats, format) {
		return hearken.Errorf(hearken.Invalid, "format %.40q is not one of %s.", format, strings.Join(Formats, ", "))
	}
	var both bool
	var err error
	if format != "json" && format != "toon" {
		if both, err = hasBothSides(s, segments); err != nil {
			return err
		}
	}
	b := bufio.NewWriterSize(w, 16<<10)
	switch format {
	case "json":
		err = writeJSON(b, s, note, segments)
	case "txt":
		err = writeText(b, both, segments)
	case "srt":
		err = writeCues(b, srtStyle, both, segments)
	case "vtt":
		err = writeCues(b, vttStyle, both, segments)
	case "md":
		err = writeMarkdown(b, s, note, both, segments)
	case "toon":
		err = writeTOON(b, s, note, segments)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// hasBothSides reports whether both sides speak in a session, so that their
// words need labels.
func hasBothSides(s *hearken.Session, segments Segments) (bool, error) {
	if s.Config.Channels == 1 {
		return false, nil
	}
	var microphone, system bool
	for seg, err := range segments {
		if err != nil {
			return false, err
		}
		if isFinalSpeech(&seg) {
			microphone = microphone || seg.Origin == hearken.Microphone
			system = system || seg.Origin == hearken.System
		}
		if microphone && system {
			return true, nil
		}
	}
	return false, nil
}

// isFinalSpeech reports whether an entry is speech that will not change.
func isFinalSpeech(s *hearken.Segment) bool {
	return s.Spoken() && s.Status != hearken.Unconfirmed
}
