// Package export writes a session as one document: structured (json), to read
// (txt, md), as subtitles (srt, vtt) or for language models (toon).
//
//	err := export.Write(w, "srt", session, note, segments)
//
// Subtitles contain what was said, untranslated; cues overlap where people talk
// at the same time. The formats txt and md also contain translations, after an
// arrow, and events such as gaps, in brackets. All four are in the order in
// which things were said, which is not that of the entries: those are numbered
// when they are confirmed. None of them has stretches without speech, or what is
// not yet confirmed.
package export

import (
	"bufio"
	"cmp"
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
// An error ends them.
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

// Write writes a session in one of [Formats]. The note may be nil. JSON is
// written as it is read; the other formats need all entries first, to count or to
// sort them.
func Write(w io.Writer, format string, s *hearken.Session, note *hearken.Note, segments Segments) error {
	if !slices.Contains(Formats, format) {
		return hearken.Errorf(hearken.Invalid, "format %.40q is not one of %s.", format, strings.Join(Formats, ", "))
	}
	b := bufio.NewWriterSize(w, 16<<10)
	var err error
	switch format {
	case "json":
		err = writeJSON(b, s, note, segments)
	case "toon":
		err = writeTOON(b, s, note, segments)
	default:
		var spoken []hearken.Segment
		if spoken, err = inSpokenOrder(segments); err == nil {
			writeReadable(b, format, s, note, spoken)
		}
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// writeReadable writes a session in one of the formats for people.
func writeReadable(b *bufio.Writer, format string, s *hearken.Session, note *hearken.Note, spoken []hearken.Segment) {
	both := hasBothSides(s, spoken)
	switch format {
	case "txt":
		writeText(b, both, spoken)
	case "srt":
		writeCues(b, srtStyle, both, spoken)
	case "vtt":
		writeCues(b, vttStyle, both, spoken)
	case "md":
		writeMarkdown(b, s, note, both, spoken)
	}
}

// inSpokenOrder returns the entries that people read, in the order in which they
// were said. A long sentence of one side is confirmed after a short one that the
// other side began later, and words may be transcribed hours later.
func inSpokenOrder(segments Segments) ([]hearken.Segment, error) {
	var spoken []hearken.Segment
	for seg, err := range segments {
		if err != nil {
			return nil, err
		}
		if seg.Origin == hearken.EventOrigin || isFinalSpeech(&seg) {
			spoken = append(spoken, seg)
		}
	}
	SortSpoken(spoken)
	return spoken, nil
}

// SortSpoken sorts entries by the time at which they were said. Entries of the
// same time stay in their order, so a translation follows its original.
func SortSpoken(segments []hearken.Segment) {
	slices.SortStableFunc(segments, func(a, b hearken.Segment) int { return cmp.Compare(a.StartTime, b.StartTime) })
}

// hasBothSides reports whether both sides speak in a session, so that their
// words need labels.
func hasBothSides(s *hearken.Session, segments []hearken.Segment) bool {
	speaks := func(side hearken.Origin) bool {
		return slices.ContainsFunc(segments, func(seg hearken.Segment) bool { return seg.Origin == side && isFinalSpeech(&seg) })
	}
	return s.Config.Channels != 1 && speaks(hearken.Microphone) && speaks(hearken.System)
}

// isFinalSpeech reports whether an entry is speech that will not change.
func isFinalSpeech(s *hearken.Segment) bool {
	return s.Spoken() && s.Status != hearken.Unconfirmed
}
